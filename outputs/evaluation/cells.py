"""Figures as cells of tables: a number with its interval, or a dash with its reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from outputs.report.page import CellMark, Table
from outputs.report.wording import NOTHING, percent, spread
from quality.evaluation.clustering import FEWEST_ITEMS
from quality.evaluation.scores import ClusteredEstimate, Scores
from quality.statistics.bootstrap import Interval

Cluster = Literal["case", "scenario"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: what it says, and why it does not say more."""

    text: str
    reason: str = ""
    mark: CellMark | None = None


def table_of(
    caption: str,
    header: Sequence[str],
    rows: Sequence[Sequence[str | Cell]],
    spans: Sequence[tuple[str, int]] = (),
) -> Table:
    """Return a table of cells, each with its reason where it has one."""
    plain = [[Cell(cell) if isinstance(cell, str) else cell for cell in row] for row in rows]
    places = [((i, j), cell) for i, row in enumerate(plain) for j, cell in enumerate(row)]
    return Table(
        caption,
        tuple(header),
        tuple(tuple(cell.text for cell in row) for row in plain),
        marks={place: cell.mark for place, cell in places if cell.mark is not None},
        reasons={place: cell.reason for place, cell in places if cell.reason},
        spans=tuple(spans),
    )


def nothing(reason: str) -> Cell:
    """Return a dash with its reason."""
    return Cell(NOTHING, reason)


def estimate_cell(
    estimate: ClusteredEstimate,
    undefined: str,
    *,
    items: int,
    by: Cluster = "case",
    signed: bool = False,
) -> Cell:
    """Return a share with its interval.

    Args:
        estimate: the share.
        undefined: why there is none, where there is none.
        items: how many items it rests on.
        by: what was drawn together.
        signed: whether it is a difference, written in points with its sign.
    """
    if estimate.value is None:
        return nothing(undefined)
    bounds = estimate.by_case if by == "case" else estimate.by_scenario
    text = points(estimate.value) if signed else percent(estimate.value)
    if bounds is None:
        return Cell(text, no_interval(items))
    return Cell(f"{text} [{signed_spread(bounds) if signed else spread(bounds)}]")


def no_interval(items: int) -> str:
    """Say why there is no interval."""
    if items < FEWEST_ITEMS:
        return f"no interval: fewer than {FEWEST_ITEMS} items"
    return "no interval: there is one cluster, or every resample gives the same figure"


def points(value: float) -> str:
    """Return a difference of shares in points, with its sign."""
    return _signed(100 * value, 1)


def signed_spread(bounds: Interval) -> str:
    """Return an interval of differences in points."""
    return f"{_signed(100 * bounds.low, 0)} to {_signed(100 * bounds.high, 0)}"


def _signed(number: float, digits: int) -> str:
    rounded = round(number, digits)
    return f"{rounded:+.{digits}f}".replace("-", "\u2212") if rounded else f"{0:.{digits}f}"


def accuracy_cell(score: Scores | None, by: Cluster = "case") -> Cell:
    """Return the accuracy of a model, with its interval."""
    if score is None:
        return nothing("no such answers")
    return estimate_cell(score.accuracy, "no answer to score", items=score.items, by=by)


def macro_f1_cell(score: Scores | None, by: Cluster = "case") -> Cell:
    """Return the macro-F1 of a model, with its interval."""
    if score is None:
        return nothing("no such answers")
    return estimate_cell(score.macro_f1, "no answer to score", items=score.items, by=by)


def p_cell(p: float | None) -> Cell:
    """Return a p value, never as zero."""
    if p is None:
        return nothing("no p: too few cases that both models answered")
    return Cell("< 0.001" if p < 0.001 else f"{p:.3f}")
