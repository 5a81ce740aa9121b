"""What models are sent for a benchmark item, ready to be sent by anybody: messages and options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from outputs.contamination.comparable import OPTIONS, PROMPTS, TARGET
from outputs.dataset.columns import Row
from outputs.dataset.manifest import Column
from outputs.formats.shape import message_list
from outputs.kinds.aspects import TASK_OF, Aspect
from outputs.kinds.export_kind import PROMPT_MODES
from prompts.environment import Templates
from prompts.tasks.answers import labels_answer
from prompts.tasks.asked import misfits
from prompts.tasks.items import TaskItem
from prompts.tasks.modes import Mode
from prompts.tasks.part import TaskQuestion
from prompts.tasks.prompts import TaskPrompts
from prompts.tasks.registry import load_task
from scenarios.dialogue import TacticLabel
from scenarios.fingerprint import fingerprint
from scenarios.schemes.dimension import ROLE
from scenarios.schemes.model import Dimension, Scheme
from scenarios.terms import LabelValue, RoleKey

_MESSAGES: Final[Mapping[Mode, str]] = {
    "zero-shot": "What a model is sent: system and user message of the task of the row.",
    "cot": "The same where a reason is to be given before each label.",
}
_TARGET: Final = Column(
    TARGET,
    "text",
    "The right answer, as JSON, in the form that the messages ask for; null: it has no label.",
)


def options_column(dimension: str) -> str:
    """Return the name of the column that holds the options of a dimension as they are shown."""
    return f"{OPTIONS}{dimension}"


class BenchmarkPrompts:
    """The prompts of benchmark items by aspect, in some modes; the private fact is never shown."""

    def __init__(
        self, scheme: Scheme, aspects: Sequence[Aspect], modes: Sequence[Mode] = PROMPT_MODES
    ) -> None:
        """Render the system messages; there are none of a task that asks for what a scheme lacks."""
        self._scheme = scheme
        templates = Templates()
        tasks = {aspect: load_task(TASK_OF[aspect]) for aspect in aspects}
        self._prompts: dict[Aspect, dict[Mode, TaskPrompts]] = {
            aspect: {mode: TaskPrompts(templates, scheme, task, mode=mode) for mode in modes}
            for aspect, task in tasks.items()
            if not any(misfits(task, scheme))
        }
        goal = (scheme.goal,) if scheme.assigned else ()
        self._dimensions = _listed((*scheme.utterance_dimensions, *goal)) if modes else ()
        self.columns: tuple[Column, ...] = (
            *(
                Column(
                    options_column(d.id),
                    "texts",
                    f"Labels of {d.id} in the order in which the messages list them; null: not asked.",
                )
                for d in self._dimensions
            ),
            *(Column(PROMPTS[mode], "messages", _MESSAGES[mode]) for mode in modes),
            *((_TARGET,) if modes else ()),
        )
        self._nothing: Row = dict.fromkeys(column.name for column in self.columns)
        self.fingerprint: str = fingerprint(
            [
                prompts.fingerprint
                for by_mode in self._prompts.values()
                for prompts in by_mode.values()
            ]
        )

    def of(self, aspect: Aspect, item: TaskItem, right: Mapping[str, LabelValue], /) -> Row:
        """Return the columns of one item; all prompts of an item list the same options.

        Args:
            aspect: what is seen.
            item: what is asked about.
            right: the labels it has, by dimension.
        """
        row = self._nothing.copy()
        asked: TaskQuestion | None = None
        for mode, prompts in self._prompts.get(aspect, {}).items():
            questions = prompts.questions(item)
            if not questions:
                continue  # what the task asks concerns nobody who says such words
            (asked,) = questions
            row[PROMPTS[mode]] = message_list(asked.question.messages)
        if asked is not None:
            row[TARGET] = self._target(asked, right, item.role)
            for dimension in self._dimensions:
                if dimension.id in asked.options:
                    row[options_column(dimension.id)] = asked.options[dimension.id]
        return row

    def _target(
        self, asked: TaskQuestion, right: Mapping[str, LabelValue], role: RoleKey
    ) -> str | None:
        """Return the right answer to a question about words of a role.

        Null in it is what does not arise beside the other labels and who speaks; what nobody settled, or
        settled on a label that nobody in this role has, is not in it.
        """
        fitting = {x: value for x, value in right.items() if _is_listed(asked, x, value)}
        labels = [TacticLabel(x, fitting[x]) for x in asked.dimensions if x in fitting]
        others = {**fitting, ROLE: role}
        known = [
            x
            for x in asked.dimensions
            if x in fitting or not self._scheme.dimension(x).is_asked(others)
        ]
        return labels_answer(labels, asked=known) if labels else None


def _is_listed(asked: TaskQuestion, dimension: str, value: LabelValue) -> bool:
    """Return whether a question lists a label, or several; of numbers, and what it does not ask, it is."""
    listed = asked.options.get(dimension)
    given = {value} if isinstance(value, str | float) else {*value}
    return listed is None or given <= {*listed}


def _listed(dimensions: Iterable[Dimension]) -> tuple[Dimension, ...]:
    """Return the dimensions that have labels; numbers have none to list."""
    return tuple(dimension for dimension in dimensions if dimension.values)
