"""The initiator does not know what only the responder can know."""

from __future__ import annotations

from dataclasses import replace

import pytest

from quality.gates.fact_leaked import FactLeaked, LeakSettings
from quality.gates.protocol import GatedDialogue
from scenarios.wording import sentences
from tests.sixth_scheme.material import held, mediation, pear_tree, shared_secret


def test_the_fact_in_a_question_is_flagged_with_the_words_that_tell_it(stage):
    [flag] = FactLeaked().check(stage.play(f"I know this: {stage.fact}", "Who told you?"))
    assert flag.turn == 2
    assert flag.severity == pytest.approx(1.0)
    assert "guardrail" in flag.reason


def test_half_of_it_is_enough(stage):
    asked = "Did you slide into a guardrail on an icy slip road two winters ago?"
    assert [f.turn for f in FactLeaked().check(stage.play(asked, "No."))] == [2]


def test_half_of_it_is_enough_in_chinese_and_words_without_content_are_not(stage):
    scenario = stage.with_fact("有一天晚上车主在冰面上撞了护栏，换了翼子板和大灯，花了三百块。")

    def found(asked):
        subject = stage.play(asked, "没有。", scenario=scenario, language="zh")
        return [flag.turn for flag in FactLeaked().check(subject)]

    assert found("您那晚撞了护栏，翼子板和大灯是花300块换的，是吧？") == [2]
    assert found("有一天晚上您在那儿干什么了，有没有和别人在一起？") == []


def test_a_run_of_words_from_the_fact_is_enough_too(stage):
    asked = "And is it so that the wing and headlamp had to be replaced by somebody?"
    [flag] = FactLeaked(LeakSettings(leak_share=1.0)).check(stage.play(asked, "No."))
    assert flag.severity is not None
    assert flag.severity < 1


def test_what_the_responder_has_told_may_be_taken_up(stage):
    subject = stage.play("How so?", stage.fact, f"So this is it: {stage.fact}", "Yes.")
    assert FactLeaked().check(subject) == []


def test_once_leaked_it_is_not_held_against_the_next_turn(stage):
    subject = stage.play(f"So: {stage.fact}", "No.", f"Really? {stage.fact}", "No.")
    assert [flag.turn for flag in FactLeaked().check(subject)] == [2]


def test_what_both_know_and_what_one_suspects_is_no_leak(stage):
    subject = stage.play(
        "Before I pay a deposit: is the paint of the front left wing new because of an accident?",
        "It was painted.",
        "Was it hit by something, and who repaired it?",
        "A garage.",
    )
    assert FactLeaked().check(subject) == []


def test_the_responder_may_tell_its_fact(stage):
    assert FactLeaked().check(stage.answer(stage.fact)) == []


def test_no_library_opening_or_background_counts_as_a_leak(stage):
    said = sentences(stage.scenario.background)
    subject = stage.play(" ".join(said[:2]), "Yes.", " ".join(said[2:4]), "Yes.")
    assert FactLeaked().check(subject) == []


def test_without_scenario_or_fact_there_is_nothing_to_leak(stage):
    subject = stage.play(f"So: {stage.fact}", "No.")
    assert FactLeaked().check(replace(subject, scenario=None)) == []
    case = replace(subject.dialogue.case, fact="imported")
    other = replace(subject, dialogue=replace(subject.dialogue, case=case))
    assert FactLeaked().check(other) == []


@pytest.mark.parametrize(("scenario", "flagged"), [(pear_tree(), [5]), (shared_secret(), [])])
def test_whoever_knows_a_fact_with_another_may_tell_it(scenario, flagged):
    said = held()
    roots = next(fact.text for fact in scenario.facts if fact.id == "surveyor")
    turns = tuple(replace(t, text=roots) if t.index == 5 else t for t in said.turns)
    subject = GatedDialogue(replace(said, turns=turns), scenario, mediation())
    assert [flag.turn for flag in FactLeaked().check(subject)] == flagged


def test_a_leak_of_what_two_know_names_both():
    said, scenario = held(), shared_secret()
    turns = tuple(
        replace(t, text=scenario.facts[0].text) if t.index == 1 else t for t in said.turns
    )
    subject = GatedDialogue(replace(said, turns=turns), scenario, mediation())
    [flag] = FactLeaked().check(subject)
    assert flag.reason.startswith("knows what only the owner and the mediator know of the roots:")
