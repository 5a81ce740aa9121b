"""What a judge finds against what is expected: the declared label, the goal, or a scheme's word."""

from __future__ import annotations

from typing import Final

from scenarios.dialogue import Dialogue, Turn
from scenarios.schemes.model import Dimension, Scheme
from scenarios.terms import LabelValue

TOLERANCE: Final = 0.1
"""Share of an interval dimension's range within which two numbers agree, where it has no points."""
_ROUNDING = 1e-9


def tolerance_of(dimension: Dimension) -> float:
    """Return by how much two numbers on an interval dimension may differ and still agree.

    That is one step between its points where it has points, else a tenth of its range.
    """
    if dimension.range is None:
        return 0.0
    lowest, highest = dimension.range
    if dimension.points is not None:
        return (highest - lowest) / (dimension.points - 1)
    return TOLERANCE * (highest - lowest)


def agrees(dimension: Dimension, one: LabelValue, other: LabelValue) -> bool:
    """Whether two labels of a dimension say the same; numbers within :func:`tolerance_of`."""
    if isinstance(one, float | int) and isinstance(other, float | int):
        return abs(one - other) <= tolerance_of(dimension) + _ROUNDING
    if isinstance(one, tuple) and isinstance(other, tuple):
        return set(one) == set(other)
    return one == other


def expected(
    scheme: Scheme, dialogue: Dialogue, turn: Turn | None, dimension: Dimension
) -> LabelValue | None:
    """Return the label that a judge should find; None where nothing says which.

    Args:
        scheme: what its dimension is of.
        dialogue: what is judged.
        turn: the utterance; None for the dialogue as a whole.
        dimension: a declared one (the label of the turn, or the goal assigned), or one that only
            readers label (what the scheme expects under the goal).
    """
    if dimension.by == "reader":
        wanted = dimension.expect.get(dialogue.case.goal)
        every = set(dimension.expect.values())
        # Where a dialogue has no goal, what is expected under every goal is expected all the same.
        return every.pop() if wanted is None and len(every) == 1 else wanted
    if turn is None:
        # An imported dialogue may have no goal.
        return dialogue.case.goal or None if dimension.id == scheme.assigned else None
    return next((t.value for t in turn.tactic if t.dimension == dimension.id), None)
