"""Accuracy of evaluated models as more of a dialogue is shown to them."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from outputs.plots.lines import Series, Spot, line_chart
from outputs.report.page import Grid, Plot, Remark, ReportSection, Table
from outputs.report.wording import count, dimension_title, percent
from scenarios.errors import InputError, Problem
from scenarios.schemes.model import Scheme
from scenarios.text_file import read_text

COLUMNS = ("model", "dimension", "turns", "correct", "items")
"""Columns of a file of results; more may be there."""


@dataclass(frozen=True, slots=True)
class CumulativeScore:
    """How often one model was right when it saw a dialogue up to one of its turns."""

    model: str
    dimension: str
    turns: int
    """Improvised exchanges it saw."""
    correct: int
    items: int


def read_scores(path: Path, scheme: Scheme) -> tuple[CumulativeScore, ...]:
    """Read results of the cumulative aspect from a CSV file with the columns ``COLUMNS``.

    Raises:
        InputError: the file cannot be read, a column is missing, or a line makes no sense.
    """
    reader = csv.DictReader(StringIO(read_text(path), newline=""))
    try:
        missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
        if missing:
            found = ", ".join(reader.fieldnames or ()) or "nothing"
            raise InputError([Problem(str(path), 1, missing[0], found, ", ".join(COLUMNS))])
        rows = [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        problem = Problem(str(path), reader.line_num + 1, "", str(error), "a row of a CSV file")
        raise InputError([problem]) from error
    dimensions = {dimension.id for dimension in scheme.dimensions}
    return tuple(_score(str(path), line, row, dimensions) for line, row in rows)


def _score(file: str, line: int, row: dict[str, str], dimensions: set[str]) -> CumulativeScore:
    numbers: dict[str, int] = {}
    for name, least in (("turns", 1), ("correct", 0), ("items", 1)):
        text = row[name] or ""
        if not text.strip().isdecimal() or int(text) < least:
            expected = f"a whole number of at least {least}"
            raise InputError([Problem(file, line, name, repr(text), expected)])
        numbers[name] = int(text)
    if numbers["correct"] > numbers["items"]:
        expected = f"at most the {numbers['items']} items"
        raise InputError([Problem(file, line, "correct", str(numbers["correct"]), expected)])
    if row["dimension"] not in dimensions:
        expected = f"one of: {', '.join(sorted(dimensions))}"
        raise InputError([Problem(file, line, "dimension", repr(row["dimension"]), expected)])
    return CumulativeScore(row["model"], row["dimension"], **numbers)


def cumulative_section(
    scores: Sequence[CumulativeScore], scheme: Scheme, run: str
) -> ReportSection:
    """Return the curves, or how to get there.

    Source: HIPO, Figure 5 (its values are printed nowhere, so that none stand beside these).
    """
    lead = (
        "How often an evaluated model names the right label when it is shown a dialogue up to its "
        "first, second, … answer."
    )
    if not scores:
        text = (
            "No benchmark results were given. Export the benchmark items, have a model label them, "
            f"and name a CSV file with the columns {', '.join(COLUMNS)}:"
        )
        note = Remark(text, f"hipo report {run} --benchmark results.csv")
        return ReportSection(
            "cumulative", "Accuracy as dialogues unfold", lead, (note,), absent=True
        )
    by_dimension: defaultdict[str, list[CumulativeScore]] = defaultdict(list)
    for score in scores:
        by_dimension[score.dimension].append(score)
    plots = tuple(
        _plot(dimension_title(scheme, name), found) for name, found in by_dimension.items()
    )
    return ReportSection("cumulative", "Accuracy as dialogues unfold", lead, (Grid(plots),))


def _plot(title: str, scores: Sequence[CumulativeScore]) -> Plot:
    sums: defaultdict[str, dict[int, tuple[int, int]]] = defaultdict(dict)
    for score in scores:
        correct, items = sums[score.model].get(score.turns, (0, 0))
        sums[score.model][score.turns] = correct + score.correct, items + score.items
    series = [
        Series(model, tuple(Spot(x, c / n, percent(c / n)) for x, (c, n) in sorted(spots.items())))
        for model, spots in sorted(sums.items())
    ]
    rows = tuple(
        (model, str(x), percent(c / n), count(n))
        for model, spots in sorted(sums.items())
        for x, (c, n) in sorted(spots.items())
    )
    drawn = line_chart(
        series, label=f"Accuracy on {title} by number of exchanges shown", axis="exchanges shown"
    )
    table = Table(f"Accuracy: {title}", ("model", "exchanges", "accuracy", "items"), rows)
    return Plot(title, drawn, table)
