import json

from hypothesis import assume, given
from hypothesis import strategies as st

from pipeline.offline.dice import Dice
from pipeline.offline_reasoner.engine import answer, game_in, recalled
from pipeline.offline_reasoner.reasoner import (
    AVERAGE,
    Rates,
    Reasoner,
    in_words,
    wrong_claims,
)
from pipeline.offline_reasoner.sentences import claims_in, say
from pipeline.reasoning.game import shipped_games
from pipeline.reasoning.solver import correction, holds
from pipeline.verifiers.claim_format import claims_format
from pipeline.verifiers.payoffs import PayoffVerifier
from prompts.environment import Templates
from tests.pipeline.reasoning.games import games, games_with_claims, unhurried

dice = st.integers(0, 2**32).map(Dice)
SITUATION = (
    "Two shops stand on one square. In thousands a year: baker open, grocer open, 1 to the baker "
    "and 1 to the grocer; baker open, grocer wait, 5 to the baker and 0 to the grocer; baker wait, "
    "grocer open, 0 to the baker and 5 to the grocer; baker wait, grocer wait, 3 to the baker and 3 "
    "to the grocer."
)
SYSTEM = '# Answer format\n{\n  "plan": "<text>",\n  "utterance": "<text>"\n}'


@unhurried
@given(games_with_claims, dice)
def test_a_claim_that_is_said_is_read_as_the_same_claim(drawn, dice):
    _, claim = drawn
    text = f"Well then. {say(claim, dice)}. So much for that."
    assert [quoted.claim for quoted in claims_in(text)] == [claim]


@unhurried
@given(games(), dice)
def test_without_mistakes_everything_it_says_holds_in_any_game(game, dice):
    weighing = Reasoner(Rates(error=0)).weigh(game, dice)
    assert weighing.is_right(game)
    text = in_words(weighing, dice)
    assert [quoted.claim for quoted in claims_in(text)] == list(weighing.claims)
    assert recalled(text, game) == weighing


@unhurried
@given(games(), dice)
def test_it_errs_in_the_kinds_it_is_told_to_err_in_and_mends_what_it_is_told(game, dice):
    reasoner = Reasoner(Rates(errors={"pair_payoff": 1}, error=0, mended=1))
    weighing = reasoner.weigh(game, dice)
    wrong = [claim for claim in weighing.claims if not holds(claim, game)]
    assert {claim.kind for claim in wrong} <= {"pair_payoff"}
    assert reasoner.mend(weighing, [], game, dice).claims == weighing.claims
    assert reasoner.mend(weighing, wrong, game, dice).is_right(game)


@unhurried
@given(games(), dice)
def test_whoever_errs_about_the_safest_or_the_best_choice_takes_the_choice_that_was_named(
    game, dice
):
    kinds = ("guaranteed_best", "mutual_extreme", "amount_comparison")
    weighing = Reasoner(Rates(errors=dict.fromkeys(kinds, 1), error=0)).weigh(game, dice)
    last = weighing.claims[-1]
    if last.kind == "guaranteed_best":
        assert weighing.choice == last.choice
    elif last.kind == "mutual_extreme":
        best = next(c for c in weighing.claims if c.kind == last.kind and c.extreme == "highest")
        assert weighing.choice == best.mine
    elif last.kind == "amount_comparison":
        passed_over = next(c for c in weighing.claims if c.kind == "choice_extreme").choice
        assert (weighing.choice == passed_over) == (last.relation == "lower")


@unhurried
@given(games_with_claims)
def test_a_wrong_claim_is_of_the_same_kind_and_does_not_hold(drawn):
    game, claim = drawn
    assume(
        set(claim.named()[0]) <= set(game.choices) and set(claim.named()[1]) <= set(game.replies)
    )
    for wrong in wrong_claims(claim, game):
        assert wrong.kind == claim.kind
        assert not holds(wrong, game)


def test_what_no_claim_covers_is_wrong_and_nobody_lists_it():
    game = shipped_games()["pd"]
    dice = Dice(1)
    weighing = Reasoner(Rates(error=0, uncovered=1)).weigh(game, dice)
    assert not weighing.is_right(game)
    text = in_words(weighing, dice)
    assert AVERAGE in text
    assert all(holds(quoted.claim, game) for quoted in claims_in(text))


def test_a_game_is_read_from_the_situation_from_both_sides():
    for role in ("baker", "grocer"):
        game = game_in({"Situation": SITUATION, "You": f"Speaker: A\nRole: {role}"})
        assert game.own("open", "wait") == 5
        assert game.others("open", "wait") == 0
    assert game_in({"Situation": "Two people talk.", "You": "Role: baker"}) is None
    assert game_in({"Situation": SITUATION}) is None


def user(*more):
    part = "# This part\nWhat happens: Think aloud, and end with a choice in curly braces."
    return "\n\n".join(
        [f"# Situation\n{SITUATION}", "# You\nSpeaker: THE BAKER\nRole: baker", part, *more]
    )


def said(seed, *more):
    return json.loads(answer([("system", SYSTEM), ("user", user(*more))], seed))


def test_it_reasons_where_a_choice_is_asked_for_and_revises_what_was_criticised():
    game = game_in({"Situation": SITUATION, "You": "Role: baker"})
    drafts = [said(seed)["utterance"] for seed in range(40)]
    wrong = 0
    for draft in drafts:
        first = recalled(draft, game)
        told = [claim for claim in first.claims if not holds(claim, game)]
        wrong += bool(told)
        critique = "\n".join(f"{c.kind}: to be changed: {correction(c, game)}" for c in told)
        again = said(1, f"# The draft\nUtterance: {draft}", f"# Critique\n{critique}")
        second = recalled(again["utterance"], game)
        assert second.temper == first.temper
        kept = [claim for claim in first.claims if claim not in told]
        assert all(claim in second.claims for claim in kept)
    assert 5 < wrong < 40


def test_it_lists_the_claims_of_a_text_as_the_verifier_asks_for_them():
    game = shipped_games()["pd"]
    question = PayoffVerifier(game, {}).question(
        Templates(), "The most R can bring me is 5. The safe way for me is R. So {R}"
    )
    messages = [(message.role, message.content) for message in question.messages]
    read = claims_format().read(answer(messages, 3))
    assert [quoted.claim.kind for quoted in read] == ["choice_extreme", "guaranteed_best"]
    assert read[0].quote == "The most R can bring me is 5"
