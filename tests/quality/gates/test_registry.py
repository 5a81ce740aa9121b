"""All gates together: settings, imported dialogues, any scheme, any text."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from quality.gates.registry import build_gates, build_near_duplicates, check_all
from quality.gates.settings import CODES, GateSettings
from scenarios.schemes.registry import load_scheme
from tests.quality.gates.conftest import Stage

GATES = build_gates(GateSettings())


def test_every_code_has_one_gate_and_every_gate_a_code():
    duplicates = build_near_duplicates(GateSettings())
    assert duplicates is not None
    assert sorted([*(gate.code for gate in GATES), duplicates.code]) == sorted(CODES)


def test_a_gate_that_is_off_is_not_asked(stage):
    subject = stage.answer("One. Two. Three.")
    assert [flag.code for flag in check_all(GATES, subject)] == ["too_many_sentences"]
    off = build_gates(GateSettings(off=("too_many_sentences",)))
    assert check_all(off, subject) == []
    assert build_near_duplicates(GateSettings(off=("near_duplicate",))) is None


def test_a_misspelt_gate_brings_its_neighbour():
    with pytest.raises(ValidationError, match="refusal"):
        GateSettings(off=("refusals",))


def test_thresholds_reach_their_gates(stage):
    loose = build_gates(GateSettings(max_sentences=3, refusal_phrases=("two",)))
    assert [f.code for f in check_all(loose, stage.answer("One. Two. Three."))] == ["refusal"]


def test_flags_come_in_the_order_of_the_turns(stage, labelled):
    subject = stage.play(
        "Why", "Because", "And", "I", labels=(labelled(veracity="None"), labelled(veracity="None"))
    )
    flags = check_all(GATES, subject)
    assert [flag.turn for flag in flags] == [2, 3, 4, 5, None]
    assert {flag.code for flag in flags} == {"truncated", "unmet_requirement"}


def test_a_decent_dialogue_passes_every_gate(stage, labelled):
    subject = stage.play(
        "Who painted the wing?",
        "A garage did. You will find the bill in the glovebox.",
        labels=(labelled(veracity="Quantity"),),
    )
    assert check_all(GATES, subject) == []


def test_an_imported_dialogue_needs_no_scenario_no_opening_and_no_labels(stage):
    subject = stage.play("Who painted it?", "A garage did.", opening=False)
    subject = stage.change(subject, 1, declared_goal=None)
    case = replace(subject.dialogue.case, goal="", fact="", language="")
    bare = replace(subject, scenario=None, dialogue=replace(subject.dialogue, case=case))
    assert check_all(GATES, bare) == []


@settings(max_examples=60)
@given(
    st.lists(st.text(max_size=120), min_size=1, max_size=4),
    st.sampled_from(["hipo", "cei"]),
    st.sampled_from(["en", "zh", "th", "xx", "pt-BR", ""]),
)
def test_no_text_makes_a_gate_fail(texts, scheme, language):
    chosen = load_scheme(scheme)
    goal = chosen.goal.values[0]
    subject = Stage().play(*texts, scheme=chosen, goal=goal, language=language)
    for flag in check_all(GATES, subject):
        assert flag.code in CODES
        assert flag.reason


def test_a_lone_surrogate_is_only_odd(stage):
    check_all(GATES, stage.answer("It \ud800 runs."))
