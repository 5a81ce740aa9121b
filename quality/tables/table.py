"""Other people's dialogues and answers, as they were read from tables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from pipeline.importing.rows import role_key, told_apart
from quality.agreement.annotations import RawAnswer, Timing
from quality.tables.oddities import Oddity, Place
from quality.tables.questions import TableQuestion
from scenarios.terms import RoleKey

SOMEBODY: Final = "speaker"
"""The role of a turn where files do not tell who says it."""

_TURN_OF_RUN: Final = re.compile(r"([0-9a-f]{20}/[0-9a-f]{20})#([0-9]{1,9})")
"""The name of a turn of a run, ``case/arm#turn``, as sheets of reviews have it."""


def item_name(dialogue: str, turn: int | None) -> str:
    """Return ``dialogue#turn``, or the name of the dialogue where all of it is meant."""
    return dialogue if turn is None else f"{dialogue}#{turn}"


@dataclass(frozen=True, slots=True)
class TableTurn:
    """One turn of a dialogue."""

    role: str
    text: str
    called: str = ""
    """The role as a cell has it, in its capitals; empty where the map names it."""


@dataclass(frozen=True, slots=True)
class TableDialogue:
    """A dialogue, or the part of one that was labelled."""

    id: str
    """Group and name; unique in a table."""
    group: str
    turns: tuple[TableTurn, ...]
    """As far as the files hold texts; the place is the number of the turn."""
    context: Mapping[str, str] = field(default_factory=dict)
    """What else the files say about it, under the names of the map."""
    notes: str = ""
    goal: str = ""
    """The label that is assigned to it, as it is written; empty: none."""
    file: str = ""
    """The file it comes from, the first of several."""


@dataclass(frozen=True, slots=True)
class TableAnswer:
    """One answer, as the map reads it, before it was checked against a scheme."""

    dialogue: str
    turn: int | None
    """None: about the dialogue as a whole."""
    annotator: str
    dimension: str
    value: object
    place: Place

    @property
    def item(self) -> str:
        """What it is about."""
        return item_name(self.dialogue, self.turn)

    @property
    def subject(self) -> tuple[str, int | None]:
        """The dialogue that it is drawn with in intervals, and the turn there.

        A table of rows that stand alone may name turns of a run: these name their dialogue, too.
        """
        named = _TURN_OF_RUN.fullmatch(self.dialogue) if self.turn is None else None
        return (named[1], int(named[2])) if named else (self.dialogue, self.turn)

    @property
    def raw(self) -> RawAnswer:
        """The answer as quality control takes it."""
        dialogue, _ = self.subject
        return RawAnswer(self.item, self.dimension, self.annotator, self.value, dialogue)


@dataclass(frozen=True, slots=True)
class FileCount:
    """What became of the rows of one file: ``rows`` is ``read`` and ``left_out`` together."""

    file: str
    group: str
    rows: int
    read: int
    left_out: int


@dataclass(frozen=True, slots=True)
class AnswerTable:
    """Everything that some files hold."""

    dialogues: tuple[TableDialogue, ...]
    answers: tuple[TableAnswer, ...]
    gold: tuple[TableAnswer, ...]
    """Labels that the authors settled on; whose they are is not an annotator."""
    oddities: tuple[Oddity, ...]
    files: tuple[FileCount, ...]
    dimensions: tuple[str, ...]
    """The dimensions that the files have columns for."""
    questions: tuple[TableQuestion, ...] = ()
    """The questions with options that rows put."""
    timings: tuple[Timing, ...] = ()

    @property
    def annotators(self) -> tuple[str, ...]:
        """Whoever answered anything, in the order of the files."""
        return tuple(dict.fromkeys(answer.annotator for answer in self.answers))

    @property
    def groups(self) -> dict[str, str]:
        """The group of every item that was answered."""
        group = {dialogue.id: dialogue.group for dialogue in self.dialogues}
        return {answer.item: group[answer.dialogue] for answer in (*self.answers, *self.gold)}

    @property
    def roles(self) -> dict[str, RoleKey]:
        """Who says the turns of which files tell it, by item, as roles of schemes are called.

        Two people of a dialogue have two roles, as they have when the files become a run.
        """
        keys = {
            dialogue.id: told_apart({turn.role: role_key(turn.role) for turn in dialogue.turns})
            for dialogue in self.dialogues
        }
        return {
            item_name(dialogue.id, place): keys[dialogue.id][turn.role]
            for dialogue in self.dialogues
            for place, turn in enumerate(dialogue.turns)
            if turn.role != SOMEBODY
        }

    def by(self, context: str) -> dict[str, str]:
        """Return of every item what the files say about its dialogue under a name of the map."""
        said = {dialogue.id: dialogue.context.get(context, "") for dialogue in self.dialogues}
        return {answer.item: said[answer.dialogue] for answer in (*self.answers, *self.gold)}

    @property
    def texts(self) -> dict[str, str]:
        """What every item that was answered says, as far as the files hold it."""
        turns = {dialogue.id: dialogue.turns for dialogue in self.dialogues}
        found: dict[str, str] = {}
        for answer in (*self.answers, *self.gold):
            said = turns[answer.dialogue]
            if answer.turn is None:
                found[answer.item] = " ".join(turn.text for turn in said)
            elif answer.turn < len(said):
                found[answer.item] = said[answer.turn].text
        return {item: text for item, text in found.items() if text.strip()}
