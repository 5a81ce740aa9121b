"""Line charts over a few positions; series differ by colour, dashes and markers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from outputs.plots.canvas import (
    SERIES,
    WIDTH,
    Canvas,
    Point,
    draw_legend,
    legend_height,
    series_class,
    text_width,
)

_HEIGHT = 170.0
_LEFT = 42.0
_BELOW = 38.0
_SHAPES = 4
_RADIUS = 4.0
_STARTS = (0.0, 0.5, 0.75, 0.9)
"""Where the axis may begin, so that its five steps are round."""


@dataclass(frozen=True, slots=True)
class Spot:
    """One point of a line."""

    x: int
    share: float
    """In ``[0, 1]``."""
    text: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """One line and its name."""

    name: str
    spots: tuple[Spot, ...]


def line_chart(series: Sequence[Series], *, label: str, axis: str) -> str:
    """Return an SVG of shares over whole numbers.

    The vertical axis begins below the smallest value, and says where.

    Args:
        series: the lines; one with a single point is drawn as that point.
        label: what the plot shows, for those who cannot see it.
        axis: what the positions are.

    Raises:
        ValueError: a share outside ``[0, 1]``.
    """
    names = [line.name for line in series]
    above = legend_height(names) + 8
    canvas = Canvas(WIDTH, above + _HEIGHT + _BELOW, label)
    draw_legend(canvas, names, lambda surface, at, i: _shape(surface, at, i, ""))
    spots = [spot for line in series for spot in line.spots]
    frame = _Frame(above, sorted({spot.x for spot in spots}), _bottom(spots))
    _axes(canvas, frame, axis)
    for number, line in enumerate(series):
        ordered = sorted(line.spots, key=lambda spot: spot.x)
        kind = series_class(number)
        # Lines that share a position stand side by side, so that intervals do not hide each other.
        shift = 5.0 * (number - (len(series) - 1) / 2) if len(series) <= SERIES else 0.0
        places = [frame.place(spot.x, spot.share, shift) for spot in ordered]
        canvas.polyline(places, f"line {kind} d{number % _SHAPES}")
        for spot, at in zip(ordered, places, strict=True):
            if spot.low is not None and spot.high is not None:
                low, high = (frame.place(spot.x, end, shift) for end in (spot.low, spot.high))
                canvas.line(low, high, f"error {kind}")
            _shape(canvas, at, number, f"{line.name}, {axis} {spot.x}: {spot.text}")
    return canvas.svg()


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where positions and shares lie on the surface."""

    above: float
    positions: list[int]
    bottom: float

    def place(self, x: int, share: float, shift: float = 0.0) -> Point:
        if not 0 <= share <= 1:
            raise ValueError(f"{share} is no share")
        room = WIDTH - _LEFT - 2 * SERIES * 5
        step = room / max(1, len(self.positions) - 1)
        offset = room / 2 if len(self.positions) == 1 else self.positions.index(x) * step
        height = _HEIGHT * (max(share, self.bottom) - self.bottom) / (1 - self.bottom)
        return _LEFT + SERIES * 5 + offset + shift, self.above + _HEIGHT - height


def _bottom(spots: Sequence[Spot]) -> float:
    """Return where the axis begins: as high as the values allow, with round numbers above it."""
    least = min((s.share if s.low is None else s.low for s in spots), default=0.0)
    return max(start for start in _STARTS if start == 0 or start < least)


def _axes(canvas: Canvas, frame: _Frame, axis: str) -> None:
    for part in range(6):
        share = frame.bottom + (1 - frame.bottom) * part / 5
        y = frame.above + _HEIGHT * (1 - part / 5)
        canvas.line((_LEFT, y), (WIDTH, y), "base" if part == 0 else "grid")
        canvas.text(
            (_LEFT - 5, y + 4), f"{100 * share:.0f}%", room=_LEFT, anchor="end", kind="tick"
        )
    below = frame.above + _HEIGHT
    shown = frame.positions
    while len(shown) > 1 and _crowded(frame, shown):
        shown = shown[::2]
    for x in shown:
        at = frame.place(x, frame.bottom)
        canvas.text((at[0], below + 15), str(x), room=60, anchor="middle", kind="tick")
    middle = (_LEFT + WIDTH) / 2
    canvas.text((middle, below + 32), axis, room=WIDTH - _LEFT, anchor="middle", kind="tick")


def _crowded(frame: _Frame, shown: Sequence[int]) -> bool:
    places = [frame.place(x, frame.bottom)[0] for x in shown]
    wide = max(text_width(str(x)) for x in shown) + 6
    return any(b - a < wide for a, b in pairwise(places))


def _shape(canvas: Canvas, at: Point, number: int, tooltip: str) -> None:
    """Draw the sign of one line: a disc, a square, a triangle or a lozenge."""
    x, y = at
    x = min(max(x, _RADIUS + 1), canvas.width - _RADIUS - 1)
    kind = f"spot {series_class(number)}"
    r = _RADIUS
    match number % _SHAPES:
        case 0:
            canvas.circle((x, y), r, kind, tooltip=tooltip)
        case 1:
            canvas.rect((x - r, y - r), (2 * r, 2 * r), kind, tooltip=tooltip)
        case 2:
            corners = [(x, y - r - 1), (x + r + 1, y + r), (x - r - 1, y + r)]
            canvas.polygon(corners, kind, tooltip=tooltip)
        case _:
            corners = [(x, y - r - 1), (x + r + 1, y), (x, y + r + 1), (x - r - 1, y)]
            canvas.polygon(corners, kind, tooltip=tooltip)
