"""Forest plot: differences with their intervals, around the line of no difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, isfinite, log10

from outputs.plots.canvas import LINE, WIDTH, Anchor, Canvas, series_class, text_width

_ROW = LINE + 18.0
_GAP = 8.0
_BELOW = 34.0
_BOX = 4.0
_LEAST = 0.05
"""Half the width of the axis at least, so that differences of nothing do not fill the plot."""
_TICKS: tuple[tuple[float, Anchor], ...] = (
    (-1.0, "start"), (-0.5, "middle"), (0.0, "middle"), (0.5, "middle"), (1.0, "end"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PlottedDifference:
    """One difference of shares; ``value`` None leaves only its text."""

    label: str
    value: float | None
    text: str
    low: float | None = None
    high: float | None = None

    @property
    def clear(self) -> bool:
        """Whether its interval leaves zero out."""
        if self.low is None or self.high is None:
            return False
        return self.low > 0 or self.high < 0


def forest_plot(rows: Sequence[PlottedDifference], *, label: str, axis: str) -> str:
    """Return an SVG of differences, one below the other, zero in the middle.

    A filled box stands for a difference whose interval leaves zero out, a hollow one for the rest.

    Args:
        rows: from top to bottom.
        label: what the plot shows, for those who cannot see it.
        axis: what lies on which side, written below.

    Raises:
        ValueError: a number is infinite or none.
    """
    room = max((text_width(row.text) for row in rows), default=0.0) + 1
    width = WIDTH - min(room, WIDTH / 2) - _GAP
    reach = _reach(rows)
    height = len(rows) * _ROW
    canvas = Canvas(WIDTH, height + _BELOW, label)

    def place(value: float) -> float:
        return width / 2 * (1 + max(-1.0, min(1.0, value / reach)))

    for part, anchor in _TICKS:
        x = place(part * reach)
        for number in range(len(rows)):  # not through the labels
            y = number * _ROW
            canvas.line((x, y + LINE), (x, y + _ROW), "base" if part == 0 else "grid")
        canvas.text(
            (x, height + 13), f"{100 * part * reach:+g}" if part else "0", room=60,
            anchor=anchor, kind="tick",
        )  # fmt: skip
    canvas.text((0, height + 29), axis, room=WIDTH, kind="tick")
    for number, row in enumerate(rows):
        y = number * _ROW
        canvas.text((0, y + 12), row.label, room=WIDTH)
        middle = y + LINE + 7
        canvas.text((WIDTH, middle + 4), row.text, room=room, anchor="end", kind="value")
        if row.value is None:
            continue
        kind = series_class(0 if row.clear else 4)
        if row.low is not None and row.high is not None:
            canvas.line((place(row.low), middle), (place(row.high), middle), f"line {kind}")
        corner = (min(max(place(row.value) - _BOX, 0.0), width - 2 * _BOX), middle - _BOX)
        sort = f"spot {kind}" if row.clear else f"hollow {kind}"
        canvas.rect(corner, (2 * _BOX, 2 * _BOX), sort, tooltip=f"{row.label}: {row.text}")
    return canvas.svg()


def _reach(rows: Sequence[PlottedDifference]) -> float:
    """Return half the width of the axis: the largest end, rounded up to a round number."""
    ends = [end for row in rows for end in (row.value, row.low, row.high) if end is not None]
    if not all(isfinite(end) for end in ends):
        raise ValueError("a difference is no finite number")
    largest = max((abs(end) for end in ends), default=0.0)
    if largest <= _LEAST:
        return _LEAST
    unit: float = 10 ** floor(log10(largest))
    return next(unit * step for step in (1, 2, 5, 10) if unit * step >= largest - 1e-12)
