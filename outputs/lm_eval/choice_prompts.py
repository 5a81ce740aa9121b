"""The prompt of each dimension of a benchmark item, for harnesses that weigh the labels of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from outputs.dataset.columns import Row
from outputs.dataset.manifest import Column
from outputs.kinds.aspects import TASK_OF, Aspect
from prompts.environment import Templates
from prompts.tasks.asked import asked_dimensions, misfits
from prompts.tasks.items import TaskItem
from prompts.tasks.prompts import TaskPrompts
from prompts.tasks.registry import load_task
from scenarios.fingerprint import fingerprint
from scenarios.schemes.model import Dimension, Scheme
from scenarios.terms import LabelValue


def prompt_column(dimension: str) -> str:
    """Return the name of the column that holds the user message about a dimension."""
    return f"prompt_{dimension}"


class ChoicePrompts:
    """One user message per dimension that has labels to choose from, zero-shot.

    The system message is the same for all items of an aspect and dimension, where all scenes list
    their people or none does, and stands in the task files.
    """

    def __init__(self, scheme: Scheme, aspects: Sequence[Aspect], *, listed: bool = False) -> None:
        """Render the system messages; there are none of a task that asks for what a scheme lacks.

        Args:
            scheme: whose labels are asked for.
            aspects: what may be seen of a dialogue.
            listed: whether scenes of the set list their people. Others may be beside them where a
                scheme is made for one who asks and one who answers.
        """
        self._prompts: dict[Aspect, dict[bool, TaskPrompts]] = {}
        self.asked: dict[Aspect, tuple[Dimension, ...]] = {}
        templates = Templates()
        ways = (False, True) if listed and not scheme.is_for_any_people else (listed,)
        for aspect in aspects:
            task = load_task(TASK_OF[aspect])
            if any(misfits(task, scheme)):
                continue
            asked = asked_dimensions(task, scheme)
            single = tuple(d for d in asked if d.measurement in ("nominal", "ordinal"))
            own = {"questions": "per-dimension", "asks": tuple(d.id for d in single)}
            asking = task.model_copy(update=own)
            self._prompts[aspect] = {
                way: TaskPrompts(templates, scheme, asking, listed=way) for way in ways
            }
            self.asked[aspect] = single
        names = dict.fromkeys(d.id for asked in self.asked.values() for d in asked)
        self.columns: tuple[Column, ...] = tuple(
            Column(prompt_column(name), "text", f"User message that asks for {name} alone.")
            for name in names
        )
        self._nothing: Row = dict.fromkeys(column.name for column in self.columns)
        self.fingerprint: str = fingerprint(
            [
                prompts.fingerprint
                for by_way in self._prompts.values()
                for prompts in by_way.values()
            ]
        )

    def of(self, aspect: Aspect, item: TaskItem, _right: Mapping[str, LabelValue], /) -> Row:
        """Return the columns of one item; what is right stands in the label columns."""
        row = self._nothing.copy()
        if aspect in self._prompts:
            prompts = next(iter(self._prompts[aspect].values()))  # all ask about any scene
            for asked in prompts.questions(item):
                _, user = asked.question.messages
                row[prompt_column(asked.dimensions[0])] = user.content
        return row

    @cached_property
    def systems(self) -> Mapping[tuple[Aspect, str], Mapping[bool, str]]:
        """The system messages by aspect and dimension, then by whether a scene lists its people."""
        found: dict[tuple[Aspect, str], dict[bool, str]] = {}
        for aspect, by_way in self._prompts.items():
            for way, prompts in by_way.items():
                for part in prompts.parts:
                    found.setdefault((aspect, part.asked[0]), {})[way] = part.prompt.system
        return found
