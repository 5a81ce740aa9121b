"""What an evaluation asks: tasks in modes, of items, with draws and repeats, of every model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from pipeline.store.answers import EvaluationSeat
from prompts.tasks.prompts import TaskPrompts
from quality.evaluation.item import EvaluationItem
from scenarios.fingerprint import fingerprint


@dataclass(frozen=True)
class TaskPlan:
    """One task in one mode, and the items that it is put to."""

    prompts: TaskPrompts
    items: tuple[EvaluationItem, ...]
    repeated: tuple[EvaluationItem, ...] = ()
    """Those that are asked about more than once."""
    repeats: int = 1
    """How often they are asked about, the first time included."""

    @property
    def name(self) -> str:
        """Task and mode, as calls and messages name them."""
        return f"{self.prompts.task.id} {self.prompts.mode}"

    @cached_property
    def by_id(self) -> Mapping[str, EvaluationItem]:
        """The items by id."""
        return {item.id: item for item in self.items}

    def rounds(self) -> Iterator[tuple[int, int, tuple[EvaluationItem, ...]]]:
        """Yield draw, repeat and items of every time that models are asked."""
        for draw in range(self.prompts.draws):
            yield draw, 0, self.items
        for repeat in range(1, self.repeats):
            yield 0, repeat, self.repeated

    @property
    def asked(self) -> int:
        """How often one model is asked about an item, all rounds together."""
        return sum(len(items) for _, _, items in self.rounds())


@dataclass(frozen=True)
class EvaluationPlan:
    """Everything that is asked, and of whom."""

    set_fingerprint: str
    tasks: tuple[TaskPlan, ...]
    models: Mapping[str, Mapping[str, object]]
    """By ``provider/name``, what else of a model decides its answers."""
    seed: int = 0
    _seats: dict[tuple[str, int, int, str], EvaluationSeat] = field(default_factory=dict)

    def seat(self, task: TaskPlan, draw: int, repeat: int, model: str) -> EvaluationSeat:
        """Return one model in one round of a task."""
        key = (task.name, draw, repeat, model)
        if key not in self._seats:
            config = seat_config(
                self.set_fingerprint, task.prompts.fingerprint, self.models[model], self.seed
            )
            self._seats[key] = EvaluationSeat(
                task.prompts.task.id, task.prompts.mode, draw, repeat, model, config
            )
        return self._seats[key]

    def seats(self) -> Iterator[tuple[EvaluationSeat, TaskPlan, Sequence[EvaluationItem]]]:
        """Yield every seat with its task and items, in the order of tasks, rounds and models."""
        for task in self.tasks:
            for draw, repeat, items in task.rounds():
                for model in self.models:
                    yield self.seat(task, draw, repeat, model), task, items

    @property
    def asked(self) -> int:
        """How many answers there are when everything is answered."""
        return sum(task.asked for task in self.tasks) * len(self.models)


def seat_config(set_fingerprint: str, prompts: str, model: Mapping[str, object], seed: int) -> str:
    """Return the fingerprint of what decides the answers of a seat, beside what names it.

    Args:
        set_fingerprint: of the items.
        prompts: fingerprint of the prompts of the task in its mode.
        model: what of the model decides its answers.
        seed: of the evaluation.
    """
    return fingerprint([set_fingerprint, prompts, dict(model), seed])
