"""A drawing surface that yields clean SVG text: few elements, classes instead of colours."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from html import escape, unescape
from pathlib import Path
from typing import Literal
from xml.etree.ElementTree import Element, SubElement, tostring

WIDTH = 360.0
"""Units a plot is wide, which are CSS pixels on a phone: text keeps its size there."""
SIZE = 12.0
"""Height of text."""
LINE = 16.0
"""From one line of text to the next."""

Anchor = Literal["start", "middle", "end"]
Point = tuple[float, float]

_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)
_NARROW = frozenset("iljtfrI.,:;'|!()[] -")
_BROAD = frozenset("mwMW@%&—…")
_ELLIPSIS = "…"


def printable(text: str) -> str:
    """Return ``text`` with what neither XML nor HTML may contain replaced by U+FFFD."""
    return _UNPRINTABLE.sub("\ufffd", text)


def text_width(text: str, size: float = SIZE) -> float:
    """Return how wide text is at most in a usual sans-serif font, in the unit of ``size``.

    Fonts differ from one machine to the next, so that this errs on the wide side.
    """
    return size * sum(map(_advance, text))


def _advance(char: str) -> float:
    if char in _NARROW:
        return 0.36
    if char in _BROAD:
        return 1.0
    if unicodedata.combining(char):
        return 0.0
    if not char.isascii():
        return 1.05 if unicodedata.east_asian_width(char) in "WF" else 0.75
    return 0.72 if char.isupper() else 0.6


def fitted(text: str, width: float) -> str:
    """Return ``text``, shortened with an ellipsis where it would be wider than ``width``."""
    flat = " ".join(printable(text).split())
    if text_width(flat, SIZE) <= width:
        return flat
    room = width - text_width(_ELLIPSIS, SIZE)
    kept = ""
    for char in flat:
        room -= text_width(char, SIZE)
        if room < 0:
            break
        kept += char
    return kept.rstrip() + _ELLIPSIS


class Canvas:
    """Collects shapes; a point outside the surface, or one that is no number, is refused."""

    def __init__(self, width: float, height: float, label: str) -> None:
        """Begin a drawing that ``label`` describes to those who cannot see it."""
        self.width, self.height = width, height
        self._root = Element(
            "svg",
            {
                "xmlns": "http://www.w3.org/2000/svg",
                "viewBox": f"0 0 {_number(width)} {_number(height)}",
                "class": "plot",
                "role": "img",
                "aria-label": printable(label),
            },
        )

    def text(
        self,
        at: Point,
        text: str,
        *,
        room: float,
        anchor: Anchor = "start",
        kind: str = "",
        turned: bool = False,
    ) -> None:
        """Write one line, shortened to ``room``; what was cut off is its tooltip.

        Args:
            at: where the line starts, has its middle, or ends; its baseline.
            text: what to write.
            room: how wide it may become.
            anchor: which part of it ``at`` is.
            kind: a class.
            turned: whether it climbs to the upper right at 45 degrees.
        """
        shown = fitted(text, room)
        attributes = {**self._place(("x", "y"), at), "class": f"text {kind}".strip()}
        if anchor != "start":
            attributes["text-anchor"] = anchor
        if turned:
            attributes["transform"] = f"rotate(-45 {attributes['x']} {attributes['y']})"
        element = SubElement(self._root, "text", attributes)
        element.text = shown
        if shown.endswith(_ELLIPSIS) and not text.endswith(_ELLIPSIS):
            SubElement(element, "title").text = printable(text)

    def rect(
        self,
        at: Point,
        size: Point,
        kind: str,
        *,
        tooltip: str = "",
        opacity: float | None = None,
    ) -> None:
        """Draw a box; one without width or height is left out."""
        width, height = size
        if width <= 0 or height <= 0:
            return
        self._place(("x", "y"), (at[0] + width, at[1] + height))
        attributes = {
            **self._place(("x", "y"), at),
            "width": _number(width),
            "height": _number(height),
            "class": kind,
        }
        if opacity is not None:
            attributes["fill-opacity"] = _number(opacity)
        self._shape("rect", attributes, tooltip)

    def line(self, start: Point, end: Point, kind: str) -> None:
        """Draw a straight line."""
        attributes = {
            **self._place(("x1", "y1"), start), **self._place(("x2", "y2"), end), "class": kind,
        }  # fmt: skip
        self._shape("line", attributes, "")

    def polygon(self, points: Sequence[Point], kind: str, *, tooltip: str = "") -> None:
        """Draw a closed shape."""
        self._shape("polygon", {"points": self._points(points), "class": kind}, tooltip)

    def polyline(self, points: Sequence[Point], kind: str) -> None:
        """Draw an open line through points; fewer than two are left out."""
        if len(points) > 1:
            self._shape("polyline", {"points": self._points(points), "class": kind}, "")

    def circle(self, at: Point, radius: float, kind: str, *, tooltip: str = "") -> None:
        """Draw a disc."""
        attributes = {**self._place(("cx", "cy"), at), "r": _number(radius), "class": kind}
        self._shape("circle", attributes, tooltip)

    def svg(self) -> str:
        """Return the drawing as SVG text, to be put into a page; it holds no colour of its own."""
        return tostring(self._root, encoding="unicode")

    def _shape(self, tag: str, attributes: dict[str, str], tooltip: str) -> None:
        element = SubElement(self._root, tag, attributes)
        if tooltip:
            SubElement(element, "title").text = printable(tooltip)

    def _points(self, points: Iterable[Point]) -> str:
        placed = (self._place(("x", "y"), point) for point in points)
        return " ".join(f"{at['x']},{at['y']}" for at in placed)

    def _place(self, names: tuple[str, str], at: Point) -> dict[str, str]:
        x, y = at
        slack = 0.01
        if not (-slack <= x <= self.width + slack and -slack <= y <= self.height + slack):
            raise ValueError(f"{at} lies outside a drawing of {self.width} x {self.height}")
        return {names[0]: _number(x), names[1]: _number(y)}


def _number(value: float) -> str:
    if not math.isfinite(value):
        raise ValueError(f"{value} cannot be drawn")
    return f"{value:.2f}".rstrip("0").rstrip(".")


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


STYLES = Path(__file__).parent / "plots.css"


def plot_styles() -> str:
    """Return the style sheet that plots are coloured by, in light and in dark."""
    return STYLES.read_text(encoding="utf-8")


_MARGIN = 10.0
_BOLD = 1.1
_ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')


def standalone(svg: str) -> str:
    """Return a plot as the text of an SVG file, with what it shows written above it.

    That is its label as far as the first colon; what follows there is values, which are drawn.
    """
    head, bracket, rest = svg.partition(">")
    told = {name: unescape(value) for name, value in _ATTRIBUTE.findall(head)}
    width, height = map(float, told["viewBox"].split()[2:])
    lines = _broken(told["aria-label"].partition(": ")[0], width)
    above = _MARGIN + 6 + len(lines) * LINE
    box = [-_MARGIN, -above, width + 2 * _MARGIN, height + above + _MARGIN]
    head = head.replace(told["viewBox"], " ".join(map(_number, box)), 1)
    title = "".join(
        f'<text x="0" y="{_number((row - len(lines)) * LINE + 6)}" class="text strong">'
        f"{escape(line)}</text>"
        for row, line in enumerate(lines)
    )
    styles = f"{plot_styles()}svg.plot {{ background: var(--paper); }}\n"
    return f"{head}{bracket}<style>{styles}</style>{title}{rest}\n"


def _broken(text: str, width: float) -> list[str]:
    """Return bold text in lines that are no wider than ``width``; a longer word is shortened."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".lstrip()
        if lines[-1] and _BOLD * text_width(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return [fitted(line, width / _BOLD) for line in lines]
