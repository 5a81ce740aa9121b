"""The prompt of each dimension of a benchmark item, for harnesses that weigh the labels of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from outputs.aspects import TASK_OF, Aspect
from outputs.dataset.columns import Row
from outputs.dataset.manifest import Column
from prompts.environment import Templates
from prompts.tasks.asked import asked_dimensions, misfits
from prompts.tasks.items import SceneView, TaskItem
from prompts.tasks.prompts import TaskPrompts
from prompts.tasks.registry import load_task
from scenarios.dialogue import History
from scenarios.fingerprint import fingerprint
from scenarios.schemes.model import Dimension, Scheme
from scenarios.terms import LabelValue

_ANY_SCENE = SceneView("Two talk.", "a", "A.", "b", "B.", "en (English)")


def prompt_column(dimension: str) -> str:
    """Return the name of the column that holds the user message about a dimension."""
    return f"prompt_{dimension}"


class ChoicePrompts:
    """One user message per dimension that has labels to choose from, zero-shot.

    The system message is the same for all items of an aspect and dimension, and stands in the task
    files.
    """

    def __init__(self, scheme: Scheme, aspects: Sequence[Aspect]) -> None:
        """Render the system messages; there are none of a task that asks for what a scheme lacks."""
        self._prompts: dict[Aspect, TaskPrompts] = {}
        self.asked: dict[Aspect, tuple[Dimension, ...]] = {}
        templates = Templates()
        for aspect in aspects:
            task = load_task(TASK_OF[aspect])
            if any(misfits(task, scheme)):
                continue
            asked = asked_dimensions(task, scheme)
            single = tuple(d for d in asked if d.measurement in ("nominal", "ordinal"))
            own = {"questions": "per-dimension", "asks": tuple(d.id for d in single)}
            self._prompts[aspect] = TaskPrompts(templates, scheme, task.model_copy(update=own))
            self.asked[aspect] = single
        names = dict.fromkeys(d.id for asked in self.asked.values() for d in asked)
        self.columns: tuple[Column, ...] = tuple(
            Column(prompt_column(name), "text", f"User message that asks for {name} alone.")
            for name in names
        )
        self._nothing: Row = dict.fromkeys(column.name for column in self.columns)
        self.fingerprint: str = fingerprint(
            [prompts.fingerprint for prompts in self._prompts.values()]
        )

    def of(self, aspect: Aspect, item: TaskItem, _right: Mapping[str, LabelValue], /) -> Row:
        """Return the columns of one item; what is right stands in the label columns."""
        row = self._nothing.copy()
        if aspect in self._prompts:
            for asked in self._prompts[aspect].questions(item):
                _, user = asked.question.messages
                row[prompt_column(asked.dimensions[0])] = user.content
        return row

    @cached_property
    def systems(self) -> Mapping[tuple[Aspect, str], str]:
        """The system message by aspect and dimension."""
        once: History = (("initiator", "Why?"), ("responder", "So."))
        found: dict[tuple[Aspect, str], str] = {}
        for aspect, prompts in self._prompts.items():
            of_line = prompts.task.subject == "utterance"
            item = TaskItem("any", _ANY_SCENE, once, *((1, 0) if of_line else (None, None)))
            for asked in prompts.questions(item):
                found[aspect, asked.dimensions[0]] = asked.question.messages[0].content
        return found
