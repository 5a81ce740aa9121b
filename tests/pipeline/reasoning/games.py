"""Random games and claims, and what a claim means, spelled out once more over plain tuples."""

from decimal import Decimal
from fractions import Fraction

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from pipeline.reasoning import claims as kinds
from pipeline.reasoning.game import Game

unhurried = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""Examples as usual, on a machine that may be busy with other things."""
amounts = st.decimals(-9, 9, places=1).map(lambda value: value + 0)
small = st.integers(-2, 4).map(Decimal)
"""So few that ties are frequent."""


CHOICES = [
    (("R", "B"), ("R", "B")),
    (("share", "keep"), ("share", "keep")),
    (("a", "b"), ("up", "down")),
]


def _game(names, paid):
    (first, second), (one, other) = names
    cells = [(paid[place], paid[place + 1]) for place in range(0, 8, 2)]
    return Game(
        payoffs={
            first: {one: cells[0], other: cells[1]},
            second: {one: cells[2], other: cells[3]},
        }
    )


def games():
    eight = st.lists(small, min_size=8, max_size=8) | st.lists(amounts, min_size=8, max_size=8)
    return st.builds(_game, st.sampled_from(CHOICES), eight)


@st.composite
def claims_about(draw, game):
    """Claims that are true about as often as not: amounts come from the matrix."""
    paid = [amount for row in game.payoffs.values() for cell in row.values() for amount in cell]
    amount = st.one_of(st.sampled_from(paid), small)
    own = st.sampled_from([*game.choices, *game.choices, *game.choices, "nothing"])
    others = st.sampled_from([*game.replies, *game.replies, *game.replies, "nothing"])
    more, most = st.sampled_from(["higher", "lower"]), st.sampled_from(["highest", "lowest"])
    whose = st.sampled_from(["you", "them"])
    fields = {
        kinds.PairPayoff: {"whose": whose, "amount": amount, "mine": own, "theirs": others},
        kinds.AmountComparison: {"relation": more, "first": amount, "second": amount},
        kinds.ChoiceExtreme: {"extreme": most, "amount": amount, "choice": own},
        kinds.PossibleExtreme: {"extreme": most, "amount": amount},
        kinds.GuaranteedComparison: {"relation": more, "choice": own, "than": own},
        kinds.GuaranteedBest: {"choice": own},
        kinds.MutualExtreme: {"extreme": most, "mine": own, "theirs": others},
    }
    kind = draw(st.sampled_from(kinds.CLAIM_KINDS))
    return kind(**{name: draw(values) for name, values in fields[kind].items()})


games_with_claims = games().flatmap(lambda game: st.tuples(st.just(game), claims_about(game)))


def is_true(claim, game):
    """Decide a claim by going through all cells, without anything of the solver's or the game's."""
    cells = {
        (mine, theirs): (Fraction(mine_gets), Fraction(other_gets))
        for mine, row in game.payoffs.items()
        for theirs, (mine_gets, other_gets) in row.items()
    }
    told = claim.model_dump()
    kind = told.pop("kind")
    own = {mine for mine, _ in cells}
    if kind == "pair_payoff":
        seat = 0 if claim.whose == "you" else 1
        return any(
            (mine, theirs) == (claim.mine, claim.theirs) and paid[seat] == Fraction(claim.amount)
            for (mine, theirs), paid in cells.items()
        )
    if kind == "amount_comparison":
        gap = Fraction(claim.first) - Fraction(claim.second)
        return gap > 0 if claim.relation == "higher" else gap < 0
    if kind == "choice_extreme":
        mine = [paid[0] for (choice, _), paid in cells.items() if choice == claim.choice]
        beats = [p for p in mine if _beyond(p, Fraction(claim.amount), claim.extreme)]
        return Fraction(claim.amount) in mine and not beats
    if kind == "possible_extreme":
        everything = [paid[0] for paid in cells.values()]
        beats = [p for p in everything if _beyond(p, Fraction(claim.amount), claim.extreme)]
        return Fraction(claim.amount) in everything and not beats
    if kind == "guaranteed_comparison":
        if not {claim.choice, claim.than} <= own:
            return False
        this, that = _worst(cells, claim.choice), _worst(cells, claim.than)
        return this > that if claim.relation == "higher" else this < that
    if kind == "guaranteed_best":
        return claim.choice in own and not any(
            _worst(cells, other) > _worst(cells, claim.choice) for other in own
        )
    pair = cells.get((claim.mine, claim.theirs))
    return pair is not None and not any(
        _beyond(sum(other), sum(pair), claim.extreme) for other in cells.values()
    )


def _worst(cells, choice):
    return min(paid[0] for (mine, _), paid in cells.items() if mine == choice)


def _beyond(first, second, extreme):
    return first > second if extreme == "highest" else first < second
