"""Lines that people wrote or labelled by hand: what offline actors say, examples, and gold.

Three sets that have no line in common. ``stage`` is what the offline actor says first.
``exemplar`` shows labels to a reader, and comes from scenarios that no corpus plays. ``gold``
measures readers: no prompt, generator or export holds it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal, get_args

from pydantic import BeforeValidator, Field, model_validator

from scenarios.fixed_lines import Text
from scenarios.schemes.model import Identifier
from scenarios.strict import Strict, as_tuple
from scenarios.terms import LabelValue

LineUse = Literal["stage", "exemplar", "gold"]
LINE_USES: Final[tuple[LineUse, ...]] = get_args(LineUse)
HARD_QUESTION: Final = "hard_question"
ANGLE: Final = "angle"
PRESSED: Final = "pressed"
ANY_FACT: Final = "any"
"""In place of a fact: the labels hold whatever the fact is."""
ANY_GOAL: Final = "any"
"""In place of a goal: whoever deceives says it as others do."""
ANY_QUESTION: Final = "any"
"""In place of a question: it goes with whatever is asked after the hard question."""
GOLD_AXIS: Final = "gold_line"
"""What varies between the cases of a run of gold lines: the id of the line."""
Origin = Literal["written", "grammar", "model"]
"""Who found the words; the labels are by hand in any case."""


def _gather_labels(data: object, fields: Mapping[str, object]) -> object:
    """Put the keys that are no field of a line into ``labels``: they are dimensions."""
    if not isinstance(data, Mapping) or "labels" in data:
        return data
    known = {key: value for key, value in data.items() if key in fields}
    return {**known, "labels": {k: v for k, v in data.items() if k not in fields}}


class LabelledLine(Strict):
    """What a responder says, and its labels under one fact."""

    fact: Text = ANY_FACT
    """The fact's id, or ``any``: then the labels hold under every fact of the scenario."""
    goal: Text
    """The goal it is said under; on stage also ``any``."""
    text: Text
    claims: tuple[Identifier, ...] = ()
    """Ids of the scenario's claims that whoever says this makes."""
    labels: dict[str, Text]
    """The label, or the number in quotes, of every dimension that the line carries; in a file the dimensions stand beside
    the other fields."""

    @model_validator(mode="before")
    @classmethod
    def _with_labels(cls, data: object) -> object:
        return _gather_labels(data, cls.model_fields)


class InitiatorLine(Strict):
    """A question that presses on the hard question and fits after any answer, under any goal."""

    id: Identifier
    when: Literal["first", "later"]
    """``first``: after the first answer; ``later``: once more was said."""
    again: bool = False
    """Whether it asks the hard question once more: who has answered that with a lie keeps to it here."""
    text: Text


class StageLine(LabelledLine):
    """What the offline responder says to a question it knows."""

    answers: Identifier
    """``hard_question``, ``angle`` (the fact's own), ``pressed`` (any line of the initiator here),
    the id of one of them, or ``any``: all of these but the hard question."""

    @property
    def leaves_any_question(self) -> bool:
        """Whether it talks about something else, whatever presses: then it does so after any question."""
        return self.answers == PRESSED and self.labels.get("veracity") == "Relevance"

    @property
    def is_vague_anywhere(self) -> bool:
        """Whether it answers any question in vague words, whatever kind of thing that asks for."""
        return self.answers == ANY_QUESTION and self.labels.get("veracity") == "Manner"

    def is_for(self, goal: str) -> bool:
        """Whether it can be said under a goal."""
        return self.goal in (goal, ANY_GOAL)


class Detail(Strict):
    """A true clause that can be checked and answers a part of a question; it is put into a sentence."""

    answers: Annotated[tuple[Identifier, ...], BeforeValidator(as_tuple), Field(min_length=1)]
    """The questions it answers a part of, as in :class:`StageLine`."""
    facts: Annotated[tuple[Identifier, ...], BeforeValidator(as_tuple)] = ()
    """The facts under which it is said; empty: all."""
    goal: Annotated[tuple[str, ...], BeforeValidator(as_tuple)] = ()
    """The goals under which it is said; empty: all. Where one is truthful, the clause hints at nothing
    that is false."""
    text: Text


class StageLines(Strict):
    """What the offline actors say first in one scenario."""

    scenario: Identifier
    initiator: Annotated[tuple[InitiatorLine, ...], Field(min_length=3)]
    responder: Annotated[tuple[StageLine, ...], Field(min_length=6)]
    details: tuple[Detail, ...] = ()
    needless: Annotated[tuple[Identifier, ...], BeforeValidator(as_tuple)] = ()
    """Facts that a full and honest answer to the hard question does not need: whatever leaves them alone
    is *None* there."""
    in_own_words: dict[Identifier, Text] = Field(default_factory=dict)
    """By claim, how the responder says it, as people speak; each goes after "you may write down that"."""
    at_issue: tuple[Text, ...] = ()
    """What the hard question and the initiator's other ones here are about, as both call it; each goes after
    "I can't talk about"."""
    topics: tuple[Text, ...] = ()
    """Things that these two can turn to, which answer no question and touch no fact; each goes after "we
    have hardly said a word about"."""


class FlowLine(Strict):
    """What somebody says in a scenario with a flow."""

    text: Text
    labels: dict[Identifier, LabelValue] = Field(default_factory=dict)
    """By dimension, the labels the line carries; of one that is not named nothing is said."""
    goal: Annotated[tuple[Text, ...], BeforeValidator(as_tuple)] = ()
    """The goals it can be said under; empty: any."""


def _as_moment(value: object) -> object:
    """Let one line stand for the only thing there is to say at a moment."""
    return (value,) if isinstance(value, Mapping) else value


Moment = Annotated[tuple[FlowLine, ...], BeforeValidator(_as_moment), Field(min_length=1)]
"""What can be said in one round: one of these."""


class FlowLines(Strict):
    """What the offline actors say in a scenario with a flow."""

    scenario: Identifier
    flow: dict[Identifier, dict[Identifier, tuple[Moment, ...]]]
    """By phase and role, a moment for each round, in an order that makes a conversation."""

    def moments(self, phase: str, role: str) -> tuple[tuple[FlowLine, ...], ...]:
        """Return what a role can say in a phase, round by round."""
        return self.flow.get(phase, {}).get(role, ())


class Exemplar(LabelledLine):
    """A line that shows what labels mean."""

    id: Identifier
    question: str = ""
    """The standing question it answers, as it was asked; empty where it answers none."""


class ExemplarLines(Strict):
    """Examples from one scenario that no corpus plays."""

    scenario: Identifier
    lines: Annotated[tuple[Exemplar, ...], Field(min_length=1)]


def _as_readings(value: object) -> object:
    return () if value is None else value


class GoldLine(Exemplar):
    """A line to measure readers by. Its labels are settled; ``readings`` are what led to them."""

    origin: Origin = "written"
    note: Text | None = None
    """Which step decides, where it is close."""
    readings: Annotated[tuple[dict[str, Text], ...], BeforeValidator(_as_readings)] = ()
    """The labels of each of two readings by programs, made apart, where these are not the settled
    ones; without any, both gave the labels of the line. People's readings are collected by ``hipo review serve --mode gold``
    and are not kept here."""


class GoldLines(Strict):
    """The gold lines of one scenario."""

    scenario: Identifier
    canary: Text
    """The string by which one finds out whether a corpus or a model has taken in this file."""
    lines: Annotated[tuple[GoldLine, ...], Field(min_length=1)]
