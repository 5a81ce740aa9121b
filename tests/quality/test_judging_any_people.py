"""Judges and gates on a dialogue of three, of whom two keep something back, and without a goal."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from prompts.environment import Templates
from prompts.judges import JudgePrompts
from quality.gates.protocol import GatedDialogue
from quality.gates.runner import build_gates, check_all
from quality.gates.settings import gate_settings
from quality.judges.blind_judge import BlindJudge
from quality.judges.protocol import seat
from quality.judges.verifying_judge import VerifyingJudge
from quality.verification.flags import judge_codes, judgement_flags
from tests.quality.scripted import Asker
from tests.sixth_scheme.material import held, mediation, pear_tree

ANSWERS = (
    {"move": "demand", "ground": "a loss"}, {"move": "refuse", "ground": "nothing"},
    {"move": "tell"}, {"move": "refuse", "ground": "a rule"}, {"move": "direct"},
    {"move": "offer"}, {"move": "offer"}, {"settled": "settled"},
)  # fmt: skip


class Scripted:
    """Gives one answer after the other, with what everybody is asked besides."""

    def __init__(self):
        self.left = list(ANSWERS)
        self.asked = []

    def __call__(self, messages, seed):
        self.asked.append(messages)
        own = {"yielding": "some", "warmth": 3, "ground": None, "move_carried": True}
        return json.dumps({**own, "ground_carried": True, **self.left.pop(0)})


@pytest.fixture
def seated():
    def make(kind, source="external"):
        prompts = JudgePrompts(Templates(), mediation())
        model = Scripted()
        identity = seat(source, "test/model", prompts, {})
        return kind(mediation(), prompts, Asker(model), identity), model

    return make


@pytest.mark.anyio
async def test_every_labelled_role_is_judged_on_what_concerns_it(seated):
    judge, model = seated(BlindJudge)
    judgements = await judge.judge(held(), pear_tree(), 0)
    found = {(j.turn, j.dimension): (j.value, j.carried) for j in judgements}
    assert len(model.asked) == 8
    assert found[1, "ground"] == ("a loss", True)
    assert found[4, "move"] == ("refuse", False)
    assert found[4, "ground"] == ("a rule", None)
    assert found[1, "yielding"] == ("some", None)
    assert found[None, "settled"] == ("settled", None)
    assert (3, "ground") not in found
    assert {d for turn, d in found if turn == 5} == {"move", "warmth"}
    assert {turn for turn, _ in found} == {1, 2, 3, 4, 5, 6, 7, None}
    flags = judgement_flags(mediation(), held(), judgements)
    assert {(flag.turn, flag.code) for flag in flags} == {(4, "external_move")}
    assert {flag.code for flag in flags} <= set(judge_codes(mediation()))


@pytest.mark.anyio
async def test_the_generator_reading_again_is_asked_for_what_speakers_declare(seated):
    judge, model = seated(BlindJudge, "self")
    judgements = await judge.judge(held(), pear_tree(), 0)
    assert {j.dimension for j in judgements} == {"move", "ground"}
    assert len(model.asked) == 7


@pytest.mark.anyio
async def test_declared_labels_are_verified_and_the_rest_is_labelled(seated):
    judge, _ = seated(VerifyingJudge)
    judgements = await judge.judge(held(), pear_tree(), 0)
    by_turn = {turn: {j.dimension for j in judgements if j.turn == turn} for turn in (1, 5, None)}
    assert by_turn == {
        1: {"move", "ground", "yielding", "warmth"}, 5: {"move", "warmth"}, None: {"settled"},
    }  # fmt: skip


def test_a_scheme_without_a_goal_has_no_code_for_one():
    assert not [code for code in judge_codes(mediation()) if "goal" in code]


def gated(dialogue):
    gates, _ = build_gates(gate_settings({}))
    return check_all(gates, GatedDialogue(dialogue, pear_tree(), mediation()))


def say(index, text):
    dialogue = held()
    turns = [replace(t, text=text) if t.index == index else t for t in dialogue.turns]
    return replace(dialogue, turns=tuple(turns))


def test_gates_that_need_a_goal_or_one_fact_let_a_dialogue_pass_that_has_neither():
    codes = {flag.code for flag in gated(held())}
    assert not codes & {"goal_stated", "goal_mismatch", "confession", "fact_leaked"}


@pytest.mark.parametrize(
    ("index", "text", "owner"),
    [
        (3, "A surveyor told you in June that the roots would reach the terrace.", "owner"),
        (5, "The surveyor said in June the roots would reach it within the year.", "owner"),
        (6, "You have given notice and move to Leipzig in January anyway.", "tenant"),
    ],
)
def test_whoever_tells_what_another_alone_knows_is_flagged(index, text, owner):
    (flag,) = [flag for flag in gated(say(index, text)) if flag.code == "fact_leaked"]
    assert flag.turn == index
    assert f"only the {owner} knows" in flag.reason


def test_what_its_owner_says_or_has_said_is_no_leak():
    told = "A surveyor told me in June that the roots would reach the terrace within the year."
    assert "fact_leaked" not in {flag.code for flag in gated(say(2, told))}
    after = say(2, told)
    turns = [
        replace(t, text="So the surveyor told you in June of the roots!") if t.index == 3 else t
        for t in after.turns
    ]
    assert "fact_leaked" not in {flag.code for flag in gated(replace(after, turns=tuple(turns)))}
