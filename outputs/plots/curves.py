"""Curves of any numbers over steps, both axes in proportion or both by powers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from outputs.plots.canvas import (
    LINE,
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
_MOST_DISCS = 25
_TICKS = 5


@dataclass(frozen=True, slots=True)
class Curve:
    """One line and its name."""

    name: str
    points: tuple[tuple[float, float], ...]
    """In the order of their x."""


@dataclass(frozen=True, slots=True)
class _Axis:
    """Where numbers are placed between the first and the last of some ticks."""

    ticks: Sequence[float]
    scale: Callable[[float], float]

    def share(self, value: float) -> float:
        """Return 0 for the first tick, 1 for the last."""
        first, last = self.scale(self.ticks[0]), self.scale(self.ticks[-1])
        return (self.scale(value) - first) / (last - first)


def curve_chart(
    curves: Sequence[Curve], *, label: str, axis: str, up: str = "", by_powers: bool = False
) -> str:
    """Return an SVG of curves; axes begin and end at round numbers.

    Args:
        curves: the lines; each point of one that has few is a disc.
        label: what the plot shows, for those who cannot see it.
        axis: what x is.
        up: what y is, where the label does not say it.
        by_powers: whether on both axes each tick is four times the one before it; for numbers
            above 0 that differ by orders of magnitude.

    Raises:
        ValueError: a number that is not finite, or not above 0 where axes go by powers.
    """
    names = [curve.name for curve in curves]
    above = legend_height(names) + 8 + (LINE if up else 0)
    canvas = Canvas(WIDTH, above + _HEIGHT + _BELOW, label)
    draw_legend(canvas, names, _sign)
    if up:
        canvas.text((0, above - 11), f"↑ {up}", room=WIDTH, kind="tick")
    points = [point for curve in curves for point in curve.points]
    ticks, scale = (power_ticks, math.log) if by_powers else (round_ticks, float)
    xs = _Axis(ticks([x for x, _ in points]), scale)
    ys = _Axis(ticks([y for _, y in points]), scale)
    _axes(canvas, above, xs, ys, axis)
    for number, curve in enumerate(curves):
        places = [
            (
                _LEFT + (WIDTH - _LEFT - _RIGHT) * xs.share(x),
                above + _HEIGHT * (1 - ys.share(y)),
            )
            for x, y in curve.points
        ]
        kind = series_class(number)
        canvas.polyline(places, f"line {kind} d{number % _DASHES}")
        if len(places) <= _MOST_DISCS:
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


def power_ticks(values: Sequence[float]) -> list[float]:
    """Return powers of four, the first at or below all values, the last at or above.

    Raises:
        ValueError: a value that is not finite, or not above 0.
    """
    if not all(math.isfinite(value) and value > 0 for value in values):
        raise ValueError("only finite values above 0 can be drawn by powers")
    low, high = min(values, default=1.0), max(values, default=4.0)
    first = math.floor(math.log(low, 4) + 1e-9)
    last = max(math.ceil(math.log(high, 4) - 1e-9), first + 1)
    return [4.0**n for n in range(first, last + 1)]


def _axes(canvas: Canvas, above: float, xs: _Axis, ys: _Axis, axis: str) -> None:
    for y in ys.ticks:
        height = above + _HEIGHT * (1 - ys.share(y))
        kind = "base" if y == ys.ticks[0] else "grid"
        canvas.line((_LEFT, height), (WIDTH - _RIGHT, height), kind)
        canvas.text((_LEFT - 5, height + 4), f"{y:g}", room=_LEFT - 5, anchor="end", kind="tick")
    below = above + _HEIGHT
    for x in xs.ticks:
        place = _LEFT + (WIDTH - _LEFT - _RIGHT) * xs.share(x)
        canvas.text((place, below + 15), f"{x:g}", room=2 * _RIGHT, anchor="middle", kind="tick")
    middle = _LEFT + (WIDTH - _LEFT - _RIGHT) / 2
    canvas.text((middle, below + 32), axis, room=WIDTH - _LEFT, anchor="middle", kind="tick")


def _sign(canvas: Canvas, at: Point, number: int) -> None:
    x, y = at
    canvas.polyline([(x - 7, y), (x + 7, y)], f"line {series_class(number)} d{number % _DASHES}")
