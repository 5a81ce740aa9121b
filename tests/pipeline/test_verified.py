"""The strategy ``verified``: drafts are checked by a program and revised while a claim fails."""

import sqlite3
from contextlib import closing

import pytest

from hipo.app.preparation.prepared import prepare
from pipeline.calls.asking import TurnTask
from pipeline.critics.verifier import ClaimVerification
from pipeline.expected_calls import ArmParts
from pipeline.reasoning.claims import GuaranteedBest, PairPayoff
from pipeline.recipes.recipe import Recipe
from pipeline.store.queries.verdict_counts import read_verdict_counts
from pipeline.store.traces import trace_from, trace_json
from pipeline.store.verifications import verified_labels
from pipeline.strategies.reflective import Reflective
from pipeline.strategies.registry import ANY_SCENARIO, STRATEGIES
from pipeline.strategies.verified import VerifiedRevision
from pipeline.verifiers.claim_format import QuotedClaim
from scenarios.dialogue import Dialogue, Turn
from scenarios.errors import UsageError
from tests.pipeline.test_strategies import CASE, PROMPTS, TASK, USED_CAR, ScriptedAsker, draft

MATRIX = {"R": {"R": [1, 1], "B": [5, 0]}, "B": {"R": [0, 5], "B": [3, 3]}}
GAME = USED_CAR.model_copy(update={"data": {"payoffs": {"matrix": MATRIX}}})
RIGHT = QuotedClaim(GuaranteedBest(choice="R"), "R is safe")
WRONG = QuotedClaim(PairPayoff(whose="you", amount=3, mine="R", theirs="R"), "three for me")


def verified(asker, scenario=GAME, **settings):
    parts = ArmParts(PROMPTS, asker, None, {scenario.id: scenario})
    return VerifiedRevision(PROMPTS, asker, ClaimVerification(parts), **settings)


async def said(*answers, **settings):
    asker = ScriptedAsker(*answers)
    return await verified(asker, **settings).utter(TASK), asker


@pytest.mark.anyio
async def test_a_draft_without_a_wrong_claim_is_said_as_it_is():
    spoken, asker = await said(draft("R is safe. {R}"), (RIGHT,))
    assert spoken.draft.text == "R is safe. {R}"
    assert [(ctx.role, ctx.purpose) for ctx in asker.contexts] == [
        ("responder", "responder"),
        ("verifier", "claims-0"),
    ]
    (attempt,) = spoken.trace.attempts
    assert attempt.verification.holds
    assert [critique.carried for critique in attempt.critiques] == [True]


@pytest.mark.anyio
async def test_a_wrong_claim_is_told_with_what_holds_instead_until_none_fails():
    spoken, asker = await said(
        draft("first"), (RIGHT, WRONG), draft("second"), (WRONG,), draft("third"), ()
    )
    assert spoken.draft.text == "third"
    assert spoken.trace.chosen == 2
    assert [a.verification.holds for a in spoken.trace.attempts] == [False, False, True]
    told = asker.prompt(2)
    assert "guaranteed_best: good: no choice brings you more in its worst case than R." in told
    assert "pair_payoff: to be changed: It does not hold that" in told
    assert "you get 1 there." in told


@pytest.mark.anyio
async def test_the_last_attempt_is_checked_and_said_whatever_it_claims():
    spoken, asker = await said(draft("a"), (WRONG,), draft("b"), (WRONG,), max_attempts=2)
    assert spoken.draft.text == "b"
    assert [a.verification.holds for a in spoken.trace.attempts] == [False, False]
    assert not asker.answers


@pytest.mark.anyio
async def test_the_verifier_is_a_critic_for_other_strategies_too():
    asker = ScriptedAsker(draft("a"), (WRONG,), draft("b"))
    critic = ClaimVerification(ArmParts(PROMPTS, asker, None, {GAME.id: GAME}))
    spoken = await Reflective(PROMPTS, asker, critic).utter(TASK)
    assert [critique.dimension for critique in spoken.trace.attempts[0].critiques] == [
        "pair_payoff"
    ]


@pytest.mark.anyio
async def test_a_scenario_that_nothing_can_be_checked_against_is_refused():
    with pytest.raises(UsageError, match="no data that a program can check"):
        await verified(ScriptedAsker(draft("a")), scenario=USED_CAR).utter(TASK)


@pytest.mark.anyio
async def test_claims_and_verdicts_are_stored_with_the_trace_and_as_labels():
    spoken, _ = await said(draft("a"), (RIGHT, WRONG), draft("b"), ())
    assert trace_from(trace_json(spoken.trace)) == spoken.trace
    turn = Turn(3, "responder", "b", "improvised", trace=spoken.trace)
    ((source, rows),) = verified_labels(Dialogue(CASE, "arm", (turn,))).items()
    assert (source.kind, source.who) == ("verifier", "payoffs")
    assert [(row.part, row.dimension, row.value) for row in rows] == [
        ("attempt 0", "correct", "0"),
        ("attempt 0", "err_type", ("payoff assignment",)),
        ("attempt 0 claim 0", "claim", "holds"),
        ("attempt 0 claim 1", "claim", "fails"),
        (None, "correct", "1"),
        ("attempt 1", "correct", "1"),
    ]
    assert rows[3].raw == WRONG.claim.predicate()
    assert rows[3].rationale.startswith('"three for me": It does not hold that')


def test_its_calls_are_expected_and_no_study_plays_it_unasked():
    strategy = STRATEGIES.get("verified")
    settings = strategy.settings()
    calls = {calls.kind: (calls.expected, calls.most) for calls in strategy.calls(settings)}
    assert calls == {"responder": (1, 1), "claims": (1.9375, 5), "revise": (0.9375, 4)}
    assert strategy.roles(settings) == ("initiator", "responder", "verifier")
    assert strategy.identity(settings) == {"max_attempts": 5}
    assert "verified" not in ANY_SCENARIO
    once = strategy.settings(max_attempts=1)
    assert [calls.kind for calls in strategy.calls(once)] == ["responder", "claims"]


def test_a_task_names_the_role_that_speaks():
    assert TurnTask(CASE, 3, TASK.view, (), ()).role == "responder"


def test_a_scenario_without_such_data_is_refused_before_anything_is_sent():
    for changes in (
        {"strategies": ["verified"]},
        {"strategies": ["reflective"], "reflective": {"critic": "verifier"}},
    ):
        recipe = {"models": {"default": "offline/rules"}, "scenarios": ["used_car"], "n": 1}
        with pytest.raises(UsageError, match="'used_car' has no data"):
            prepare(Recipe.model_validate({**recipe, **changes}))


def test_how_claims_are_asked_for_belongs_to_what_decides_a_run(tmp_path):
    (tmp_path / "claims_user.j2").write_text("Which claims? {{ text }}\n")

    def templates(strategy, directory=None):
        recipe = {"models": {"default": "offline/rules"}, "n": 1, "prompt_dir": directory}
        recipe |= {"scheme": "payoff_reasoning", "scenarios": ["weir_at_night"]}
        return prepare(Recipe.model_validate({**recipe, "strategies": [strategy]}))

    ours, theirs = templates("verified"), templates("verified", tmp_path)
    assert ours.config.templates != theirs.config.templates
    assert {"claims_system.j2", "claims_user.j2"} <= set(ours.prompts.names)
    direct = [templates("direct", folder).config.templates for folder in (None, tmp_path)]
    assert direct[0] == direct[1]


def test_a_dialogue_that_a_program_checked_counts_as_judged_by_nobody():
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("create table verification_tally (kind, name, n)")
        rows = [("judged", "verifier payoffs", 4), ("judged", "self a/b", 2), ("flagged", "", 1)]
        connection.executemany("insert into verification_tally values (?, ?, ?)", rows)
        counts = read_verdict_counts(connection)
        assert counts.judged == {"self a/b": 2}
        assert counts.flagged == 1
        connection.execute("delete from verification_tally where name = 'self a/b'")
        assert read_verdict_counts(connection).covers(4), "nobody has begun to verify"
