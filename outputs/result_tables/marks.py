"""Which results stand out: the best and the second of a column, what rose and what fell."""

from __future__ import annotations

from outputs.report.page import CellMark
from outputs.result_tables.model import ResultTable


def result_marks(table: ResultTable) -> dict[tuple[int, int], CellMark]:
    """Return marks by place (row, column).

    Of a ranked table, models with the highest value of a column are ``best``, those with the next
    lower value ``second``; averages and people have no place in the ranking. Tuned rows are ``up``
    or ``down`` where they differ from the row they were before.
    """
    marks: dict[tuple[int, int], CellMark] = {}
    before = {row.name: row.values for row in table.rows if row.kind == "model"}
    for column in range(len(table.columns)):
        ranking = _ranking(table, column) if table.ranked else {}
        for place, row in enumerate(table.rows):
            value = row.values[column]
            if value is None:
                continue
            if row.kind == "model" and value in ranking:
                marks[place, column] = ranking[value]
            if row.kind == "tuned":
                earlier = before[row.base][column]
                if earlier is not None and earlier != value:
                    marks[place, column] = "up" if value > earlier else "down"
    return marks


def _ranking(table: ResultTable, column: int) -> dict[float, CellMark]:
    """Return the mark of the highest value among the models, and of the next lower one."""
    values = {row.values[column] for row in table.rows if row.kind == "model"}
    highest = sorted((value for value in values if value is not None), reverse=True)
    marks: tuple[CellMark, CellMark] = ("best", "second")
    return dict(zip(highest, marks, strict=False))
