"""The strategic metrics as functions of derived dimensions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from quality.derived import DerivedFunction, Rows
from quality.strategic.formula import formula_from
from quality.strategic.moves import read_move
from quality.strategic.trajectory import AnswerMetrics, trajectory


def _metric(name: str, read: Callable[[AnswerMetrics], float | None]) -> DerivedFunction:
    def compute(rows: Rows, parameters: Mapping[str, object]) -> list[float | None]:
        moves = [read_move(row) for row in rows]
        return [read(metrics) for metrics in trajectory(moves, formula_from(parameters))]

    return DerivedFunction(name, compute)


BENEFIT: Final = _metric("cobra.bat", lambda metrics: metrics.bat)
PENALTY: Final = _metric("cobra.pat", lambda metrics: metrics.pat)
RELATIVE_BENEFIT: Final = _metric("cobra.nrbat", lambda metrics: metrics.nrbat)
RELATIVE_WINS: Final = _metric("cobra.nra", lambda metrics: metrics.nra)
