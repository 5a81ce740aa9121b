"""The strategic metrics as functions of derived dimensions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from quality.derived import DerivedFunction, Rows
from quality.strategic.formula import formula_from
from quality.strategic.moves import read_move
from quality.strategic.trajectory import StandingAfter, trajectory


def _metric(name: str, read: Callable[[StandingAfter], float | None]) -> DerivedFunction:
    def compute(rows: Rows, parameters: Mapping[str, object]) -> list[float | None]:
        moves = [read_move(row) for row in rows]
        return [read(standing) for standing in trajectory(moves, formula_from(parameters))]

    return DerivedFunction(name, compute)


BENEFIT: Final = _metric("cobra.bat", lambda standing: standing.bat)
PENALTY: Final = _metric("cobra.pat", lambda standing: standing.pat)
RELATIVE_BENEFIT: Final = _metric("cobra.nrbat", lambda standing: standing.nrbat)
RELATIVE_WINS: Final = _metric("cobra.nra", lambda standing: standing.nra)
