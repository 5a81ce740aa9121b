"""Which dimensions of a scheme a task asks about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from prompts.tasks.model import DECLARED, GOAL, KEYWORDS, LIES, READERS, Options, Task
from prompts.tasks.option_order import distractors_of
from scenarios.errors import UsageError
from scenarios.located import Step, dotted
from scenarios.schemes.misleading import ruled_out_by_truth
from scenarios.schemes.model import Dimension, Scheme
from scenarios.spelling import suggestion

_AN = {"utterance": "an utterance", "dialogue": "a dialogue"}


@dataclass(frozen=True, slots=True)
class Misfit:
    """Something of a task that a scheme does not have."""

    place: tuple[Step, ...]
    """Where it stands in the file of the task."""
    found: str
    expected: str
    hint: str = ""


def asked_dimensions(task: Task, scheme: Scheme) -> tuple[Dimension, ...]:
    """Return what a task asks about, in its order.

    Raises:
        UsageError: the scheme lacks something that the task needs.
    """
    for misfit in misfits(task, scheme):
        raise UsageError(
            f"the task {task.id}: {dotted(misfit.place)}: found {misfit.found},"
            f" expected {misfit.expected}",
            misfit.hint,
        )
    dimensions = [d for asked in task.asks for d in _dimensions(task, scheme, asked)]
    return tuple({d.id: d for d in dimensions}.values())


def misfits(task: Task, scheme: Scheme) -> Iterator[Misfit]:
    """Yield what of a task a scheme does not have."""
    asked_wrong = [m for place, asked in enumerate(task.asks)
                   if (m := _misfit(task, scheme, place, asked)) is not None]  # fmt: skip
    yield from asked_wrong
    if not asked_wrong:
        asked = {d.id: d for name in task.asks for d in _dimensions(task, scheme, name)}
        for name, options in task.options.items():
            yield from _options_misfits(name, options, asked)


def _misfit(task: Task, scheme: Scheme, place: int, asked: str) -> Misfit | None:
    """Return what is wrong with one entry of ``asks``."""
    by_id = {dimension.id: dimension for dimension in scheme.dimensions}
    here = ("asks", place)
    if asked not in KEYWORDS:
        if asked not in by_id:
            hint = suggestion(asked, [*by_id, *KEYWORDS], listing="what can be asked for")
            return Misfit(here, repr(asked), f"a dimension of the scheme {scheme.name}", hint)
        if task.subject == "dialogue" and by_id[asked].level != "dialogue":
            expected = "a dimension of a dialogue"
            of = "a run of turns" if by_id[asked].level == "span" else "an utterance"
            hint = f"in the scheme {scheme.name} it is one of {of}: set subject: utterance"
            return Misfit(here, repr(asked), expected, hint)
        return None
    if _dimensions(task, scheme, asked):
        return None
    # What nobody declares, or readers alone label, need not be there as long as something is asked.
    rest = (name for name in task.asks if name in KEYWORDS or name in by_id)
    if asked != LIES and any(_dimensions(task, scheme, name) for name in rest):
        return None
    needs = {
        LIES: "rules a label out for whoever is truthful",
        DECLARED: f"has a dimension of {_AN[task.subject]} that speakers declare",
        READERS: f"has a dimension of {_AN[task.subject]} that readers alone label",
        GOAL: "assigns a goal to dialogues",
    }
    hint = f"the scheme {scheme.name} has none; use another task"
    return Misfit(here, repr(asked), f"a scheme that {needs[asked]}", hint)


def _options_misfits(
    name: str, options: Options, asked: Mapping[str, Dimension]
) -> Iterator[Misfit]:
    """Yield what is wrong with the options of one dimension."""
    here: tuple[Step, ...] = ("options", name)
    dimension = asked.get(name)
    if dimension is None:
        hint = suggestion(name, list(asked), listing="what is asked for")
        yield Misfit(here, repr(name), "a dimension that the task asks for", hint)
        return
    if dimension.measurement != "nominal":
        found = f"a dimension that is {dimension.measurement}"
        yield Misfit(here, found, "a nominal one, of which one label is right")
        return
    unknown = False
    for field, groups in (("within", options.within), ("apart", options.apart)):
        for number, group in enumerate(groups):
            for place, label in enumerate(group):
                if label not in dimension.values:
                    unknown = True
                    hint = suggestion(label, dimension.values, listing="labels")
                    at = (*here, field, number, place)
                    yield Misfit(at, repr(label), f"a label of {name}", hint)
    conditions = {name for label in dimension.labels for name in label.applies}
    for field, names in (("same_for", options.same_for), ("other_for", options.other_for)):
        for place, condition in enumerate(names):
            if condition not in conditions:
                unknown = True
                hint = suggestion(condition, sorted(conditions), listing="conditions")
                expected = f"a condition that labels of {name} have under 'for'"
                yield Misfit((*here, field, place), repr(condition), expected, hint)
    few = [
        (label, count)
        for label in dimension.values
        if (count := len(distractors_of(dimension, options, label))) < options.distractors
    ]
    if few and not unknown:
        label, count = few[0]
        found = f"{options.distractors} distractors, and {label!r} has {count}"
        at = (*here, "distractors")
        yield Misfit(
            at, found, "as many as every label has beside it", "ask for fewer, or widen within"
        )


def _dimensions(task: Task, scheme: Scheme, asked: str) -> tuple[Dimension, ...]:
    if asked == DECLARED:
        declared = (d for d in scheme.declared if d.level == task.subject)
        return tuple(d for d in declared if d.id != scheme.assigned)
    if asked == GOAL:
        return (scheme.goal,) if scheme.assigned else ()
    if asked == READERS:
        return scheme.read_dimensions(task.subject)
    if asked == LIES:
        first = next(ruled_out_by_truth(scheme), None)
        return () if first is None else (scheme.dimension(first[0]),)
    return (scheme.dimension(asked),)
