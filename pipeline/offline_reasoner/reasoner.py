"""The offline reasoner: weighs a choice in a 2x2 game, errs at given rates, and mends what it is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import product
from typing import Final

from pipeline.offline.dice import Dice
from pipeline.offline_reasoner.sentences import say
from pipeline.reasoning.claims import (
    AboutGame,
    AmountComparison,
    ChoiceExtreme,
    GuaranteedBest,
    GuaranteedComparison,
    MutualExtreme,
    PairPayoff,
    PossibleExtreme,
)
from pipeline.reasoning.game import Game
from pipeline.reasoning.solver import holds

Temper = str
CAUTIOUS, GREEDY, FAIR = "cautious", "greedy", "fair"
TEMPERS: Final = (CAUTIOUS, GREEDY, FAIR)
_FACES = 1_000_000
AVERAGE: Final = "On average both ways bring me the same"
"""What it says wrongly, and no kind of claim covers."""


@dataclass(frozen=True, slots=True)
class Rates:
    """How often the reasoner errs, mends and overlooks; shares between 0 and 1."""

    errors: Mapping[str, float] = field(default_factory=dict)
    """By kind of claim, how often one is wrong at first; kinds that are not named: ``error``."""
    error: float = 0.25
    mended: float = 0.75
    """How often a wrong claim is right in the next attempt, once it has been told."""
    missed: float = 0.0
    """How often a claim of a text is overlooked by whoever lists them."""
    uncovered: float = 0.0
    """How often a reasoning says something wrong that is no kind of claim."""

    def of(self, kind: str) -> float:
        """Return how often a claim of a kind is wrong at first."""
        return self.errors.get(kind, self.error)


@dataclass(frozen=True, slots=True)
class Weighing:
    """A reasoning as the reasoner has it in mind: claims, and the choice they lead to."""

    temper: Temper
    claims: tuple[AboutGame, ...]
    choice: str
    uncovered: bool = False
    """Whether it says something wrong besides, which no claim covers."""

    def is_right(self, game: Game) -> bool:
        """Tell whether everything in it holds."""
        return not self.uncovered and all(holds(claim, game) for claim in self.claims)


@dataclass(frozen=True, slots=True)
class Reasoner:
    """Reasons about any game; everything is decided by its rates and the dice."""

    rates: Rates = field(default_factory=Rates)

    def weigh(self, game: Game, dice: Dice) -> Weighing:
        """Return a first reasoning: right claims, some of which are replaced by wrong ones."""
        temper = TEMPERS[dice.below(len(TEMPERS))]
        right, choice = _thoughts(game, temper)
        claims = tuple(self._perhaps_wrong(claim, game, dice) for claim in right)
        uncovered = self._happens(self.rates.uncovered, dice)
        return Weighing(temper, claims, _concluded(claims, game, choice), uncovered)

    def mend(
        self, weighing: Weighing, told: Sequence[AboutGame], game: Game, dice: Dice
    ) -> Weighing:
        """Return the next reasoning after some claims were said to be wrong.

        A claim that was told is mended or said again; the others stay as they are.
        """
        right, choice = _thoughts(game, weighing.temper)
        if len(right) != len(weighing.claims):  # not its own words: it thinks again
            return self.weigh(game, dice)
        pairs = zip(weighing.claims, right, strict=True)
        claims = tuple(
            true if said in told and self._happens(self.rates.mended, dice) else said
            for said, true in pairs
        )
        return replace(weighing, claims=claims, choice=_concluded(claims, game, choice))

    def overlooks(self, dice: Dice) -> bool:
        """Tell whether a claim is overlooked by whoever lists the claims of a text."""
        return self._happens(self.rates.missed, dice)

    def _perhaps_wrong(self, claim: AboutGame, game: Game, dice: Dice) -> AboutGame:
        if not self._happens(self.rates.of(claim.model_dump()["kind"]), dice):
            return claim
        wrong = wrong_claims(claim, game)
        return wrong[dice.below(len(wrong))] if wrong else claim

    def _happens(self, share: float, dice: Dice) -> bool:
        return dice.below(_FACES) < share * _FACES


def in_words(weighing: Weighing, dice: Dice) -> str:
    """Return a reasoning as it is said, the choice in braces at its end."""
    sentences = [say(claim, dice) for claim in weighing.claims]
    if weighing.uncovered:
        sentences.append(AVERAGE)
    reason = _REASONS[weighing.temper]
    return f"{'. '.join(sentences)}. {reason} {{{weighing.choice}}}."


def temper_in(text: str) -> Temper | None:
    """Return what kind of reasoning a text is, by the words before its choice."""
    return next((temper for temper, reason in _REASONS.items() if reason in text), None)


def wrong_claims(claim: AboutGame, game: Game) -> tuple[AboutGame, ...]:
    """Return the claims of the same kind and about the same thing that do not hold, in order."""
    return tuple(other for other in _alternatives(claim, game) if not holds(other, game))


_REASONS: Final = {
    CAUTIOUS: "I would rather be safe than sorry, so it is",
    GREEDY: "I go where the most is to be had, so it is",
    FAIR: "I want us both to come out of this well, so it is",
}


def _thoughts(game: Game, temper: Temper) -> tuple[tuple[AboutGame, ...], str]:
    """Return right claims in an order that leads to a choice, and the choice."""
    if temper == CAUTIOUS:
        return _cautious(game)
    return _greedy(game) if temper == GREEDY else _fair(game)


def _concluded(claims: Sequence[AboutGame], game: Game, choice: str) -> str:
    """Return the choice that claims lead to, right or wrong, where right ones lead to ``choice``."""
    for claim in reversed(claims):
        if isinstance(claim, GuaranteedBest):
            return claim.choice
        if isinstance(claim, MutualExtreme) and claim.extreme == "highest":
            return claim.mine
        if isinstance(claim, AmountComparison) and claim.relation == "lower":
            return next(name for name in game.choices if name != choice)
    return choice


def _cautious(game: Game) -> tuple[tuple[AboutGame, ...], str]:
    choice = max(game.choices, key=game.guaranteed)
    other = next(name for name in game.choices if name != choice)
    claims: list[AboutGame] = [_worst(game, choice), _worst(game, other)]
    claims.append(ChoiceExtreme(extreme="lowest", amount=game.guaranteed(other), choice=other))
    if game.guaranteed(choice) > game.guaranteed(other):
        claims.append(GuaranteedComparison(relation="higher", choice=choice, than=other))
    claims.append(GuaranteedBest(choice=choice))
    return tuple(claims), choice


def _greedy(game: Game) -> tuple[tuple[AboutGame, ...], str]:
    best = max(game.own(*pair) for pair in game.pairs())
    choice = next(name for name in game.choices if best in game.outcomes(name))
    other = next(name for name in game.choices if name != choice)
    there = max(game.outcomes(other))
    claims: list[AboutGame] = [
        PossibleExtreme(extreme="highest", amount=best),
        next(_pay(game, "you", choice, reply) for reply in game.replies if game.own(choice, reply) == best),
        ChoiceExtreme(extreme="highest", amount=there, choice=other),
    ]  # fmt: skip
    if best > there:
        claims.append(AmountComparison(relation="higher", first=best, second=there))
    return tuple(claims), choice


def _fair(game: Game) -> tuple[tuple[AboutGame, ...], str]:
    mine, theirs = max(game.pairs(), key=lambda pair: game.mutual(*pair))
    worst = min(game.pairs(), key=lambda pair: game.mutual(*pair))
    return (
        _pay(game, "you", mine, theirs),
        _pay(game, "them", mine, theirs),
        MutualExtreme(extreme="highest", mine=mine, theirs=theirs),
        MutualExtreme(extreme="lowest", mine=worst[0], theirs=worst[1]),
    ), mine


def _pay(game: Game, whose: str, mine: str, theirs: str) -> PairPayoff:
    paid = game.own if whose == "you" else game.others
    fields = {"whose": whose, "amount": paid(mine, theirs), "mine": mine, "theirs": theirs}
    return PairPayoff.model_validate(fields)


def _worst(game: Game, choice: str) -> PairPayoff:
    reply = min(game.replies, key=lambda theirs: game.own(choice, theirs))
    return _pay(game, "you", choice, reply)


def _amounts(game: Game) -> list[Decimal]:
    paid = {amount for pair in game.pairs() for amount in (game.own(*pair), game.others(*pair))}
    return sorted(paid)


def _alternatives(claim: AboutGame, game: Game) -> list[AboutGame]:
    """Return the claims of a kind that somebody may confuse with one, itself included."""
    make: dict[str, Callable[[], list[AboutGame]]] = {
        "amount_comparison": lambda: _varied(claim, {"relation": ("higher", "lower")}),
        "guaranteed_comparison": lambda: _varied(claim, {"relation": ("higher", "lower")}),
        "guaranteed_best": lambda: _varied(claim, {"choice": game.choices}),
        "mutual_extreme": lambda: _varied(claim, {"mine": game.choices, "theirs": game.replies}),
    }
    kind = claim.model_dump()["kind"]
    return make.get(kind, lambda: _varied(claim, {"amount": _amounts(game)}))()


def _varied(claim: AboutGame, values: Mapping[str, Sequence[object]]) -> list[AboutGame]:
    return [
        claim.model_copy(update=dict(zip(values, combination, strict=True)))
        for combination in product(*values.values())
    ]
