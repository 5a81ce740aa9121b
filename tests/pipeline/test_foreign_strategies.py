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
LABEL = TacticLabel("veracity", "Quality")
GOOD = Spoken(Draft("It never left the garage.", "deception", (LABEL,)), Trace("mine"))


def said(**changes):
    return replace(GOOD, draft=replace(GOOD.draft, **changes))


def test_what_can_be_stored_passes_as_it_is():
    assert checked(GOOD, HIPO) is GOOD


@pytest.mark.parametrize(
    ("spoken", "error", "told"),
    [
        (None, TypeError, "the strategy returned None: not a Spoken"),
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
        checked(spoken, HIPO)


class Speaker:
    async def utter(self, task):
        return task


class Writer:
    async def script(self, task):
        return task


@pytest.mark.anyio
async def test_strategies_of_both_kinds_stay_what_they_are():
    assert await foreign(Speaker(), HIPO).utter(GOOD) is GOOD
    assert await foreign(Writer(), HIPO).script((GOOD, GOOD)) == (GOOD, GOOD)
    with pytest.raises(ValueError, match="without words"):
        await foreign(Writer(), HIPO).script((GOOD, said(text="")))
