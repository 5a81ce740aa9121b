"""Questions about intentions: what was said, a run of turns, four descriptions, and the right one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from string import ascii_uppercase
from typing import Final

from outputs.dataset.columns import PROVENANCE, TURN, Reading, Row, left_out_notes, provenance
from outputs.dataset.manifest import Column
from outputs.dataset.scenes import as_told_in
from outputs.kinds.export_kind import ExportKind, ExportOptions, ExportTask
from outputs.selecting.left_out import NO_INTENTION
from outputs.selecting.selection import SelectedDialogue
from prompts.tasks.registry import load_task
from quality.persuasion.intention_questions import (
    IntentionQuestion,
    intention_questions,
    names_of,
)
from quality.persuasion.settled_labels import KINDS, settled_turns
from quality.persuasion.spoken_dialogues import INTENTION
from scenarios.errors import UsageError
from scenarios.schemes.model import Scheme

TASK: Final = "face-acts-intention"
"""The task whose rules the options keep."""
SUBSET: Final = "intention-mcq"
_OWN: Final = (
    Column("last_turn", "int", "Index of the last turn of the run; often the same turn."),
    Column("situation", "text", "What everybody knows."),
    Column("people", "messages", "Everybody, by role: the name, and on the next line who that is."),
    Column("context", "messages", "What was said before the run, by role."),
    Column("role", "text", "Who says the run."),
    Column("utterance", "text", "What the question is about: all that is said in the run."),
    Column("face_act", "text", "What the run does to face; the right intention belongs to it."),
    Column("options", "texts", "The descriptions, in order; one of them is right."),
    Column("labels", "texts", "The intentions behind the options, in the same order."),
    Column("answer", "int", "The place of the right option, from 0."),
    Column("answer_letter", "text", "The letter of the right option."),
    Column("label_intention", "text", "The right intention."),
    Column(
        "labelled_by",
        "text",
        "Whose label it is: adjudicated (an expert's), human (two people agree), judges, declared"
        " (the speaker's).",
    ),
)


@dataclass
class IntentionRows:
    """One question for every run of turns of one speaker with one intention."""

    scheme: Scheme
    subset: str = field(default=SUBSET, init=False)
    reading: Reading = field(default=Reading(), init=False)
    _left_out: Counter[str] = field(default_factory=Counter, init=False)

    def __post_init__(self) -> None:
        """Find the rules by which options are drawn."""
        if not any(d.id == INTENTION and d.depends_on_role for d in self.scheme.dimensions):
            raise UsageError(
                f"the scheme {self.scheme.name} has no intentions to ask about",
                "export runs of the scheme face_acts, or take another --to",
            )
        self._options = load_task(TASK, self.scheme).options[INTENTION]
        self._dimension = self.scheme.dimension(INTENTION)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The columns of every row."""
        return (*PROVENANCE, TURN, *_OWN)

    def rows(self, batch: Sequence[SelectedDialogue]) -> Iterator[Row]:
        """Yield the questions about each dialogue, in turn order."""
        for selected in batch:
            yield from self._of_dialogue(selected)

    def notes(self) -> tuple[str, ...]:
        """Say of how many turns nobody, or no majority, names an intention."""
        return left_out_notes(self._left_out)

    def why_none(self, selected: SelectedDialogue) -> str:
        """Return why a dialogue gave no question."""
        return NO_INTENTION

    def _of_dialogue(self, selected: SelectedDialogue) -> Iterator[Row]:
        dialogue, scenario = selected.dialogue, selected.scenario
        turns, sources = settled_turns(dialogue, selected.annotations(KINDS))
        without = len(dialogue.answers()) - len(sources)
        if without:
            self._left_out["turns without an intention that is agreed on, or with none"] += without
        known = provenance(selected) | {
            "situation": as_told_in(selected).background,
            "people": [
                {"role": key, "content": f"{role.name}\n{role.description}"}
                for key, role in scenario.roles.items()
            ],
        }
        name = dialogue.id
        for question in intention_questions(
            name,
            turns,
            self._dimension,
            self._options,
            names_of(scenario),
            drawn_by=dialogue.case.id,
        ):
            source = sources[question.run.first]
            row = {"id": question.id, **known, **_row(question), "labelled_by": source}
            yield {column.name: row[column.name] for column in self.columns}


def _row(question: IntentionQuestion) -> Row:
    run = question.run
    return {
        "turn": run.first,
        "last_turn": run.last,
        "context": [{"role": role, "content": text} for role, text in question.context],
        "role": run.role,
        "utterance": run.text,
        "face_act": question.face_act,
        "options": list(question.options),
        "labels": list(question.labels),
        "answer": question.right,
        "answer_letter": ascii_uppercase[question.right],
        "label_intention": run.intention,
    }


def _rows(scheme: Scheme, _: ExportOptions) -> IntentionRows:
    return IntentionRows(scheme)


KIND = ExportKind(
    name="intention-mcq",
    about="questions with four options on what a persuader or a persuadee wants",
    tasks=(ExportTask(_rows),),
    hub_tasks=("multiple-choice",),
    fractions=(0, 0, 1),
    declared_labels=False,
    where_from="it needs labels of the dimension intention: verify the run with a judge, or review it",
)
