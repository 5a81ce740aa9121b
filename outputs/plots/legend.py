"""What the colours and shapes of a plot stand for, in as many lines as it takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from outputs.plots.canvas import LINE, WIDTH, Canvas, Point, fitted, text_width

SERIES = 6
"""Colours there are; further series begin again from the first."""
_KEY = 20.0
_GAP = 14.0

Key = Callable[[Canvas, Point, int], None]
"""Draws the sign of one series around a point."""


def series_class(number: int) -> str:
    """Return the class that colours a series."""
    return f"s{number % SERIES}"


def legend_lines(names: Sequence[str], width: float = WIDTH) -> list[list[tuple[int, str, float]]]:
    """Lay names out: per line, the (number, text, x) of each."""
    lines: list[list[tuple[int, str, float]]] = [[]]
    x = 0.0
    for number, name in enumerate(names):
        text = fitted(name, width - _KEY)
        wide = _KEY + text_width(text)
        if x and x + wide > width:
            lines.append([])
            x = 0.0
        lines[-1].append((number, text, x))
        x += wide + _GAP
    return lines if names else []


def draw_legend(canvas: Canvas, names: Sequence[str], key: Key) -> float:
    """Write the legend at the top and return how high it is."""
    lines = legend_lines(names, canvas.width)
    for row, line in enumerate(lines):
        for number, text, x in line:
            middle = row * LINE + LINE / 2
            key(canvas, (x + _KEY / 2 - 3, middle), number)
            canvas.text((x + _KEY, middle + 4), text, room=canvas.width - x - _KEY + 0.5)
    return legend_height(names, canvas.width)


def legend_height(names: Sequence[str], width: float = WIDTH) -> float:
    """Return how high the legend of these names is, with the space below it."""
    return len(legend_lines(names, width)) * LINE + (6 if names else 0)
