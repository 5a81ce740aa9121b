"""Which dimensions of a scheme a task asks about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from prompts.tasks.model import DECLARED, GOAL, KEYWORDS, LIES, READERS, Task
from scenarios.errors import UsageError
from scenarios.schemes.misleading import ruled_out_by_truth
from scenarios.schemes.model import Dimension, Scheme
from scenarios.spelling import suggestion

_AN = {"utterance": "an utterance", "dialogue": "a dialogue"}


@dataclass(frozen=True, slots=True)
class Misfit:
    """Something that a task asks for and a scheme does not have."""

    place: int
    """Its place in the task's ``asks``."""
    found: str
    expected: str
    hint: str


def asked_dimensions(task: Task, scheme: Scheme) -> tuple[Dimension, ...]:
    """Return what a task asks about, in its order.

    Raises:
        UsageError: the scheme lacks something that the task asks for.
    """
    for misfit in misfits(task, scheme):
        raise UsageError(
            f"the task {task.id} asks for {misfit.found}, and needs {misfit.expected}", misfit.hint
        )
    dimensions = [d for asked in task.asks for d in _dimensions(task, scheme, asked)]
    return tuple({d.id: d for d in dimensions}.values())


def misfits(task: Task, scheme: Scheme) -> Iterator[Misfit]:
    """Yield what of ``asks`` a scheme does not have."""
    by_id = {dimension.id: dimension for dimension in scheme.dimensions}
    for place, asked in enumerate(task.asks):
        if asked not in KEYWORDS and asked not in by_id:
            hint = suggestion(asked, [*by_id, *KEYWORDS], listing="what can be asked for")
            yield Misfit(place, repr(asked), f"a dimension of the scheme {scheme.name}", hint)
        elif asked not in KEYWORDS and (task.subject, by_id[asked].level) == (
            "dialogue",
            "utterance",
        ):
            expected = (
                f"a dimension of a dialogue: in the scheme {scheme.name} it is one of an utterance"
            )
            yield Misfit(place, repr(asked), expected, "set subject: utterance, or ask for another")
        elif asked == LIES and not _dimensions(task, scheme, asked):
            expected = "a scheme that rules a label out for whoever is truthful"
            hint = f"the scheme {scheme.name} has no such contradiction"
            yield Misfit(place, repr(asked), expected, hint)
        elif asked == DECLARED and not _dimensions(task, scheme, asked):
            expected = f"a scheme in which speakers declare something of {_AN[task.subject]}"
            hint = f"the scheme {scheme.name} has no such dimension; use another task"
            yield Misfit(place, repr(asked), expected, hint)
        elif asked == READERS and len(task.asks) == 1 and not _dimensions(task, scheme, asked):
            expected = f"a scheme in which readers label something of {_AN[task.subject]}"
            hint = f"the scheme {scheme.name} has no such dimension; use another task"
            yield Misfit(place, repr(asked), expected, hint)


def _dimensions(task: Task, scheme: Scheme, asked: str) -> tuple[Dimension, ...]:
    if asked == DECLARED:
        declared = (d for d in scheme.declared if d.level == task.subject)
        return tuple(d for d in declared if d.id != scheme.assigned)
    if asked == GOAL:
        return (scheme.goal,)
    if asked == READERS:
        return scheme.read_dimensions(task.subject)
    if asked == LIES:
        first = next(ruled_out_by_truth(scheme), None)
        return () if first is None else (scheme.dimension(first[0]),)
    return (scheme.dimension(asked),)
