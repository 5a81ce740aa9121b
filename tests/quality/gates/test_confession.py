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


GERMAN = "Vor zwei Wintern ist der Wagen in eine Leitplanke gerutscht, Kotflügel und Scheinwerfer sind ersetzt."


@pytest.mark.parametrize(
    ("language", "fact", "told", "lie"),
    [
        (
            "de-AT",
            GERMAN,
            GERMAN,
            "Der Wagen ist nie in eine Leitplanke gerutscht, und kein Kotflügel ist je ersetzt worden.",
        ),
        (
            "zh",
            "有一天晚上车主在冰面上撞了护栏，换了翼子板和大灯，花了三百块。",
            "对不起，那天晚上我撞了护栏，翼子板和大灯都换了，一共300块。",
            "我没撞过护栏，翼子板和大灯都没换过，一块钱也没花。",
        ),
    ],
)
def test_a_denial_in_another_language_is_a_lie_and_no_confession(stage, language, fact, told, lie):
    def found(text):
        subject = stage.answer(text, scenario=stage.with_fact(fact), language=language)
        return [flag.code for flag in Confession().check(subject)]

    assert found(lie) == []
    assert found(told) == ["confession"]


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
