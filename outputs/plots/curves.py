"""Curves of any numbers over steps, both axes in proportion."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from outputs.plots.canvas import (
    WIDTH,
    Canvas,
    Point,
    draw_legend,
    legend_height,
    series_class,
)

_HEIGHT = 170.0
_LEFT = 48.0
_RIGHT = 24.0
_BELOW = 38.0
_DASHES = 4
_MOST_DISCS = 40
_TICKS = 5


@dataclass(frozen=True, slots=True)
class Curve:
    """One line and its name."""

    name: str
    points: tuple[tuple[float, float], ...]
    """In the order of their x."""


def curve_chart(curves: Sequence[Curve], *, label: str, axis: str) -> str:
    """Return an SVG of curves; axes begin and end at round numbers.

    Args:
        curves: the lines; a single point is drawn as a disc.
        label: what the plot shows, for those who cannot see it.
        axis: what x is.

    Raises:
        ValueError: a number that is not finite.
    """
    names = [curve.name for curve in curves]
    above = legend_height(names) + 8
    canvas = Canvas(WIDTH, above + _HEIGHT + _BELOW, label)
    draw_legend(canvas, names, _sign)
    points = [point for curve in curves for point in curve.points]
    xs, ys = round_ticks([x for x, _ in points]), round_ticks([y for _, y in points])
    _axes(canvas, above, xs, ys, axis)
    for number, curve in enumerate(curves):
        places = [
            (
                _LEFT + (WIDTH - _LEFT - _RIGHT) * _share(x, xs),
                above + _HEIGHT * (1 - _share(y, ys)),
            )
            for x, y in curve.points
        ]
        kind = series_class(number)
        canvas.polyline(places, f"line {kind} d{number % _DASHES}")
        # Few points of the second and later curves: show each.
        if len(places) == 1 or (number and len(places) <= _MOST_DISCS):
            for at, (x, y) in zip(places, curve.points, strict=True):
                said = f"{curve.name}, {axis} {x:g}: {y:.4g}"
                canvas.circle(at, 3.0, f"spot {kind}", tooltip=said)
    return canvas.svg()


def round_ticks(values: Sequence[float]) -> list[float]:
    """Return round numbers, evenly apart, the first at or below all values, the last at or above.

    Raises:
        ValueError: a value that is not finite.
    """
    if not all(map(math.isfinite, values)):
        raise ValueError("a value that is not finite cannot be drawn")
    low, high = min(values, default=0.0), max(values, default=1.0)
    if high - low < 1e-9 * max(1.0, abs(high)):
        low, high = low - 0.5, high + 0.5
    rough = (high - low) / _TICKS
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * by for by in (1, 2, 2.5, 5, 10) if unit * by >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(step * n, 12) for n in range(first, last + 1)]


def _share(value: float, ticks: Sequence[float]) -> float:
    return (value - ticks[0]) / (ticks[-1] - ticks[0])


def _axes(
    canvas: Canvas, above: float, xs: Sequence[float], ys: Sequence[float], axis: str
) -> None:
    for y in ys:
        height = above + _HEIGHT * (1 - _share(y, ys))
        kind = "base" if y == ys[0] else "grid"
        canvas.line((_LEFT, height), (WIDTH - _RIGHT, height), kind)
        canvas.text((_LEFT - 5, height + 4), f"{y:g}", room=_LEFT - 5, anchor="end", kind="tick")
    below = above + _HEIGHT
    for x in xs:
        place = _LEFT + (WIDTH - _LEFT - _RIGHT) * _share(x, xs)
        canvas.text((place, below + 15), f"{x:g}", room=2 * _RIGHT, anchor="middle", kind="tick")
    canvas.text(
        ((_LEFT + WIDTH) / 2, below + 32), axis, room=WIDTH - _LEFT, anchor="middle", kind="tick"
    )


def _sign(canvas: Canvas, at: Point, number: int) -> None:
    x, y = at
    canvas.polyline([(x - 7, y), (x + 7, y)], f"line {series_class(number)} d{number % _DASHES}")
