"""Horizontal bars, each under its own label, and a funnel of stages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from outputs.plots.canvas import (
    LINE,
    WIDTH,
    Canvas,
    Point,
    draw_legend,
    legend_height,
    series_class,
    text_width,
)

_BAR = 12.0
_BETWEEN = 3.0
_AFTER = 8.0
_GAP = 8.0


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar; ``value`` None leaves it out and writes only its text."""

    value: float | None
    text: str
    """What is written beside it."""
    low: float | None = None
    """Lower end of its interval."""
    high: float | None = None
    mark: float | None = None
    """A value of somebody else's, marked across the bar."""


@dataclass(frozen=True, slots=True)
class BarRow:
    """A label and its bars, one per series."""

    label: str
    bars: tuple[Bar, ...]


def bar_chart(
    rows: Sequence[BarRow],
    *,
    label: str,
    series: Sequence[str] = (),
    mark: str = "",
    top: float | None = None,
    colour: int = 0,
) -> str:
    """Return an SVG of horizontal bars from zero.

    Args:
        rows: from top to bottom.
        label: what the plot shows, for those who cannot see it.
        series: names of the bars of each row; named above the plot where there are several.
        mark: what the marks are; named above the plot.
        top: the value at the right edge; the largest one where None.
        colour: which colour the first series has.

    Returns:
        SVG text without colours of its own, see ``plots.css``.

    Raises:
        ValueError: a value is negative or no number.
    """
    names = [*(series if len(series) > 1 else ()), *([mark] if mark else [])]
    above = legend_height(names)
    heights = [LINE + len(row.bars) * (_BAR + _BETWEEN) + _AFTER for row in rows]
    canvas = Canvas(WIDTH, above + sum(heights) + 2, label)

    def key(surface: Canvas, at: Point, number: int) -> None:
        if mark and number == len(names) - 1:
            surface.line((at[0], at[1] - 6), (at[0], at[1] + 6), "mark")
        else:
            kind = f"bar {series_class(colour + number)}"
            surface.rect((at[0] - 6, at[1] - 5), (12, 10), kind)

    draw_legend(canvas, names, key)
    texts = [bar.text for row in rows for bar in row.bars]
    room = min(WIDTH / 2, max((text_width(text) for text in texts), default=0) + 1)
    scale = _Scale(WIDTH - room - _GAP, top or _largest(rows))
    y = above
    for row, height in zip(rows, heights, strict=True):
        canvas.text((0, y + 12), row.label, room=WIDTH)
        for number, bar in enumerate(row.bars):
            at = y + LINE + number * (_BAR + _BETWEEN)
            _draw(canvas, scale, bar, at, series_class(colour + number))
            canvas.text((WIDTH, at + 10), bar.text, room=room, anchor="end", kind="value")
        y += height
    return canvas.svg()


@dataclass(frozen=True, slots=True)
class _Scale:
    """From values to units."""

    width: float
    top: float

    def __call__(self, value: float) -> float:
        return self.width * min(1.0, value / self.top)


def _largest(rows: Sequence[BarRow]) -> float:
    values = [
        value
        for row in rows
        for bar in row.bars
        for value in (bar.value, bar.high, bar.mark)
        if value is not None
    ]
    return max(values, default=0.0) or 1.0


def _draw(canvas: Canvas, scale: _Scale, bar: Bar, y: float, kind: str) -> None:
    canvas.rect((0, y), (scale.width, _BAR), "track")
    if bar.value is not None:
        if not 0 <= bar.value < inf:
            raise ValueError(f"{bar.value} is no length of a bar")
        canvas.rect((0, y), (scale(bar.value), _BAR), f"bar {kind}", tooltip=bar.text)
    if bar.low is not None and bar.high is not None:
        middle = y + _BAR / 2
        low, high = scale(bar.low), scale(bar.high)
        canvas.line((low, middle), (high, middle), "whisker")
        for end in (low, high):
            canvas.line((end, y + 2.5), (end, y + _BAR - 2.5), "whisker")
    if bar.mark is not None:
        x = scale(bar.mark)
        canvas.line((x, y - 2), (x, y + _BAR + 2), "mark")


_HEAD = 20.0
_FUNNEL_BAR = 18.0
_SLOPE = 10.0
_STAGE = _HEAD + _FUNNEL_BAR + _SLOPE


@dataclass(frozen=True, slots=True)
class FunnelStage:
    """One stage; ``value`` None means that it is not known."""

    label: str
    value: int | None
    text: str


def funnel_chart(stages: Sequence[FunnelStage], *, label: str) -> str:
    """Return an SVG of a funnel; a stage whose number is not known is an empty frame.

    Args:
        stages: from the widest to the narrowest.
        label: what the plot shows, for those who cannot see it.
    """
    canvas = Canvas(WIDTH, max(1.0, len(stages) * _STAGE - _SLOPE), label)
    widest = max((stage.value or 0 for stage in stages), default=0) or 1
    for number, stage in enumerate(stages):
        y = number * _STAGE
        canvas.text((0, y + 14), stage.label, room=WIDTH * 0.4, kind="strong")
        canvas.text((WIDTH, y + 14), stage.text, room=WIDTH * 0.58, anchor="end", kind="value")
        canvas.rect((0, y + _HEAD), (WIDTH, _FUNNEL_BAR), "track")
        if stage.value is None:
            continue
        width = WIDTH * stage.value / widest
        canvas.rect((0, y + _HEAD), (width, _FUNNEL_BAR), f"bar f{min(number, 5)}",
                    tooltip=f"{stage.label}: {stage.text}")  # fmt: skip
    return canvas.svg()
