"""Annotations: every label that a dialogue or a part of it got, from whomever it came."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from scenarios.terms import LabelValue

DECLARED: Final = "declared"
"""Kind of the labels that the speaker gave to its own utterance."""
HUMAN: Final = "human"
"""Kind of the labels that people gave in review."""
ADJUDICATED: Final = "adjudicated"
"""Kind of the labels that an expert decided on."""
VERIFIER: Final = "verifier"
"""Kind of the labels that follow from what a program found true or false in an utterance."""
FOIL: Final = "foil"
"""Kind of the labels that judges were shown, declared or wrong ones, to see which they accept."""
IMPORT: Final = "import:"
"""How the configuration of imported annotations begins; the id of their map follows."""
AS_DECLARED: Final = "declared"
"""Part of such a label that the speaker declared."""
FOILED: Final = "foil"
"""Part of such a label that is a wrong one."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What an annotation is about: a dialogue, a turn, a run of turns, or a part of a turn."""

    case: str
    arm: str
    turn: int | None = None
    """None: the dialogue as a whole."""
    last_turn: int | None = None
    """The last turn of a run of turns; None: ``turn`` alone."""
    part: str | None = None
    """A candidate or an extracted claim of the turn, by its name; None: all of it."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """One label in long form. The kind is open: besides those above there are the judges'."""

    subject: Subject
    kind: str
    """How it came about: ``declared``, ``wanted``, ``self``, ``external``, ``human``, ..."""
    who: str
    """``responder``, ``design``, the name of a model, or the code of a person."""
    dimension: str
    value: LabelValue | None
    """None where an answer could not be read."""
    rationale: str = ""
    config: str = ""
    """Under which configuration: that of the judge, or the id of the study people answered in."""
    carried: bool | None = None
    """Of judges: whether the label is confirmed; None where nothing was compared."""
    raw: str | None = None
    """What was written, where an alias had to be resolved to ``value``."""
    second: LabelValue | None = None
    """Of judges who label blind: the label they named next; None where they named none."""
