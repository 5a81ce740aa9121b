"""Results of one's own corpus in the shape of the printed tables: models by task and dimension."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Literal

from outputs.evaluation.ahead import ahead_sentences
from outputs.evaluation.before_after import before_and_after
from outputs.evaluation.evaluated import SIGNS, Evaluated, ReferenceView
from outputs.evaluation.label_tables import label_tables
from outputs.evaluation.leaderboard import FLOORS, MARKED, said_of
from outputs.evaluation.result_lines import (
    OF_CASES,
    Drawn,
    Place,
    ResultLine,
    drawn_in,
    in_percent,
    is_human,
    lines_of,
    places_of,
    same_items,
    spread_of,
    task_title,
    views_of,
)
from outputs.evaluation.set_tables import set_tables
from outputs.result_tables.model import (
    ResultBlock,
    ResultColumn,
    ResultTable,
    TableRow,
)
from quality.evaluation.scores import ClusteredEstimate, Scores
from scenarios.plural import enumerated, plural

THESE = "these items"
_ABOUT = (
    "What models scored on these items, each table against the labels that it names. Floors are what is "
    "reached without reading."
)
_FLOORS = (
    "Floors: offline/majority always gives the commonest label, offline/random draws among the "
    "labels on offer; both are computed."
)
_BETTER = (
    "Intervals are of each model alone. Those of two may overlap although one is ahead, since what is "
    "hard for both cancels out in their difference: that is tested in pairs over cases, below where one "
    "evaluation asked several models, and in scores.json."
)
_NO = (ClusteredEstimate(None),) * 2
_METRICS: tuple[Literal["accuracy", "macro-F1"], ...] = ("accuracy", "macro-F1")


def own_results(
    evaluations: Sequence[Evaluated],
    *,
    among_people: Sequence[Evaluated] = (),
    by_label: bool = False,
) -> ResultBlock:
    """Return the tables of some evaluations; those of the same items stand in one table.

    Args:
        evaluations: at least one.
        among_people: figures of people, and of models on the very same items.
        by_label: whether the figures of every label have tables, too.
    """
    tables: list[ResultTable] = []
    for number, group in enumerate(same_items(evaluations), 1):
        tables += list(_tables(group, f"own-{number}"))
        tables += list(before_and_after(group, f"tuned-{number}"))
        tables += list(label_tables(group, f"labels-{number}")) if by_label else []
        tables += list(set_tables(group, f"sets-{number}", by_label=by_label))
    for number, one in enumerate(among_people, 1):
        tables += list(_tables([one], f"people-{number}", "on the items that people answered, too"))
    return ResultBlock(title="This corpus", about=_ABOUT, items=THESE, tables=tuple(tables))


def _tables(group: Sequence[Evaluated], name: str, what: str = "") -> Iterator[ResultTable]:
    """Yield one table, in which the rows of a model against each reference follow each other."""
    by_view = {view: list(lines_of(group, view)) for view in views_of(group)}
    lines = [line for mine in by_view.values() for line in mine]
    places = places_of(group, lines)
    drawn = drawn_in(score for line in lines for score in line.scores.values())
    modes = {line.contender.mode for line in lines if line.contender.mode}
    order = list(dict.fromkeys((line.name, line.contender.mode) for line in lines))
    rows = [
        _row(line, view, places, drawn, several=len(modes) > 1)
        for key in order
        for view, mine in by_view.items()
        for line in mine
        if (line.name, line.contender.mode) == key
    ]
    partly = {
        (line.name, line.contender.mode if len(modes) > 1 else "")
        for line in lines
        if any(score.tally.unasked for score in line.scores.values())
    }
    rows += _averages([row for row in rows if (row.name, row.mode) not in partly])
    floors = {view: list(_floors(mine, view, places)) for view, mine in by_view.items()}
    rows += [row for pair in zip(*floors.values(), strict=True) for row in pair]
    if rows:
        named = group[0].record.set
        said = [
            "accuracy and macro-F1",
            *(modes if len(modes) == 1 else ()),
            *([what] if what else ()),
        ]
        yield ResultTable(
            id=name,
            source=f"{named.name} ({named.scheme})",
            title=", ".join(said),
            unit="percent",
            columns=tuple(
                ResultColumn(task=task_title(group, task), dimension=dimension, metric=metric)
                for task, dimension in places
                for metric in _METRICS
            ),
            rows=tuple(rows),
            notes=tuple(_notes(group, by_view, places, drawn)),
            drawn=drawn,
        )


def _row(
    line: ResultLine,
    view: ReferenceView,
    places: Sequence[Place],
    drawn: Drawn,
    *,
    several: bool,
) -> TableRow:
    scores = [line.scores.get(place) for place in places]
    figures = [f for score in scores for f in ((score.accuracy, score.macro_f1) if score else _NO)]
    return TableRow(
        kind="human" if is_human(line.contender) else "model",
        name=line.name,
        mode=line.contender.mode if several else "",
        reference=view.name,
        values=tuple(in_percent(figure.value) for figure in figures),
        intervals=tuple(spread_of(figure, drawn) for figure in figures),
        counts=_counts(scores),
    )


def _counts(scores: Sequence[Scores | None]) -> tuple[int | None, ...]:
    """Return how many items the figures of a row rest on."""
    return tuple(None if score is None else score.items for score in scores for _ in _METRICS)


def _averages(rows: Sequence[TableRow]) -> list[TableRow]:
    """Return the mean of the models by mode and reference, where each of several has a figure.

    Those that were asked about a part of the items alone are not among them.

    Source: HIPO, Table 2.
    """
    means = []
    models = [row for row in rows if row.kind == "model"]
    for mode, reference in dict.fromkeys((row.mode, row.reference) for row in models):
        mine = [row for row in models if (row.mode, row.reference) == (mode, reference)]
        if len(mine) < 2:
            continue
        columns = zip(*(row.values for row in mine), strict=True)
        values = [None if None in c else fmean(v for v in c if v is not None) for c in columns]
        means.append(
            TableRow(
                kind="average",
                name=f"Average of the {len(mine)}",
                mode=mode,
                reference=reference,
                values=tuple(values),
            )
        )
    return means


def _floors(
    lines: Sequence[ResultLine], view: ReferenceView, places: Sequence[Place]
) -> Iterator[TableRow]:
    """Yield the floors on the largest number of items that any row rests on."""
    for name, shown in FLOORS.items():
        values: list[float | None] = []
        widest = [_widest(lines, place) for place in places]
        for score in widest:
            floor = (
                None if score is None else score.majority if name == "majority" else score.random
            )
            values += (
                [in_percent(floor.accuracy), in_percent(floor.macro_f1)] if floor else [None] * 2
            )
        yield TableRow(
            kind="floor",
            name=shown,
            reference=view.name,
            values=tuple(values),
            counts=_counts(widest),
        )


def _widest(lines: Sequence[ResultLine], place: Place) -> Scores | None:
    found = [line.scores[place] for line in lines if place in line.scores]
    return max(found, key=lambda score: score.items, default=None)


def _notes(
    group: Sequence[Evaluated],
    by_view: Mapping[ReferenceView, Sequence[ResultLine]],
    places: Sequence[Place],
    drawn: Drawn,
) -> Iterator[str]:
    yield f"{_FLOORS} {_BETTER}"
    if drawn == "cases":
        yield OF_CASES
    for one in group:
        of_it = f" ({one.record.name})" if len(group) > 1 else ""
        for task, dimension in places:
            if task in {known.id for known in one.tasks} and dimension in one.dimensions(task):
                ahead = " ".join(ahead_sentences(one, task, dimension))
                view = one.references(task, dimension)[0]
                if ahead:
                    yield f"{task_title(group, task)}, against {view.labels}{of_it}: {ahead}"
    yield from _remarks(group, by_view, places)
    marked = {
        mark
        for lines in by_view.values()
        for line in lines
        for mark in line.evaluated.marks.get(line.contender.model, ())
    }
    yield from (f"{SIGNS[mark]} {text}" for mark, text in MARKED.items() if mark in marked)


def _remarks(
    group: Sequence[Evaluated],
    by_view: Mapping[ReferenceView, Sequence[ResultLine]],
    places: Sequence[Place],
) -> Iterator[str]:
    """Yield what figures rest on and say of themselves; once for references of which it is the same."""
    several = len({line.contender.mode for lines in by_view.values() for line in lines}) > 1
    for place in places:
        found: dict[str, list[str]] = {}
        for view, lines in by_view.items():
            scores = {
                f"{line.name} · {line.contender.mode}" if several else line.name: line.scores[place]
                for line in lines
                if place in line.scores
            }
            rest = {
                name: (f"{plural(one.items, 'item')} of {plural(one.cases, 'case')}", *one.remarks)
                for name, one in scores.items()
            }
            if said := said_of(rest, len(scores)):
                found.setdefault("; ".join(said), []).append(view.labels)
        task, dimension = place
        for said_there, views in found.items():
            yield f"{task_title(group, task)}, {dimension}, {enumerated(views)}: {said_there}."
