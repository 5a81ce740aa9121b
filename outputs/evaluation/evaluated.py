"""An evaluation as it is read from its folder, and its figures by what they are about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from outputs.evaluation.model_names import names_in, renamed_record, renamed_row, renamed_scores
from quality.evaluation.evaluation_record import EvaluatedTask, EvaluationRecord
from quality.evaluation.result_row import Mark, ResultRow
from quality.evaluation.scores import EvaluationScores, Scores, Weighting
from quality.evaluation.shown_items import ShownItem

SIGNS: Mapping[Mark, str] = {"its own judge": "†", "its own generator": "‡", "same grammar": "§"}
"""What stands behind the name of a model whose figures need a remark."""
REFERENCES: Mapping[str, str] = {
    "declared": "the label that the generator gave with the words",
    "agreed": "declared labels that every external judge gave without seeing them",
    "people": "the label that most people gave, or the one who was asked",
    "adjudicated": "the labels that an expert decided on",
    "verifier": "what a program found that checks what is said",
    "gold": "the settled labels of the gold lines",
    "swap": "whether the label of lies fits the fact that is shown",
}
"""What labels are held against, in the order of tables, and what it is."""


@dataclass(frozen=True, slots=True)
class ReferenceView:
    """One kind of right labels, and how the items that were asked stand for the set."""

    reference: str
    weighting: Weighting

    @property
    def name(self) -> str:
        """What rows and files call it."""
        return f"{self.reference}{self._weighted}"

    @property
    def labels(self) -> str:
        """What captions and columns call it."""
        return f"{self.reference} labels{self._weighted}"

    @property
    def _weighted(self) -> str:
        return "" if self.weighting == "whole" else f", {self.weighting}"


@dataclass(frozen=True, slots=True)
class Contender:
    """One model in one mode: a row of a table."""

    model: str
    mode: str

    def name(self, *, several_modes: bool) -> str:
        """Return what rows call it."""
        return f"{self.model} · {self.mode}" if several_modes else self.model


@dataclass(frozen=True)
class Evaluated:
    """One evaluation: what it was of, its figures, and the items shown beside replies."""

    record: EvaluationRecord
    scores: EvaluationScores
    examples: tuple[tuple[ShownItem, tuple[ResultRow, ...]], ...] = ()
    """Items to read, each with the rows of one task about it."""
    marks: Mapping[str, tuple[Mark, ...]] = field(default_factory=dict)
    """By model: what part it had in the making of the set."""
    whole_names: Mapping[str, str] = field(default_factory=dict)
    """Of models that are shown by the end of a path, the names that the record has."""

    @cached_property
    def shown(self) -> Evaluated:
        """The same with the names that tables and pages have for models, see ``shown_names``."""
        names = names_in(self.record)
        if not names:
            return self
        return Evaluated(
            renamed_record(self.record, names),
            renamed_scores(self.scores, names),
            tuple(
                (item, tuple(renamed_row(row, names) for row in rows))
                for item, rows in self.examples
            ),
            {names.get(model, model): marks for model, marks in self.marks.items()},
            {short: whole for whole, short in names.items()},
        )

    def whole_name(self, model: str) -> str:
        """Return the name that the record has for a model."""
        return self.whole_names.get(model, model)

    @cached_property
    def _by_place(self) -> Mapping[tuple[str, str, ReferenceView, Contender], Scores]:
        return {
            (
                one.task,
                one.dimension,
                ReferenceView(one.reference, one.weighting),
                Contender(one.model, one.mode),
            ): one
            for one in self.scores.scores
        }

    @cached_property
    def tasks(self) -> tuple[EvaluatedTask, ...]:
        """The tasks, each once however many modes it was asked in."""
        return tuple({task.id: task for task in reversed(self.record.tasks)}.values())[::-1]

    @cached_property
    def modes(self) -> tuple[str, ...]:
        """The modes of any task."""
        return tuple(dict.fromkeys(task.mode for task in self.record.tasks))

    def dimensions(self, task: str) -> tuple[str, ...]:
        """Return the dimensions that a task has figures on, in the order of the scheme."""
        found = {one.dimension for one in self.scores.scores if one.task == task}
        known = [name for name in self.record.set.labels if name in found]
        return (*known, *sorted(found - set(known)))

    def is_scored(self, task: str) -> bool:
        """Return whether a task has figures, on dimensions with one label or with several."""
        of_sets = any(one.task == task for one in self.scores.sets)
        return of_sets or any(one.task == task for one in self.scores.scores)

    def references(self, task: str, dimension: str) -> tuple[ReferenceView, ...]:
        """Return what a dimension of a task is held against; the first is the one to begin with."""
        found = {place[2] for place in self._by_place if place[:2] == (task, dimension)}
        order = {name: number for number, name in enumerate(REFERENCES)}
        weightings: tuple[Weighting, ...] = ("whole", "balanced", "reweighted")
        return tuple(
            sorted(
                found,
                key=lambda view: (
                    order.get(view.reference, len(order)),
                    view.reference,
                    weightings.index(view.weighting),
                ),
            )
        )

    def contenders(self, task: str, dimension: str) -> tuple[Contender, ...]:
        """Return who has figures on a dimension of a task, models in the order of the record."""
        found = {place[3] for place in self._by_place if place[:2] == (task, dimension)}
        models = [model.name for model in self.record.models]

        def place(one: Contender) -> tuple[int, str, int, str]:
            model = models.index(one.model) if one.model in models else len(models)
            mode = self.modes.index(one.mode) if one.mode in self.modes else len(self.modes)
            return model, one.model, mode, one.mode

        return tuple(sorted(found, key=place))

    def score(
        self, task: str, dimension: str, view: ReferenceView, contender: Contender
    ) -> Scores | None:
        """Return the figures of one model in one mode, None where there are none."""
        return self._by_place.get((task, dimension, view, contender))

    def named(self, contender: Contender, task: str) -> str:
        """Return what rows of a task call a model in a mode, with the signs of ``SIGNS``."""
        several = sum(one.id == task for one in self.record.tasks) > 1
        return self.signed(contender.model, contender.name(several_modes=several))

    def signed(self, model: str, name: str = "") -> str:
        """Return the name of a model with the signs of ``SIGNS`` behind it."""
        signs = [sign for mark, sign in SIGNS.items() if mark in self.marks.get(model, ())]
        return " ".join((name or model, *signs))
