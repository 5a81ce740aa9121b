"""Models before and after training, in the shape of the printed Table 3."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from outputs.evaluation.evaluated import Evaluated
from outputs.evaluation.result_lines import (
    Drawn,
    Place,
    ResultLine,
    drawn_in,
    in_percent,
    lines_of,
    places_of,
    spread_of,
    task_title,
    views_of,
)
from outputs.result_tables.model import ResultColumn, ResultTable, TableRow


def before_and_after(group: Sequence[Evaluated], name: str) -> Iterator[ResultTable]:
    """Yield base models beside what training made of them, for each kind of reference.

    Not where one of the two was asked about fewer items: an arrow would say which these are.

    Source: HIPO, Table 3.
    """
    for view in views_of(group):
        lines = list(lines_of(group, view))
        pairs = [
            (base, line)
            for line in lines
            if (base := _base_of(line, lines)) is not None and _asked_alike(base, line)
        ]
        if not pairs:
            continue
        places = places_of(group, [line for pair in pairs for line in pair])
        drawn = drawn_in(s for pair in pairs for line in pair for s in line.scores.values())
        several = len({line.contender.mode for _, line in pairs}) > 1
        rows: list[TableRow] = []
        for base, line in pairs:
            untuned = _named(base, several=several)
            if untuned not in {row.name for row in rows}:
                rows.append(
                    TableRow(
                        kind="model",
                        name=untuned,
                        reference=view.name,
                        values=_accuracies(base, places),
                        intervals=_spreads(base, places, drawn),
                    )
                )
            rows.append(
                TableRow(
                    kind="tuned",
                    name=_named(line, several=several),
                    base=untuned,
                    reference=view.name,
                    values=_accuracies(line, places),
                    intervals=_spreads(line, places, drawn),
                )
            )
        yield ResultTable(
            id=f"{name}-{_plain(view.name)}",
            source=group[0].record.set.name,
            title=f"before and after training, against {view.labels}",
            unit="percent",
            columns=tuple(
                ResultColumn(task=task_title(group, task), dimension=dimension, metric="accuracy")
                for task, dimension in places
            ),
            rows=tuple(rows),
            notes=("An arrow is no test: scores.json has the difference of each pair with its p.",),
            drawn=drawn,
        )


def _base_of(line: ResultLine, lines: Sequence[ResultLine]) -> ResultLine | None:
    """Return the row of the model that an adapter was trained on, asked in the same mode."""
    models = {one.name: one for one in line.evaluated.record.models}
    adapter = models.get(line.contender.model)
    base = adapter.base if adapter is not None else None
    if base is None:
        return None
    return next(
        (
            one
            for one in lines
            if one.contender.mode == line.contender.mode
            and is_same_model(one.evaluated.whole_name(one.contender.model), base)
        ),
        None,
    )


def _asked_alike(base: ResultLine, line: ResultLine) -> bool:
    """Return whether as many items are left to be asked about, wherever both have a figure."""
    pairs = [(base.scores[x], line.scores[x]) for x in base.scores.keys() & line.scores.keys()]
    return all(one.tally.unasked == other.tally.unasked for one, other in pairs)


def is_same_model(name: str, base: str) -> bool:
    """Return whether an evaluated model is what an adapter names as its base.

    Args:
        name: ``provider/name``; of models of this machine, ``hf/`` and their path or id.
        base: a path, an id, or a name like the other. A ``.gguf`` file and the folder that holds
            it are one model.
    """
    one, other = (Path(os.path.normpath(place.removeprefix("hf/"))) for place in (name, base))
    return one == other or _lies_in(one, other) or _lies_in(other, one)


def _lies_in(file: Path, folder: Path) -> bool:
    return file.suffix == ".gguf" and folder == file.parent


def _named(line: ResultLine, *, several: bool) -> str:
    return f"{line.name} ({line.contender.mode})" if several else line.name


def _accuracies(line: ResultLine, places: Sequence[Place]) -> tuple[float | None, ...]:
    return tuple(
        in_percent(line.scores[place].accuracy.value) if place in line.scores else None
        for place in places
    )


def _spreads(
    line: ResultLine, places: Sequence[Place], drawn: Drawn
) -> tuple[tuple[float, float] | None, ...]:
    return tuple(
        spread_of(line.scores[place].accuracy, drawn) if place in line.scores else None
        for place in places
    )


def _plain(name: str) -> str:
    return name.replace(", ", "-")
