"""Dialogues of a run that are nearly one another; bounded memory, openings aside."""

from __future__ import annotations

import sys
import unicodedata
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quality.gates.near_duplicates import DuplicateSettings, NearDuplicates

SAID = (
    "Could you tell me what was done to the wing, and by whom?",
    "It was resprayed last year by a garage that I trust, and the bill is in the glovebox.",
)
OTHER = (
    "Who was driving on the day that the headlamp broke?",
    "My sister had borrowed it for a trip to the mountains and came back without a word.",
)


def test_the_same_dialogue_of_another_case_is_flagged_with_its_twin(stage):
    gate = NearDuplicates()
    first, second = stage.play(*SAID), stage.play(*SAID, repetition=1)
    assert gate.add_and_check(first) == []
    [flag] = gate.add_and_check(second)
    assert (flag.case, flag.turn, flag.severity) == (second.dialogue.case.id, None, 1.0)
    assert f"{first.dialogue.case.id}/a" in flag.reason


def test_a_word_more_or_less_does_not_hide_it(stage):
    gate = NearDuplicates()
    gate.add_and_check(stage.play(*SAID))
    assert gate.add_and_check(stage.play(SAID[0], f"Well, {SAID[1]}", repetition=1))


def test_different_dialogues_with_the_same_opening_pass(stage):
    gate = NearDuplicates()
    assert gate.add_and_check(stage.play(*SAID)) == []
    assert gate.add_and_check(stage.play(*OTHER, repetition=1)) == []
    assert len(gate) == 2


def test_two_arms_that_play_one_case_may_say_the_same(stage):
    gate = NearDuplicates()
    gate.add_and_check(stage.play(*SAID, arm="a"))
    assert gate.add_and_check(stage.play(*SAID, arm="b")) == []


def test_what_left_the_window_is_forgotten(stage):
    gate = NearDuplicates(DuplicateSettings(duplicate_window=100))
    gate.add_and_check(stage.play(*SAID))
    for i in range(1, 101):
        gate.add_and_check(stage.play(f"Number {i}?", f"{i} times {i} is {i * i}.", repetition=i))
    assert len(gate) == 100
    assert gate.add_and_check(stage.play(*SAID, repetition=200)) == []


def test_the_same_meaning_in_other_words_needs_embeddings(stage):
    gate = NearDuplicates(DuplicateSettings(duplicate_cosine=0.9))
    one = np.array([1, 0], np.float32)
    assert gate.add_and_check(stage.play(*SAID), one) == []
    assert gate.add_and_check(stage.play(*SAID, arm="b"), one) == []
    [flag] = gate.add_and_check(stage.play(*OTHER, repetition=1), one)
    assert flag.severity == pytest.approx(1.0)
    assert "cosine 1.00" in flag.reason
    other = np.array([0, 1], np.float32)
    unlike = stage.play("Is it paid?", "Not in full, and not by me.", repetition=2)
    assert gate.add_and_check(unlike, other) == []


def test_vectors_beyond_the_window_are_forgotten_too(stage):
    gate = NearDuplicates(DuplicateSettings(duplicate_window=100))
    axes = np.eye(151, dtype=np.float32)
    for i in range(150):
        gate.add_and_check(stage.play(f"{i}?", f"{i} {i}.", repetition=i), axes[i])
    last = stage.play("What?", "Other words.", repetition=500)
    assert gate.add_and_check(last, axes[149])
    first = stage.play("Who?", "Quite other words.", repetition=501)
    assert gate.add_and_check(first, axes[0]) == []


def test_only_improvised_turns_are_compared(stage):
    assert stage.play(*SAID).improvised_text == "\n".join(SAID)


@given(st.lists(st.text(max_size=80), min_size=2, max_size=4))
def test_any_text_can_be_remembered(stage, texts):
    gate = NearDuplicates()
    subject = stage.play(*texts)
    assert gate.add_and_check(subject) == []
    case = replace(subject.dialogue.case, id="other")
    again = replace(subject, dialogue=replace(subject.dialogue, case=case))
    # compatibility characters such as ⒜ hold letters only once they are written out
    spelled_out = unicodedata.normalize("NFKC", " ".join(texts))
    expected = any(char.isalnum() for char in spelled_out)
    assert bool(gate.add_and_check(again)) == expected


def test_a_run_that_repeats_itself_takes_no_more_steps_for_each_dialogue_as_it_grows(stage):
    gate, steps = NearDuplicates(), []
    for repetition in range(120):
        subject, taken = stage.play(*SAID, repetition=repetition), []
        sys.setprofile(lambda _, what, __, taken=taken: taken.append(what))
        try:
            found = gate.twin_by_words(subject)
        finally:
            sys.setprofile(None)
        assert found is None or found.case.repetition == 0
        steps.append(taken.count("call"))
    assert steps[-1] < 1.2 * steps[20]  # finalizers of what ran before may be counted
