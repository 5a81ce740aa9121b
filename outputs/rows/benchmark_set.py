"""Benchmark items: an utterance or a conversation, what may be seen of it, and its labels."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from outputs.dataset.columns import (
    EXPERT_GOAL,
    PROVENANCE,
    TURN,
    LabelSources,
    LabelValues,
    Reading,
    Row,
    is_target,
    label_columns,
    provenance,
    sources_column,
)
from outputs.dataset.manifest import Column
from outputs.dataset.scenes import FACT, PEOPLE, SCENE, Scenes, listed_people, private_fact
from outputs.kinds.aspects import ASPECTS, Aspect, drawn_by
from outputs.kinds.export_kind import ExportKind, ExportOptions, ExportTask
from outputs.rows.agreed_labels import AGREED, agreed_labels
from outputs.rows.benchmark_prompts import BenchmarkPrompts
from outputs.rows.learnt_once import LearntOnce
from outputs.selecting.left_out import UNLABELLED
from outputs.selecting.selection import SelectedDialogue
from prompts.tasks.items import SceneView, TaskItem, standing_question
from scenarios.dialogue import History, Turn
from scenarios.schemes.model import Scheme
from scenarios.terms import LabelValue

_OWN = (
    Column("tags", "texts", "The tags of the scenario."),
    Column("aspect", "text", "What may be seen: utterance, cumulative, conversation."),
    Column("context", "messages", "What was said before and may be seen, by role."),
    Column("question", "text", "What the utterance answers: the last question before it, if any."),
    Column("utterance", "text", "The utterance to label; empty where it is the conversation."),
)
TOTAL = "total"


@dataclass(slots=True)
class CategoryCounts:
    """What one category of scenarios contributes; the columns of the paper's Table 1.

    Source: HIPO, Table 1 (tokens are left out: what was counted is not said).
    """

    scenarios: set[str] = field(default_factory=set)
    facts: set[tuple[str, str]] = field(default_factory=set)
    dialogues: int = 0
    benchmark_utterances: int = 0
    """Improvised utterances of labelled roles with labels."""
    contextual_utterances: int = 0
    """Everything else that is said."""

    def plain(self) -> dict[str, int]:
        """Return the counts as plain data."""
        return {
            "scenarios": len(self.scenarios),
            "facts": len(self.facts),
            "dialogues": self.dialogues,
            "benchmark_utterances": self.benchmark_utterances,
            "contextual_utterances": self.contextual_utterances,
            "utterances": self.benchmark_utterances + self.contextual_utterances,
        }


class CorpusCounts:
    """Counts of a corpus by category."""

    def __init__(self, scheme: Scheme) -> None:
        """Begin with nothing counted."""
        self._is_target = is_target(scheme)
        self._by_category: defaultdict[str, CategoryCounts] = defaultdict(CategoryCounts)

    def add(self, selected: SelectedDialogue) -> None:
        """Count one dialogue."""
        case = selected.dialogue.case
        turns = selected.dialogue.turns
        targets = sum(self._is_target(selected, turn) for turn in turns)
        counts = self._by_category[selected.scenario.category]
        counts.scenarios.add(case.scenario)
        facts = [case.fact] if case.fact else [fact.id for fact in selected.scenario.facts]
        counts.facts.update((case.scenario, fact) for fact in facts)
        counts.dialogues += 1
        counts.benchmark_utterances += targets
        counts.contextual_utterances += len(turns) - targets

    def table(self) -> Mapping[str, Mapping[str, int]]:
        """Return the counts by category, sorted, with their sum under ``total``."""
        rows = {name: counts.plain() for name, counts in sorted(self._by_category.items())}
        total: Counter[str] = Counter()
        for row in rows.values():
            total.update(row)
        return {**rows, TOTAL: {key: total[key] for key in CategoryCounts().plain()}}


class ItemPrompts(Protocol):
    """What models are sent for benchmark items, as columns of their rows."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns, in order."""

    def of(self, aspect: Aspect, item: TaskItem, right: Mapping[str, LabelValue], /) -> Row:
        """Return the values of one item, which has these labels by dimension."""


@dataclass
class BenchmarkRows:
    """One item per labelled utterance and aspect, and one per conversation.

    No item ends at a fixed line: a shared opening is the same text under both goals, so that
    nobody can tell the goal there, and a statement by goal was written to fit it.

    Source: HIPO, section 5 (utterance, cumulative and conversation aspects).
    """

    scheme: Scheme
    aspects: tuple[Aspect, ...] = ASPECTS
    prompts: ItemPrompts | None = None
    """What models are sent, as it stands in the rows; None: zero-shot and with reasons first."""
    subset: str = "benchmark"
    listed: bool = False
    """Whether rows list the people of a scene."""
    reading: Reading = field(default=Reading(), init=False)
    _scenes: Scenes = field(default_factory=Scenes, init=False)

    def __post_init__(self) -> None:
        self._prompts = self.prompts or BenchmarkPrompts(self.scheme, self.aspects)
        self._labels = label_columns(self.scheme)
        self._sources = sources_column(self.scheme)
        self._values = LabelValues(self.scheme)
        self._whose = LabelSources(self.scheme)
        self._is_target = is_target(self.scheme)
        self._once = LearntOnce()

    @property
    def repeated(self) -> int:
        """Rows so far that say what an earlier one of their case says, with the same labels.

        They stay: what several strategies say belongs to the figures of each of them.
        """
        return self._once.repeats

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The columns of every row."""
        people = PEOPLE if self.listed else ()
        known = (*PROVENANCE, *SCENE, *FACT, *people, TURN, *_OWN)
        return (*known, *self._labels, self._sources, AGREED, *self._prompts.columns)

    def rows(self, batch: Sequence[SelectedDialogue]) -> Iterator[Row]:
        """Yield the items of each dialogue."""
        for selected in batch:
            yield from self._of_dialogue(selected)

    def why_none(self, selected: SelectedDialogue) -> str:
        """Return why a dialogue gave no item."""
        return UNLABELLED

    def _of_dialogue(self, selected: SelectedDialogue) -> Iterator[Row]:
        turns = selected.dialogue.turns
        history = selected.dialogue.history()
        scene = self._scenes.view(selected)
        base = provenance(selected) | self._scenes.of(selected) | private_fact(selected)
        base["tags"] = list(selected.scenario.tags)
        if self.listed:
            base |= listed_people(selected, scene)
        agreed = agreed_labels(selected)
        targets = [place for place, turn in enumerate(turns) if self._is_target(selected, turn)]
        for place in targets:
            labels = self._labels_of(selected, turns[place])
            for aspect in self.aspects:
                if aspect != "conversation":
                    turn = turns[place]
                    item = _item(aspect, base, scene, history, (turn.index, place))
                    right = self._right(selected, turn)
                    shared = {AGREED.name: agreed.of(turn.index, right)}
                    known = labels | shared | self._prompts.of(aspect, item, right)
                    yield self._row(base, aspect, item, turn.index, known)
        if targets and self.scheme.assigned and "conversation" in self.aspects:
            right = self._right(selected, None)
            labels = self._labels_of(selected, None) | {AGREED.name: agreed.of(None, right)}
            item = _item("conversation", base, scene, history, None)
            known = labels | self._prompts.of("conversation", item, right)
            yield self._row(base, "conversation", item, None, known)

    def _labels_of(self, selected: SelectedDialogue, turn: Turn | None) -> Row:
        """Return the labels of an utterance, or of a dialogue, by column, and whose they are."""
        whose = self._whose.of(selected, turn)
        return self._values.of(selected, turn) | {self._sources.name: whose}

    def _right(self, selected: SelectedDialogue, turn: Turn | None) -> dict[str, LabelValue]:
        """Return the labels of an utterance, or of none, and the goal, by dimension."""
        tactic = () if turn is None else turn.tactic
        labels: dict[str, LabelValue] = {label.dimension: label.value for label in tactic}
        if self.scheme.assigned:
            labels[self.scheme.assigned] = selected.goal
        return labels

    def _row(self, base: Row, aspect: Aspect, item: TaskItem, turn: int | None, known: Row) -> Row:
        """Return one row; ``known`` are its labels, and what models are sent."""
        before = item.turns[: item.target]
        seen = () if aspect == "utterance" else before
        asking = None if item.standing is None else before[item.standing]
        said = item.turns[item.target :] if item.target is not None else ()
        labels = (base[EXPERT_GOAL.name], *(known[column.name] for column in self._labels))
        self._once.is_new((base["case"], turn, aspect, seen, asking, said, labels))
        whose: Row = {}
        if self.listed:
            whose = {"role": item.role, "question_role": "" if asking is None else asking[0]}
        return {
            "id": item.id,
            **base,
            **whose,
            "turn": turn,
            "aspect": aspect,
            "context": [{"role": role, "content": text} for role, text in seen],
            "question": None if asking is None else asking[1],
            "utterance": "" if item.target is None else item.turns[item.target][1],
            **known,
        }


def _item(
    aspect: Aspect, base: Row, scene: SceneView, history: History, target: tuple[int, int] | None
) -> TaskItem:
    """Return what a question may be made of: nothing private, and nothing after the target.

    Args:
        aspect: what may be seen.
        base: names case and arm.
        scene: where they speak.
        history: of the dialogue.
        target: index of the turn and its place in the history; None: the dialogue is the subject.
    """
    turn, place = (None, None) if target is None else target
    name = aspect if turn is None else f"{turn}/{aspect}"
    item_id, case = f"{base['case']}/{base['arm']}/{name}", str(base["case"])
    order = drawn_by(case, turn, aspect)
    if place is None:
        return TaskItem(item_id, scene, history, drawn_by=order)
    seen = history[: place + 1]
    standing = standing_question(seen, place)
    return TaskItem(item_id, scene, seen, place, standing, drawn_by=order)


def _rows(scheme: Scheme, options: ExportOptions) -> BenchmarkRows:
    prompts = BenchmarkPrompts(scheme, options.aspects, options.modes)
    return BenchmarkRows(scheme, options.aspects, prompts, listed=options.listed)


def _prompts(scheme: Scheme, options: ExportOptions) -> str:
    return BenchmarkPrompts(scheme, options.aspects, options.modes).fingerprint


KIND = ExportKind(
    name="benchmark",
    about="benchmark items for utterance, cumulative and conversation",
    tasks=(
        ExportTask(
            _rows,
            options=frozenset({"aspects", "modes"}),
            prompts=_prompts,
        ),
    ),
    hub_tasks=("text-classification",),
    fractions=(0, 0, 1),
)
