"""The corpus itself: one row a dialogue, with everything that the run knows of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Final

from outputs.dataset.columns import (
    PROVENANCE,
    LabelValues,
    Reading,
    Row,
    label_column,
    label_columns,
    provenance,
)
from outputs.dataset.manifest import Column
from outputs.dataset.scenes import as_told_in
from outputs.kinds.export_kind import ExportKind, ExportOptions, ExportTask
from outputs.rows.spoken import SPOKEN, phases, spoken, wanted_labels
from outputs.rows.verification_record import VerificationRecord, verification_records
from outputs.selecting.people_labels import labelled_dimensions
from outputs.selecting.selection import SelectedDialogue
from outputs.value_names import label_text
from prompts.tasks.items import SceneView, asks_and_answers, scene_view
from scenarios.annotations import Annotation
from scenarios.dialogue import Turn
from scenarios.schemes.model import Scheme

_SCENE: Final = (
    Column("situation", "text", "What everybody knows."),
    Column(
        "people", "records", "Who takes part.",
        (
            Column("role", "text", "The role, as turns name it."),
            Column("name", "text", "The name."),
            Column("description", "text", "Who that is."),
        ),
    ),
    Column("fact_about", "text", "What the fact that is played concerns; empty without one."),
    Column("fact_text", "text", "The fact that is played; empty without one."),
    Column(
        "private", "records", "What each knows in this dialogue and not all do; what two know stands twice.",
        (
            Column("role", "text", "Who knows it."),
            Column("fact", "text", "The id of the fact."),
            Column("about", "text", "What it concerns."),
            Column("text", "text", "The fact."),
        ),
    ),
    Column(
        "variation", "records", "What was varied beside the goal: openings, and drawn axes.",
        (Column("axis", "text", "What varies."), Column("value", "text", "What was drawn.")),
    ),
)  # fmt: skip
_JUDGES: Final = (
    Column("source", "text", "self, external, juror, verifier, human or adjudicated."),
    Column("judge", "text", "The model, the program, or the code of a person."),
    Column("dimension", "text", "What is labelled."),
    Column("label", "text", "The label; several joined by ' | '; null: none, or unreadable."),
    Column("second", "text", "The label that was named next."),
    Column("carried", "bool", "Whether the declared label is confirmed; null: not compared."),
    Column("reason", "text", "Why."),
    Column("last_turn", "int", "The last turn, where it is about a run of turns."),
    Column("part", "text", "The part of the turn it is about, such as a claim; null: all of it."),
    Column("config", "text", "The configuration of the judge, or the study of a person."),
)
_FLAGS: Final = (
    Column("turn", "int", "The turn; null: the whole dialogue."),
    Column("code", "text", "The code of the reason."),
    Column("reason", "text", "The reason."),
    Column("severity", "float", "The value that met a threshold, where there is one."),
)
_COST: Final = (
    Column("requests", "int", "Requests that were sent."),
    Column("prompt_tokens", "int", "Tokens in."),
    Column("completion_tokens", "int", "Tokens out."),
    Column("cost_usd", "float", "US dollars; null where a price is unknown."),
)
_FOUND: Final = (
    Column("judges", "records", "Labels that readers gave to the dialogue as a whole.", _JUDGES),
    Column("flags", "records", "Reasons to look at the dialogue again.", _FLAGS),
    Column("decided_by", "text", "Who or what decided; null: nobody has."),
    Column("decision_reason", "text", "Why."),
    Column("generation", "record", "What generating took; shared calls count where paid.", _COST),
    Column("verification", "record", "What judging took.", _COST),
)


@dataclass
class DialogueRows:
    """One row for every dialogue, whatever its scheme, scene or verdict."""

    scheme: Scheme
    subset: str = field(default="dialogues", init=False)
    reading: Reading = field(default=Reading(wanted=True, rationales=True), init=False)

    def __post_init__(self) -> None:
        self._values = LabelValues(self.scheme)
        self._names = {d.id: label_column(d.id) for d in labelled_dimensions(self.scheme)}
        self._scenes: dict[tuple[str, str, str, str], SceneView] = {}

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The columns of every row."""
        turns = Column("turns", "records", "What was said, in order.", self._turn_columns())
        return (*PROVENANCE, *_SCENE, turns, *_FOUND)

    def _turn_columns(self) -> tuple[Column, ...]:
        by_column = {column.name: column for column in label_columns(self.scheme)}
        labels = tuple(
            Column(name, by_column[column].kind, by_column[column].description)
            for name, column in self._names.items()
        )
        texts = tuple(Column(name, "text", f"Of {name}; null without.") for name in self._names)
        of_labels = (
            Column("labels", "record", "The labels, by dimension.", labels),
            Column("rationales", "record", "The speaker's reasons, by dimension.", texts),
            Column("wanted", "record", "Labels that were asked for, by dimension.", texts),
        )
        return (
            Column("index", "int", "From 0."),
            *SPOKEN,
            *(of_labels if self._names else ()),
            by_column["labelled_by"],
            Column("judges", "records", "Labels that readers gave to the turn.", _JUDGES),
        )

    def rows(self, batch: Sequence[SelectedDialogue]) -> Iterator[Row]:
        """Yield one row for each dialogue of a case."""
        records = verification_records(batch)
        for selected in batch:
            yield self._row(selected, records[selected.key])

    def _row(self, selected: SelectedDialogue, record: VerificationRecord) -> Row:
        decision = record.decision
        return {
            "id": "/".join(selected.key),
            **provenance(selected),
            **self._scene(selected),
            "turns": self._turns(selected, record),
            "judges": [_judged(label) for label in record.of_turn(None)],
            "flags": [
                {"turn": f.turn, "code": f.code, "reason": f.reason, "severity": f.severity}
                for f in record.flags
            ],
            "decided_by": None if decision is None else decision.by,
            "decision_reason": None if decision is None else decision.reason,
            "generation": asdict(record.costs.generation),
            "verification": asdict(record.costs.verification),
        }

    def _scene(self, selected: SelectedDialogue) -> Row:
        scenario, case = selected.scenario, selected.dialogue.case
        told = as_told_in(selected)
        key = (case.scenario, case.scenario_fingerprint, case.language, told.background)
        if key not in self._scenes:
            self._scenes[key] = scene_view(told, case.language, listed=True)
        scene = self._scenes[key]
        played = scenario.fact(case.fact) if case.fact else None
        # Where one asks and one answers, a dialogue is about one fact: nobody in it knows the others.
        alone = asks_and_answers(scenario) and played is not None
        facts = [fact for fact in scenario.facts if not alone or fact is played]
        return {
            "situation": scene.situation,
            "people": [
                {"role": one.role, "name": one.name, "description": one.description}
                for one in scene.people
            ],
            "fact_about": "" if played is None else played.about,
            "fact_text": "" if played is None else played.text,
            "private": [
                {"role": role, "fact": fact.id, "about": fact.about, "text": fact.text}
                for fact in facts
                for role in fact.knowers
                if role in scenario.roles
            ],
            "variation": [{"axis": axis, "value": value} for axis, value in case.variation],
        }

    def _turns(self, selected: SelectedDialogue, record: VerificationRecord) -> list[Row]:
        in_phase = phases(selected)
        return [
            {
                "index": turn.index,
                **spoken(selected, turn, in_phase),
                **self._labels(selected, turn),
                "judges": [_judged(label) for label in record.of_turn(turn.index)],
            }
            for turn in selected.dialogue.turns
        ]

    def _labels(self, selected: SelectedDialogue, turn: Turn) -> Row:
        values = self._values.of(selected, turn)
        whose: Row = {"labelled_by": values["labelled_by"]}
        if not self._names:
            return whose
        reasons = {label.dimension: label.rationale or None for label in turn.tactic}
        wanted = wanted_labels(turn)
        found: Mapping[str, Row] = {
            "labels": {name: values[column] for name, column in self._names.items()},
            "rationales": {name: reasons.get(name) for name in self._names},
            "wanted": {name: wanted.get(name) for name in self._names},
        }
        return {**found, **whose}


def _judged(label: Annotation) -> Row:
    return {
        "source": label.kind,
        "judge": label.who,
        "dimension": label.dimension,
        "label": label_text(label.value),
        "second": label_text(label.second),
        "carried": label.carried,
        "reason": label.rationale,
        "last_turn": label.subject.last_turn,
        "part": label.subject.part,
        "config": label.config,
    }


def _rows(scheme: Scheme, _: ExportOptions) -> DialogueRows:
    return DialogueRows(scheme)


KIND = ExportKind(
    name="dialogues",
    about="the corpus itself: a dialogue a row, with labels, judgements, flags, verdict and costs",
    tasks=(ExportTask(_rows),),
    hub_tasks=("text-generation", "text-classification"),
    fractions=(1, 0, 0),
    verdict="any",
)
