"""Tables of results: who was right how often, by task, dimension and metric."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from scenarios.strict import Strict

ResultKind = Literal["model", "tuned", "average", "human", "floor", "own"]
"""``floor`` is what is reached without reading; ``own`` a model's row in somebody else's table."""
Unit = Literal["percent", "share"]

_TOP: dict[Unit, float] = {"percent": 100.0, "share": 1.0}
_DIGITS: dict[Unit, int] = {"percent": 1, "share": 3}


class ResultColumn(Strict):
    """What a column measures; empty where a row says it, or nobody does."""

    task: str = ""
    dimension: str = ""
    metric: Literal["accuracy", "F1", "micro-F1", "macro-F1", "all right", "precision", "recall"]


class TableRow(Strict):
    """The results of one model, of a mean of models, or of people."""

    kind: ResultKind
    name: str = ""
    family: str = ""
    """Whose models these are."""
    mode: str = ""
    """How the model was asked, where several ways stand in one table."""
    reference: str = ""
    """What labels are held against, where it is said."""
    base: str = ""
    """Of a tuned model: the name of the row it was before."""
    dimension: str = ""
    label: str = ""
    values: tuple[float | None, ...]
    """One for each column; None where nothing is known."""
    intervals: tuple[tuple[float, float] | None, ...] = ()
    """The 95 % interval of each value, in its unit; None where there is none, empty where of none."""
    counts: tuple[int | None, ...] = ()
    """How many items each value rests on, of a label how many have it; empty where that is not known."""

    def bounds(self, place: int) -> tuple[float, float] | None:
        """Return the interval of the value of one column."""
        return self.intervals[place] if self.intervals else None

    def count(self, place: int) -> str:
        """Return how many items the value of one column rests on; nothing where that is not known."""
        known = self.counts[place] if self.counts else None
        return "" if known is None else str(known)


class ResultTable(Strict):
    """One table, in the unit and with the digits that it was printed with."""

    id: str
    source: str
    title: str
    unit: Unit
    ranked: bool = False
    """Whether the best and the second of the models are marked in each column."""
    columns: tuple[ResultColumn, ...]
    rows: tuple[TableRow, ...]
    notes: tuple[str, ...] = ()
    drawn: str = ""
    """What intervals draw, in the plural: cases or scenarios; empty where there are none."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        names = {row.name for row in self.rows if row.kind == "model"}
        for row in self.rows:
            if len(row.values) != len(self.columns):
                raise ValueError(
                    f"{row.name}: {len(row.values)} values, {len(self.columns)} columns"
                )
            if any(not 0 <= value <= _TOP[self.unit] for value in row.values if value is not None):
                raise ValueError(f"{row.name}: a value is no {self.unit}")
            if any(some and len(some) != len(row.values) for some in (row.intervals, row.counts)):
                raise ValueError(f"{row.name}: as many intervals and counts as values, or none")
            if (row.kind == "tuned") != (row.base in names):
                raise ValueError(f"{row.name}: tuned rows, and no others, have a base in the table")
        return self

    def written(self, value: float) -> str:
        """Return a value with the digits of this table."""
        return f"{value:.{_DIGITS[self.unit]}f}"

    def spread(self, bounds: tuple[float, float] | None) -> str:
        """Return an interval as it stands behind its value; nothing where there is none."""
        return f" [{self.written(bounds[0])}, {self.written(bounds[1])}]" if bounds else ""


class ResultBlock(Strict):
    """Result tables that belong together, and what they are about."""

    title: str
    about: str
    items: str
    """In a few words, which items these are, and why no others belong in one table with them."""
    warning: str = ""
    tables: tuple[ResultTable, ...]
