"""The items of one set, run or collection of lines, and which of them a task is put to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

from prompts.tasks.items import TaskItem
from prompts.tasks.model import LIES, Task
from quality.evaluation.evaluation_record import SetKind
from quality.evaluation.item import EvaluationItem, ItemKind, Knowledge
from scenarios.errors import UsageError
from scenarios.fingerprint import fingerprint
from scenarios.schemes.model import Scheme

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_NEEDED: Mapping[Knowledge, str] = {
    "question": "the question that a line answers",
    "history": "what was said before",
    "fact": "the private fact",
    "claims": "the sentences that the fact makes false",
}
_NAMED: Mapping[ItemKind, str] = {
    "utterance": "utterances",
    "cumulative": "utterances after all that was said before",
    "conversation": "whole conversations",
    "swap": "lines beside one fact and another",
    "gold": "gold lines",
}
_SWAPPED: Final = (
    "lines are swapped of which it is written down what they claim: fixed ones of --openings by-goal,"
    " and authored ones; take a run that has some, or another task"
)


@dataclass(frozen=True)
class ItemSet:
    """Items that belong together, all of one scheme."""

    name: str
    kind: SetKind
    scheme: Scheme
    items: tuple[EvaluationItem, ...]
    judges: tuple[str, ...] = ()
    """``provider/name`` of the models whose labels decided what is agreed."""
    recipe: str | None = None
    openings: Mapping[str, int] = field(default_factory=dict)
    """Dialogues by their fixed lines, where that is known."""
    notes: tuple[str, ...] = ()
    """What its user should know before paying for answers, a sentence each."""
    canary: str = ""
    """Stands beside every item in what is written of it, where nobody may learn from the items."""

    @cached_property
    def fingerprint(self) -> str:
        """Content hash of the items with their references, whatever order they stand in."""
        return fingerprint(
            [
                self.scheme.fingerprint,
                sorted(
                    fingerprint([_content(item.asked), item.references, item.case, item.scenario])
                    for item in self.items
                ),
            ]
        )

    @cached_property
    def generators(self) -> tuple[str, ...]:
        """The models that wrote the items."""
        return tuple(sorted({item.generator for item in self.items if item.generator}))

    @property
    def offline(self) -> bool:
        """Whether any item was written by the built-in rules instead of a language model."""
        return any(name.startswith("offline/") for name in self.generators)

    def for_task(self, task: Task) -> tuple[EvaluationItem, ...]:
        """Return the items that a task is put to.

        Raises:
            UsageError: there are none, or what the task shows is not known of them.
        """
        kind = self._kind_for(task)
        items = [item for item in self.items if item.kind == kind]
        needed = _shown_by(task)
        if kind == "swap" and "fact" in needed:
            # Each line is there with no fact, too, for tasks that show none.
            items = [item for item in items if "fact" in item.known]
        for what in needed:
            if any(what not in item.known for item in items):
                raise UsageError(
                    f"the task {task.id} shows {_NEEDED[what]}, which {self.name} does not hold",
                    "evaluate the run itself, or a set that was exported anew"
                    if self.kind in ("benchmark", "swap")
                    else "take another task",
                )
        return tuple(items)

    def _kind_for(self, task: Task) -> ItemKind:
        """Return of which kind the items are that a task is put to."""
        there = Counter(item.kind for item in self.items)
        wanted = [kind for kind in _wanted_by(task) if there[kind]]
        if not wanted:
            kinds = ", ".join(_NAMED[kind] for kind in there) or "nothing"
            raise UsageError(
                f"{self.name} holds no {_NAMED[_wanted_by(task)[0]]}, which the task {task.id} is"
                f" about; it holds {kinds}",
                _SWAPPED
                if _wanted_by(task)[0] == "swap"
                else "take another task or another set: hipo export --to benchmark, or --to swap",
            )
        return wanted[0]


def _content(asked: TaskItem) -> dict[str, object]:
    """Return an item as plain data, without fields of later versions of hipo that it does not use."""
    plain = _plain(asked, "names", "listed", "facts")
    plain["scene"] = scene = _plain(asked.scene, "people")
    if "people" in scene:
        scene["people"] = [_plain(one) for one in asked.scene.people]
    if "facts" in plain:
        plain["facts"] = [_plain(one, "others") for one in asked.facts]
    if asked.fact is not None:
        plain["fact"] = _plain(asked.fact, "owner", "others")
    return plain


def _plain(record: DataclassInstance, *left_out_if_empty: str) -> dict[str, object]:
    """Return the fields of a record by name, with their very values: copies would take most time."""
    values = ((name, getattr(record, name)) for name in record.__dataclass_fields__)
    return {name: value for name, value in values if value or name not in left_out_if_empty}


def _wanted_by(task: Task) -> Sequence[ItemKind]:
    """Return of which kind the items of a task can be, the best first."""
    if task.subject == "dialogue":
        return ("conversation",)
    if task.asks == (LIES,):
        if task.shows_fact and task.sees.history == "none":
            # Figures of lines beside their own fact alone would pass for those of swapping.
            return ("swap", "gold")
        return ("swap", "gold", "cumulative", "utterance")
    if task.sees.history == "none":
        # Where lines stand with all that was said before, the task does not show it.
        return ("utterance", "cumulative", "gold", "swap")
    return ("cumulative", "gold", "swap")


def _shown_by(task: Task) -> list[Knowledge]:
    """Return what has to be known of an item to show it."""
    needed: list[Knowledge] = []
    if task.subject == "utterance":
        if task.sees.history != "none":
            needed.append("history")
        elif task.sees.standing_question:
            needed.append("question")
    if task.shows_fact:
        needed.append("fact")
    if task.sees.fact == "claims":
        needed.append("claims")
    return needed
