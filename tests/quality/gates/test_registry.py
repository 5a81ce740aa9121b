"""All gates together: settings, imported dialogues, any scheme, any text."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quality.gates.registry import GATES as DECLARED
from quality.gates.runner import GateChecks, build_gates, check_all
from quality.gates.settings import gate_settings
from scenarios.errors import UsageError
from scenarios.schemes.registry import load_scheme
from tests.quality.gates.conftest import Stage

GATES, _ = build_gates(gate_settings())


def test_every_gate_that_ships_is_listed_under_the_code_of_its_flags():
    for name in DECLARED.shipped:
        extension = DECLARED.get(name)
        assert extension.name == name
        assert extension.build(extension.settings()).code == name


def test_no_two_gates_share_a_threshold():
    fields = [
        field for name in DECLARED.shipped for field in DECLARED.get(name).settings.model_fields
    ]
    assert len(fields) == len(set(fields))


def test_the_fingerprint_of_shipped_gates_is_the_one_that_stored_runs_hold():
    checks = GateChecks.of(gate_settings(), load_scheme("hipo"))
    assert checks.fingerprint == "e3cec39d67c50a0597f0edd2853071cf79af0da91e9f8503e0624074c1be323f"


def test_a_gate_that_is_off_is_not_asked(stage):
    subject = stage.answer("One of them. Two of them. Three.")
    assert [flag.code for flag in check_all(GATES, subject)] == ["too_many_sentences"]
    off, run_gates = build_gates(gate_settings({"off": ("too_many_sentences", "near_duplicate")}))
    assert check_all(off, subject) == []
    assert run_gates == ()


def test_a_misspelt_gate_brings_its_neighbour():
    with pytest.raises(UsageError, match="refusal"):
        gate_settings({"off": ("refusals",)})


def test_a_misspelt_threshold_brings_its_neighbour():
    with pytest.raises(
        UsageError, match=r"verification\.gates\.max_sentence: there is no such"
    ) as caught:
        gate_settings({"max_sentence": 3})
    assert "did you mean 'max_sentences'?" in caught.value.hint


def test_thresholds_reach_their_gates(stage):
    loose, _ = build_gates(gate_settings({"max_sentences": 3, "refusal_phrases": ("two",)}))
    assert [f.code for f in check_all(loose, stage.answer("One of them. Two of them. Three."))] == [
        "refusal"
    ]


def test_a_threshold_out_of_range_is_named():
    with pytest.raises(UsageError, match=r"verification\.gates\.max_sentences: found 0"):
        gate_settings({"max_sentences": 0})


def test_flags_come_in_the_order_of_the_turns(stage, labelled):
    subject = stage.play(
        "Why is it so",
        "It is because the",
        "And then what of",
        "It was there and I",
        labels=(labelled(veracity="None"), labelled(veracity="None")),
    )
    flags = check_all(GATES, subject)
    assert [flag.turn for flag in flags] == [2, 3, 4, 5, None]
    assert {flag.code for flag in flags} == {"truncated", "unmet_requirement"}


def test_a_decent_dialogue_passes_every_gate(stage, labelled):
    subject = stage.play(
        "Who painted the wing?",
        "A garage did. You will find the bill in the glovebox.",
        labels=(labelled(veracity="Quality"),),
    )
    assert check_all(GATES, subject) == []


def test_an_imported_dialogue_needs_no_scenario_no_opening_and_no_labels(stage):
    subject = stage.play("Who painted the wing?", "A garage in town did.", opening=False)
    subject = stage.change(subject, 1, declared_goal=None)
    case = replace(subject.dialogue.case, goal="", fact="", language="")
    bare = replace(subject, scenario=None, dialogue=replace(subject.dialogue, case=case))
    assert check_all(GATES, bare) == []


@settings(max_examples=30)
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
        assert flag.code in DECLARED.shipped
        assert flag.reason


def test_a_lone_surrogate_is_only_odd(stage):
    check_all(GATES, stage.answer("It \ud800 runs."))
