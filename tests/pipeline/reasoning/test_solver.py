from decimal import Decimal

import pytest
from hypothesis import event, given

from pipeline.reasoning.claims import CLAIM_KINDS, AmountComparison, MutualExtreme, PairPayoff
from pipeline.reasoning.game import Game, shipped_games
from pipeline.reasoning.solver import correction, holds
from tests.pipeline.reasoning.games import games, games_with_claims, is_true, unhurried


@unhurried
@given(games_with_claims)
def test_the_solver_says_what_going_through_all_cells_says(drawn):
    game, claim = drawn
    event(f"{claim.kind} {is_true(claim, game)}")
    assert holds(claim, game) is is_true(claim, game)


@unhurried
@given(games())
def test_the_other_ones_view_swaps_choices_and_payoffs_and_back(game):
    turned = game.seen_from("column")
    assert turned.seen_from("column") == game
    for mine, theirs in game.pairs():
        assert turned.own(theirs, mine) == game.others(mine, theirs)


def test_sums_of_payoffs_are_exact():
    third = Decimal("0.3")
    game = Game(
        payoffs={
            "R": {"R": (Decimal("0.1"), Decimal("0.2")), "B": (third, Decimal(0))},
            "B": {"R": (Decimal(0), third), "B": (Decimal(0), Decimal(0))},
        }
    )
    for mine, theirs in (("R", "R"), ("R", "B"), ("B", "R")):
        assert holds(MutualExtreme(extreme="highest", mine=mine, theirs=theirs), game)


def test_in_hawk_dove_sharing_and_giving_in_tie_for_the_highest_sum():
    game = shipped_games()["hd"]
    best = [pair for pair in game.pairs() if holds(_highest(*pair), game)]
    assert best == [("R", "B"), ("B", "R"), ("B", "B")]


def _highest(mine, theirs):
    return MutualExtreme(extreme="highest", mine=mine, theirs=theirs)


@unhurried
@given(games_with_claims)
def test_every_claim_and_every_correction_can_be_said_in_words(drawn):
    game, claim = drawn
    assert claim.words()
    assert claim.words() in correction(claim, game)


def test_a_correction_tells_the_right_number():
    game = shipped_games()["pd"]
    claim = PairPayoff(whose="you", amount=5, mine="R", theirs="R")
    assert correction(claim, game) == (
        "It does not hold that if you choose R and they choose R, you get 5: you get 1 there."
    )


def test_a_choice_that_the_game_does_not_have_is_named():
    claim = PairPayoff(whose="them", amount=5, mine="R", theirs="silence")
    said = correction(claim, shipped_games()["pd"])
    assert said.endswith("'silence' is no choice of theirs, which are R and B.")


def test_equal_amounts_are_neither_higher_nor_lower():
    game = shipped_games()["pd"]
    for relation in ("higher", "lower"):
        claim = AmountComparison(relation=relation, first=3, second=3)
        assert not holds(claim, game)
        assert correction(claim, game).endswith("both are 3.")


@pytest.mark.parametrize("kind", CLAIM_KINDS)
def test_every_kind_says_what_it_means(kind):
    assert kind.means
    assert kind.model_fields["kind"].default
