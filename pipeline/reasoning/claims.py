"""What can be claimed about the payoffs of a game: one class for each kind of claim.

A class says when a claim of its kind holds, how it is written as a predicate of the logs, how it
is said in words, and what is true instead.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Annotated, ClassVar, Literal

from pydantic import Field, TypeAdapter

from pipeline.reasoning.game import Game, Payoff
from scenarios.strict import Strict

Player = Literal["you", "them"]
"""``you`` reasons, ``them`` is the other one."""
More = Literal["higher", "lower"]
Most = Literal["highest", "lowest"]
ChoiceName = Annotated[str, Field(max_length=80)]
"""A choice as it was named, which need not be one of the game's."""

_MORE = {"higher": "more", "lower": "less"}
_MOST = {"highest": "most", "lowest": "least"}


class AboutGame(Strict, ABC):
    """A claim about a game; the methods may be called where :meth:`names_choices_of` holds."""

    means: ClassVar[str]
    """What a claim of this kind says, for whoever has to find such claims in a text."""
    mistake: ClassVar[str]
    """The kind of mistake that a wrong one is: a label of the scheme ``payoff_reasoning``."""

    @abstractmethod
    def is_true_of(self, game: Game) -> bool:
        """Tell whether the claim holds in a game."""

    @abstractmethod
    def predicate(self) -> str:
        """Return the claim as a predicate of the logs."""

    @abstractmethod
    def words(self) -> str:
        """Return the claim as a clause said to the one who reasons."""

    @abstractmethod
    def truth(self, game: Game) -> str:
        """Return a clause with the numbers that decide the claim."""

    def named(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the choices it names as one's own, and as the other's."""
        return (), ()


class PairPayoff(AboutGame):
    """A pair of choices pays so much to one of the two."""

    means: ClassVar[str] = "what one pair of choices pays to one of the two"
    mistake: ClassVar[str] = "payoff assignment"
    kind: Literal["pair_payoff"] = "pair_payoff"
    whose: Player
    amount: Payoff
    mine: ChoiceName
    theirs: ChoiceName

    def is_true_of(self, game: Game) -> bool:
        """Compare with the cell of the pair."""
        return self.amount == self._paid(game)

    def predicate(self) -> str:
        """Return the predicate ``finally``."""
        pair = f"do(choice(you, '{self.mine}'), do(choice(them, '{self.theirs}'), s0))"
        return f"finally(goal({self.whose}, {plain(self.amount)}), {pair})."

    def words(self) -> str:
        """Say who gets what."""
        return (
            f"if you choose {self.mine} and they choose {self.theirs}, "
            f"{self._gets()} {plain(self.amount)}"
        )

    def truth(self, game: Game) -> str:
        """Say what is in the cell."""
        return f"{self._gets()} {plain(self._paid(game))} there"

    def named(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the pair."""
        return (self.mine,), (self.theirs,)

    def _paid(self, game: Game) -> Decimal:
        paid = game.own if self.whose == "you" else game.others
        return paid(self.mine, self.theirs)

    def _gets(self) -> str:
        return "you get" if self.whose == "you" else "they get"


class AmountComparison(AboutGame):
    """One amount is higher, or lower, than another."""

    means: ClassVar[str] = "one amount is higher, or lower, than another"
    mistake: ClassVar[str] = "payoff comparison"
    kind: Literal["amount_comparison"] = "amount_comparison"
    relation: More
    first: Payoff
    second: Payoff

    def is_true_of(self, game: Game) -> bool:
        """Compare the amounts; equal ones are neither higher nor lower."""
        return _compared(self.relation, self.first, self.second)

    def predicate(self) -> str:
        """Return the predicate ``higher`` or ``lower``."""
        return f"{self.relation}({plain(self.first)}, {plain(self.second)})."

    def words(self) -> str:
        """Say which is more."""
        return f"{plain(self.first)} is {_MORE[self.relation]} than {plain(self.second)}"

    def truth(self, game: Game) -> str:
        """Say how the two compare."""
        if self.first == self.second:
            return f"both are {plain(self.first)}"
        compared = "less" if self.first < self.second else "more"
        return f"{plain(self.first)} is {compared} than {plain(self.second)}"


class ChoiceExtreme(AboutGame):
    """An amount is the most, or the least, that one's own choice can bring."""

    means: ClassVar[str] = "the most, or the least, that one choice of one's own can bring"
    mistake: ClassVar[str] = "risk/gain"
    kind: Literal["choice_extreme"] = "choice_extreme"
    extreme: Most
    amount: Payoff
    choice: ChoiceName

    def is_true_of(self, game: Game) -> bool:
        """Compare with the end of the two outcomes of the choice."""
        return self.amount == _end(self.extreme)(game.outcomes(self.choice))

    def predicate(self) -> str:
        """Return the predicate for a choice."""
        name = f"{self.extreme}_individual_payoff_for_choice"
        return f"{name}({plain(self.amount)}, '{self.choice}')."

    def words(self) -> str:
        """Say what the choice can bring."""
        return f"the {_MOST[self.extreme]} that {self.choice} can bring you is {plain(self.amount)}"

    def truth(self, game: Game) -> str:
        """Say both ends."""
        low, high = sorted(game.outcomes(self.choice))
        return f"{self.choice} brings you {plain(low)} at the least and {plain(high)} at the most"

    def named(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the choice."""
        return (self.choice,), ()


class PossibleExtreme(AboutGame):
    """An amount is the most, or the least, that one can get at all."""

    means: ClassVar[str] = "the most, or the least, that one can get in the whole game"
    mistake: ClassVar[str] = "risk/gain"
    kind: Literal["possible_extreme"] = "possible_extreme"
    extreme: Most
    amount: Payoff

    def is_true_of(self, game: Game) -> bool:
        """Compare with the end of one's own payoffs."""
        return self.amount == _end(self.extreme)(game.own(*pair) for pair in game.pairs())

    def predicate(self) -> str:
        """Return the predicate for the whole game."""
        return f"{self.extreme}_possible_individual_payoff({plain(self.amount)})."

    def words(self) -> str:
        """Say what can be got."""
        return f"the {_MOST[self.extreme]} that you can get at all is {plain(self.amount)}"

    def truth(self, game: Game) -> str:
        """Say both ends."""
        own = [game.own(*pair) for pair in game.pairs()]
        return f"you can get between {plain(min(own))} and {plain(max(own))}"


class GuaranteedComparison(AboutGame):
    """In the worst case, one choice brings more, or less, than the other."""

    means: ClassVar[str] = "in its worst case, one choice brings more, or less, than another"
    mistake: ClassVar[str] = "risk/gain"
    kind: Literal["guaranteed_comparison"] = "guaranteed_comparison"
    relation: More
    choice: ChoiceName
    than: ChoiceName

    def is_true_of(self, game: Game) -> bool:
        """Compare what the two bring at least; equal ones are neither higher nor lower."""
        return _compared(self.relation, game.guaranteed(self.choice), game.guaranteed(self.than))

    def predicate(self) -> str:
        """Return the predicate of the comparison."""
        return f"{self.relation}_guaranteed_payoff('{self.choice}', '{self.than}')."

    def words(self) -> str:
        """Say which brings more."""
        return f"in the worst case {self.choice} brings you {_MORE[self.relation]} than {self.than}"

    def truth(self, game: Game) -> str:
        """Say what each brings at least."""
        return _worst_cases(game)

    def named(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return both choices."""
        return (self.choice, self.than), ()


class GuaranteedBest(AboutGame):
    """No choice brings more in its worst case than this one."""

    means: ClassVar[str] = "a choice whose worst case brings at least as much as any other's"
    mistake: ClassVar[str] = "risk/gain"
    kind: Literal["guaranteed_best"] = "guaranteed_best"
    choice: ChoiceName

    def is_true_of(self, game: Game) -> bool:
        """Compare with the best worst case."""
        return game.guaranteed(self.choice) == max(map(game.guaranteed, game.choices))

    def predicate(self) -> str:
        """Return the predicate of the best choice."""
        return f"highest_guaranteed_payoff_choice('{self.choice}')."

    def words(self) -> str:
        """Say that none is better."""
        return f"no choice brings you more in its worst case than {self.choice}"

    def truth(self, game: Game) -> str:
        """Say what each brings at least."""
        return _worst_cases(game)

    def named(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the choice."""
        return (self.choice,), ()


class MutualExtreme(AboutGame):
    """No pair of choices brings both together more, or less, than this one."""

    means: ClassVar[str] = "the pair of choices that pays both together the most, or the least"
    mistake: ClassVar[str] = "payoff comparison"
    kind: Literal["mutual_extreme"] = "mutual_extreme"
    extreme: Most
    mine: ChoiceName
    theirs: ChoiceName

    def is_true_of(self, game: Game) -> bool:
        """Compare the sum of the pair with the end of all sums."""
        end = _end(self.extreme)(game.mutual(*pair) for pair in game.pairs())
        return game.mutual(self.mine, self.theirs) == end

    def predicate(self) -> str:
        """Return the predicate of the pair."""
        return f"{self.extreme}_mutual_payoff('{self.mine}', '{self.theirs}')."

    def words(self) -> str:
        """Say what both get."""
        both = f"your {self.mine} with their {self.theirs}"
        return f"the two of you together get the {_MOST[self.extreme]} from {both}"

    def truth(self, game: Game) -> str:
        """Say the four sums."""
        sums = [
            f"{plain(game.mutual(mine, theirs))} from your {mine} with their {theirs}"
            for mine, theirs in game.pairs()
        ]
        return f"together you get {_listed(sums)}"

    def named(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the pair."""
        return (self.mine,), (self.theirs,)


CLAIM_KINDS = (
    PairPayoff,
    AmountComparison,
    ChoiceExtreme,
    PossibleExtreme,
    GuaranteedComparison,
    GuaranteedBest,
    MutualExtreme,
)
"""Every kind, in the order in which they are explained."""
PayoffClaim = Annotated[
    PairPayoff
    | AmountComparison
    | ChoiceExtreme
    | PossibleExtreme
    | GuaranteedComparison
    | GuaranteedBest
    | MutualExtreme,
    Field(discriminator="kind"),
]
PAYOFF_CLAIM: TypeAdapter[PayoffClaim] = TypeAdapter(PayoffClaim)
"""Reads one claim of any kind from plain data."""


def plain(amount: Decimal) -> str:
    """Return an amount as people write it: 3, not 3.0 nor 3E+0."""
    text = f"{amount:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _compared(relation: More, first: Decimal, second: Decimal) -> bool:
    return first > second if relation == "higher" else first < second


def _end(extreme: Most) -> Callable[[Iterable[Decimal]], Decimal]:
    return max if extreme == "highest" else min


def _worst_cases(game: Game) -> str:
    worst = [f"{plain(game.guaranteed(choice))} from {choice}" for choice in game.choices]
    return f"in the worst case you get {_listed(worst)}"


def _listed(items: Iterable[str]) -> str:
    *first, last = items
    return f"{', '.join(first)} and {last}"
