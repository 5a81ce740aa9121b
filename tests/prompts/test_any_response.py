"""Answers that a property test makes up: what is whole is read, and nothing breaks the reader."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from prompts.responses import Unreadable
from tests.prompts.test_responses import CRITIQUE, HIPO, TACTIC, UTTERANCE, answer

words = st.text(
    st.characters(
        codec="utf-8", categories=["L", "N", "P", "Zs"], exclude_characters="{}[]\"'`\\<"
    ),
    min_size=1,
    max_size=40,
)
answers = st.builds(
    answer,
    utterance=words.map(lambda text: f"Oh {text} so"),
    goal=st.sampled_from(HIPO.goal.values),
    intention=st.sampled_from(HIPO.dimension("intention").values),
    veracity=st.sampled_from(HIPO.dimension("veracity").values),
    illocutionary=st.sampled_from(HIPO.dimension("illocutionary").values),
    veracity_rationale=words.map(lambda text: f"since {text} is"),
)
prose = st.sampled_from(
    ["", "Sure, here it is:", "{thinking} I would say\n", "Step 1: choose. ", "# Answer"]
)


def fenced(text):
    return f"```json\n{text}\n```"


def bare(text):
    return text


def trailing_comma(text):
    return text.rstrip()[:-1] + ",}"


def unclosed(text):
    return text.rstrip()[:-1]


def single_quoted(text):
    return text.replace('"', "'")


@settings(deadline=None)
@given(
    answers,
    prose,
    prose,
    st.sampled_from([bare, trailing_comma, single_quoted]),
    st.sampled_from([bare, fenced]),
    st.sampled_from([None, 2]),
)
def test_any_valid_answer_survives_wrapping(fields, before, after, breakage, wrap, indent):
    if breakage is single_quoted:
        fields = {k: v.replace("I've", "I have") for k, v in fields.items()}
    strict = json.dumps(fields, ensure_ascii=False, indent=indent)
    text = f"{before}\n{wrap(breakage(strict))}\n{after}"
    assert TACTIC.read(text) == TACTIC.read(strict)


@settings(deadline=None)
@given(answers)
def test_an_answer_cut_off_before_its_last_brace_is_whole(fields):
    strict = json.dumps(fields)
    assert TACTIC.read(unclosed(strict)) == TACTIC.read(strict)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
near_answers = st.dictionaries(st.sampled_from([*TACTIC.keys, *CRITIQUE.keys]), json_values)
scraps = st.lists(
    st.sampled_from(
        [*"{}[]\",:\\'`\n", "utterance", "goal", "null", "```json", "<think>", "\ud800", "1e999"]
    )
    | st.text(max_size=5),
    max_size=60,
).map("".join)


def reasons_against(fmt, text):
    try:
        fmt.read(text)
    except Unreadable as error:
        return error.reasons or ("",)
    return ()


@settings(deadline=None, max_examples=100)
@given(st.text() | scraps | near_answers.map(json.dumps) | near_answers.map(repr))
def test_garbage_is_unreadable_and_nothing_else(text):
    for fmt in (UTTERANCE, TACTIC, CRITIQUE):
        for reason in reasons_against(fmt, text):
            assert len(reason) < 600
            assert reason.splitlines() == [reason]
