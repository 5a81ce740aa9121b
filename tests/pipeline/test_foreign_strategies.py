"""What strategies of plugins return: nothing is stored that could not be read or exported again."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from pipeline.strategies.foreign import checked, foreign
from pipeline.strategies.protocol import Spoken
from scenarios.dialogue import Attempt, Candidate, Draft, TacticLabel, Trace
from scenarios.schemes.registry import load_scheme

HIPO = load_scheme("hipo")
WHO = "the strategy 'mine'"
LABEL = TacticLabel("veracity", "Quality")
GOOD = Spoken(Draft("It never left the garage.", "deception", (LABEL,)), Trace("mine"))


def said(**changes):
    return replace(GOOD, draft=replace(GOOD.draft, **changes))


def test_what_can_be_stored_passes_as_it_is():
    assert checked(GOOD, HIPO, WHO) is GOOD


@pytest.mark.parametrize(
    ("spoken", "error", "told"),
    [
        (None, TypeError, "the strategy 'mine' returned None: not a Spoken"),
        ("No.", TypeError, "not a Spoken"),
        (replace(GOOD, trace={"a": 1}), TypeError, "as trace, not an instance of Trace"),
        (said(text=5), TypeError, "5 as draft.text, not a valid string"),
        (said(text=" \n"), ValueError, "without words"),
        (said(tactic=(TacticLabel("veracity", "nonsense"),)), ValueError, "veracity 'nonsense'"),
        (said(tactic=(TacticLabel("veracity", "quality"),)), ValueError, "veracity 'quality'"),
        (said(tactic=(TacticLabel("mood", "Quality"),)), ValueError, "mood 'Quality', which the scheme"),
        (
            replace(GOOD, trace=Trace("mine", (Candidate(0, GOOD.draft, None),), chosen=99)),
            ValueError,
            "chose draft 99 of 1",
        ),
        (said(text="Never \ud800"), ValueError, "surrogates not allowed"),
        (said(goal="a sale"), ValueError, "goal 'a sale'"),
        (said(tactic=(LABEL, LABEL)), ValueError, "labelled veracity twice"),
        (replace(GOOD, trace=Trace("mine", notes=({},))), TypeError, "{} as trace.notes.0"),
        (
            replace(GOOD, trace=Trace("mine", (Candidate(0, GOOD.draft, math.nan),))),
            TypeError,
            "nan as trace.candidates.0.score, not a finite number",
        ),
        (
            replace(GOOD, trace=Trace("mine", attempts=(Attempt(said(goal="x").draft),))),
            ValueError,
            "goal 'x'",
        ),
    ],
)  # fmt: skip
def test_what_cannot_is_an_error_of_its_case(spoken, error, told):
    with pytest.raises(error, match=told):
        checked(spoken, HIPO, WHO)


class Speaker:
    async def utter(self, task):
        return task


class Writer:
    def __init__(self, *said):
        self.said = said

    async def script(self, task):
        return self.said


class View:
    written = (1, 2)


class Task:
    view = View()


@pytest.mark.anyio
async def test_strategies_of_both_kinds_stay_what_they_are():
    assert await foreign("mine", Speaker(), HIPO, knows_all=False).utter(GOOD) is GOOD
    writer = foreign("mine", Writer(GOOD, GOOD), HIPO, knows_all=True)
    assert await writer.script(Task()) == (GOOD, GOOD)
    with pytest.raises(ValueError, match="without words"):
        await foreign("mine", Writer(GOOD, said(text="")), HIPO, knows_all=True).script(Task())


@pytest.mark.anyio
@pytest.mark.parametrize("turns", [(GOOD,), (GOOD, GOOD, GOOD)])
async def test_a_dialogue_of_another_length_is_an_error_of_its_case(turns):
    writer = foreign("mine", Writer(*turns), HIPO, knows_all=True)
    with pytest.raises(ValueError, match=f"returned {len(turns)} turns, expected 2"):
        await writer.script(Task())


@pytest.mark.parametrize(
    ("built", "knows_all"), [(None, False), (None, True), (Speaker(), True), (Writer(), False)]
)
def test_what_is_not_what_was_declared_is_refused_when_it_is_built(built, knows_all):
    with pytest.raises(TypeError, match="expected an object with"):
        foreign("mine", built, HIPO, knows_all=knows_all)
