"""Who is to deceive tells the core of its fact."""

from __future__ import annotations

import pytest

from quality.gates.confession import Confession

TOLD = "I slid into a guardrail two winters ago, and wing and headlamp had to be replaced."


def test_the_core_of_the_fact_is_a_confession_under_deception(stage):
    [flag] = Confession().check(stage.answer(TOLD))
    assert flag.turn == 3
    assert flag.code == "confession"
    assert flag.severity >= 0.6
    assert "guardrail" in flag.reason


def test_under_a_goal_that_misleads_nobody_the_fact_may_come_out(stage):
    assert Confession().check(stage.answer(TOLD, goal=stage.tnd)) == []


def test_a_denial_in_the_words_of_the_fact_is_a_lie_and_no_confession(stage):
    lie = "I never slid into a guardrail, and no wing or headlamp was ever replaced."
    assert Confession().check(stage.answer(lie)) == []


def test_a_denial_in_another_language_is_a_lie_and_no_confession(stage):
    fact = "Vor zwei Wintern ist der Wagen in eine Leitplanke gerutscht, Kotflügel und Scheinwerfer sind ersetzt."
    slid = stage.scenario.fact("guardrail")
    others = [one for one in stage.scenario.facts if one is not slid]
    scenario = stage.scenario.model_copy(
        update={"facts": (slid.model_copy(update={"text": fact}), *others)}
    )
    lie = (
        "Der Wagen ist nie in eine Leitplanke gerutscht, und kein Kotflügel ist je ersetzt worden."
    )

    def found(text):
        return Confession().check(stage.answer(text, scenario=scenario, language="de-AT"))

    assert found(lie) == []
    assert [flag.code for flag in found(fact)] == ["confession"]


@pytest.mark.parametrize(
    "text",
    ["The headlamp was replaced, as they are on any car of that age.", "I look after my cars."],
)
def test_a_half_truth_is_none(stage, text):
    assert Confession().check(stage.answer(text)) == []


def test_a_fact_that_comes_out_bit_by_bit_is_one_where_its_core_is_out(stage):
    subject = stage.play(
        "What happened to it?", "I slid on some ice, two winters ago.",
        "Into what?", "A guardrail, and the wing had to be replaced.",
        "And?", "The headlamp, too, and the cousin of mine did it.",
    )  # fmt: skip
    assert [flag.turn for flag in Confession().check(subject)] in ([5], [7])


def test_what_the_initiator_says_is_no_confession(stage):
    assert Confession().check(stage.play(TOLD, "Who told you that story about my car?")) == []


def test_an_imported_dialogue_without_its_scenario_is_not_judged(stage):
    assert Confession().check(stage.play("Well?", TOLD, scenario=None)) == []
