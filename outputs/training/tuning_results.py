"""Base and tuned model on unseen items: a table in the shape of the paper's on fine-tuning."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from outputs.evaluation.ahead import ahead_sentences
from outputs.evaluation.evaluated import REFERENCES, Contender, Evaluated, ReferenceView
from outputs.evaluation.model_names import names_in
from outputs.evaluation.result_lines import in_percent
from outputs.result_tables.model import ResultBlock, ResultColumn, ResultTable, TableRow
from quality.evaluation.scores import Scores
from scenarios.errors import UsageError
from scenarios.plural import plural

RESULTS: Final = "results.md"
_TEMPLATES = (
    "Template recognition: rows or items were written by the built-in rules, so that no figure here "
    "says that training helps."
)
_OVERLAP = (
    "Some of these items are of scenarios that were trained on: nothing here is about unseen ones."
)
_ENOUGH = 20
"""Scenarios under which nothing is said about new ones."""


def check_unseen(
    learnt: Collection[str], asked: Iterable[str], *, allowed: bool, what: str = "scenario"
) -> int:
    """Return how many scenarios of the items were trained on.

    Args:
        learnt: scenarios of the training split.
        asked: the scenario of every item.
        allowed: whether there may be any.
        what: these are, where it is something else that no two splits share.

    Raises:
        UsageError: there are some, and none is allowed.
    """
    common = sorted(set(learnt) & set(asked))
    if common and not allowed:
        shown = ", ".join(common[:3]) + (", ..." if len(common) > 3 else "")
        raise UsageError(
            f"{plural(len(common), what)} of the items {'are' if common[1:] else 'is'} in the "
            f"training split: {shown}",
            "evaluate on the test split of a set of the same runs, with the same --splits, --split-by and "
            "--seed (SET/jsonl/test.jsonl); --allow-overlap does it anyway",
        )
    return len(common)


def tuning_results(
    evaluated: Evaluated, base: str, tuned: str, *, offline_rows: bool, overlap: bool
) -> ResultBlock:
    """Return the figures of both models, beside what is reached without reading.

    Args:
        evaluated: the evaluation that asked both.
        base: the name under which it asked the base model.
        tuned: that of the tuned one.
        offline_rows: whether rules wrote rows that were trained on.
        overlap: whether scenarios of the items were trained on.

    Source: HIPO, Table 3.
    """
    names = names_in(evaluated.record)
    base, tuned = names.get(base, base), names.get(tuned, tuned)
    evaluated = evaluated.shown
    warnings = []
    if offline_rows or evaluated.record.set.offline:
        warnings.append(_TEMPLATES)
    if overlap:
        warnings.append(_OVERLAP)
    views = dict.fromkeys(
        view
        for task in evaluated.tasks
        for dimension in evaluated.dimensions(task.id)
        for view in evaluated.references(task.id, dimension)
    )
    return ResultBlock(
        title="Base and tuned model",
        about=f"Both were asked the same items of {evaluated.record.set.name}.",
        items="own items",
        warning=" ".join(warnings),
        tables=tuple(_table(evaluated, view, base, tuned) for view in views),
    )


def _table(evaluated: Evaluated, view: ReferenceView, base: str, tuned: str) -> ResultTable:
    """Return one table: what is held against one kind of right labels."""
    places = [
        (task.id, dimension)
        for task in evaluated.tasks
        for dimension in evaluated.dimensions(task.id)
        if view in evaluated.references(task.id, dimension)
    ]
    mode = evaluated.modes[0]
    both = [
        [evaluated.score(*place, view, Contender(model, mode)) for place in places]
        for model in (base, tuned)
    ]
    floors = both[1]
    rows = (
        TableRow(kind="model", name=base, values=_values(both[0])),
        TableRow(kind="tuned", name=tuned, base=base, values=_values(both[1])),
        TableRow(kind="floor", name="offline/majority", values=_floors(floors, "majority")),
        TableRow(kind="floor", name="offline/random", values=_floors(floors, "random")),
    )
    return ResultTable(
        id=f"tuned-{view.name.replace(', ', '-')}",
        source="Own evaluation",
        title=f"against {view.name} labels ({REFERENCES.get(view.reference, 'as named')})",
        unit="percent",
        columns=tuple(
            ResultColumn(task=task, dimension=dimension, metric=metric)
            for task, dimension in places
            for metric in ("accuracy", "macro-F1")
        ),
        rows=rows,
        notes=tuple(_notes(evaluated, view, places, both)),
    )


def _values(scores: Iterable[Scores | None]) -> tuple[float | None, ...]:
    """Return accuracy and macro-F1 of each, in per cent."""
    return tuple(
        in_percent(None if one is None else figure)
        for one in scores
        for figure in ((None, None) if one is None else (one.accuracy.value, one.macro_f1.value))
    )


def _floors(scores: Iterable[Scores | None], name: str) -> tuple[float | None, ...]:
    values: list[float | None] = []
    for one in scores:
        if one is None:
            values += [None, None]
            continue
        floor = one.majority if name == "majority" else one.random
        values += [in_percent(floor.accuracy), in_percent(floor.macro_f1)]
    return tuple(values)


def _notes(
    evaluated: Evaluated,
    view: ReferenceView,
    places: list[tuple[str, str]],
    both: list[list[Scores | None]],
) -> Iterable[str]:
    """Say of how many items the figures are, what could not be read, and who is ahead."""
    known = [one for scores in both for one in scores if one is not None]
    if known:
        most = max(known, key=lambda one: one.items)
        of = f"{plural(most.items, 'item')} of {plural(most.scenarios, 'scenario')}"
        few = ", too few for a claim about new scenarios" if most.scenarios < _ENOUGH else ""
        yield f"{of}{few}."
    for place, of_base, of_tuned in zip(places, *both, strict=True):
        for name, one in (("base", of_base), ("tuned model", of_tuned)):
            if one is not None and (unread := _unread(one)):
                yield (
                    f"{place[0]}, {place[1]}: {unread} of {plural(one.n, 'answer')} of the {name} could not "
                    "be read, and count as wrong."
                )
    if places and view == evaluated.references(*places[0])[0]:
        for place in places:
            yield from (f"{place[0]}: {said}" for said in ahead_sentences(evaluated, *place))


def _unread(scores: Scores) -> int:
    tally = scores.tally
    return tally.unreadable + tally.unknown_labels + tally.refused
