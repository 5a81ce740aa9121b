"""Draw a knowledge graph as SVG: evidence, facts and claims in columns, the roles above them."""

from __future__ import annotations

import importlib
import unicodedata
from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

from scenarios.errors import UsageError
from scenarios.graph import Kind, KnowledgeGraph, Relation
from scenarios.graph_layout import LINE, MARGIN, PAD, SIZE, Box, layout, text_width, wrap

FONT = "DejaVu Sans, Verdana, Arial, sans-serif"
FILLS: dict[Kind, tuple[str, str]] = {
    "role": ("#eef1f6", "#44546a"),
    "fact": ("#fdf3e1", "#955c06"),
    "claim": ("#e6f1fb", "#1f5f99"),
    "evidence": ("#e9f5ea", "#2f7a3b"),
}
COLOURS: dict[Relation, str] = {
    "knows": "#44546a",
    "states": "#1f5f99",
    "makes_false": "#b3261e",
    "cover": "#7b1fa2",
    "misleads": "#ad5f00",
    "reveals": "#2f7a3b",
}
DASHES: dict[Relation, str] = {"makes_false": "6 4", "misleads": "2 4"}


def to_svg(graph: KnowledgeGraph) -> str:
    """Return the drawing as an SVG document; every text in it is escaped."""
    boxes = layout(graph)
    width = max(box.x + box.width for box in boxes.values()) + MARGIN
    height = max(box.y + box.height for box in boxes.values()) + MARGIN + 40
    title = wrap(graph.scenario.title, width - 2 * MARGIN, 20)[:1]
    size = f'width="{width:.0f}" height="{height:.0f}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family={quoteattr(FONT)}>',
        f"<title>{_clean(graph.scenario.title)}</title>",
        f"<defs>{''.join(_arrow(name) for name in COLOURS)}</defs>",
        f'<rect {size} fill="#ffffff"/>',
        _text(MARGIN, MARGIN + 12, " ".join(title), size=20, weight="bold"),
        *_edges(graph, boxes),
        *(_drawn(box) for box in boxes.values()),
        *_legend(MARGIN, height - MARGIN + 8),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def to_png(graph: KnowledgeGraph, *, zoom: int = 2) -> bytes:
    """Return the drawing as PNG.

    Raises:
        UsageError: the package that rasterises SVG is not installed.
    """
    try:
        resvg = importlib.import_module("resvg_py")
    except ImportError:
        raise UsageError(
            "drawing PNG needs the package resvg-py",
            'install it with: pip install "hipo[draw]"; SVG needs nothing',
        ) from None
    return bytes(resvg.svg_to_bytes(svg_string=to_svg(graph), zoom=zoom))


def _edges(graph: KnowledgeGraph, boxes: dict[str, Box]) -> Iterator[str]:
    yield from _knows(graph, boxes)
    yield from _states(graph, boxes)
    for left, right in graph.edges("reveals"):
        a, b = boxes[left], boxes[right]
        yield _curve("reveals", (a.x + a.width, a.middle), (b.x, b.middle))
    against: tuple[Relation, ...] = ("makes_false", "cover", "misleads")
    for relation in against:
        for left, right in graph.edges(relation):
            a, b = boxes[left], boxes[right]
            yield _curve(relation, (a.x + a.width, a.middle), (b.x, b.middle))


def _knows(graph: KnowledgeGraph, boxes: dict[str, Box]) -> Iterator[str]:
    """Draw a line down beside the facts with an arrow into each: the responder's left, mostly."""
    for left, right in graph.edges("knows"):
        role, fact = boxes[left], boxes[right]
        if graph.scenario.flow:
            yield _curve("knows", (role.x + role.width, role.middle), (fact.x, fact.middle))
            continue
        if left == "role:responder":
            x = fact.x - 24
            path = f"M {role.x:.1f} {role.middle:.1f} H {x:.1f} V {fact.y + 14:.1f} H {fact.x:.1f}"
        else:
            x = fact.x + fact.width + 24
            end = fact.x + fact.width
            path = f"M {role.x:.1f} {role.middle:.1f} H {x:.1f} V {fact.y + 14:.1f} H {end:.1f}"
        yield _path("knows", path)


def _states(graph: KnowledgeGraph, boxes: dict[str, Box]) -> Iterator[str]:
    for left, right in graph.edges("states"):
        role, claim = boxes[left], boxes[right]
        x = claim.x - 24
        start = role.x + role.width
        path = f"M {start:.1f} {role.middle:.1f} H {x:.1f} V {claim.y + 14:.1f} H {claim.x:.1f}"
        yield _path("states", path)


def _curve(relation: Relation, start: tuple[float, float], end: tuple[float, float]) -> str:
    bend = (end[0] - start[0]) / 2
    return _path(
        relation,
        f"M {start[0]:.1f} {start[1]:.1f} C {start[0] + bend:.1f} {start[1]:.1f} "
        f"{end[0] - bend:.1f} {end[1]:.1f} {end[0]:.1f} {end[1]:.1f}",
    )


def _path(relation: Relation, path: str) -> str:
    dash = f' stroke-dasharray="{DASHES[relation]}"' if relation in DASHES else ""
    return (
        f'<path d="{path}" fill="none" stroke="{COLOURS[relation]}" stroke-width="1.6"{dash} '
        f'marker-end="url(#{relation})"/>'
    )


def _arrow(relation: Relation) -> str:
    return (
        f'<marker id="{relation}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" '
        f'markerHeight="7" orient="auto"><path d="M 0 0 L 10 5 L 0 10 z" '
        f'fill="{COLOURS[relation]}"/></marker>'
    )


def _drawn(box: Box) -> str:
    fill, line = FILLS[box.kind]
    place = f'x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}"'
    parts = [f'<rect {place} rx="6" fill="{fill}" stroke="{line}"/>']
    y = box.y + PAD + 11
    for text in box.title:
        parts.append(_text(box.x + PAD, y, text, weight="bold", colour=line))
        y += LINE
    for text in box.lines:
        parts.append(_text(box.x + PAD, y, text))
        y += LINE
    return "".join(parts)


def _text(
    x: float, y: float, text: str, *, size: int = SIZE, weight: str = "normal", colour: str = "#222"
) -> str:
    own = ' unicode-bidi="plaintext"' if any(map(_runs_left, text)) else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" font-weight="{weight}"{own} '
        f'fill="{colour}">{_clean(text)}</text>'
    )


def _runs_left(char: str) -> bool:
    """Whether a letter is of a script that runs from right to left."""
    return unicodedata.bidirectional(char) in ("R", "AL")


def _legend(x: float, y: float) -> Iterator[str]:
    meanings: dict[Relation, str] = {
        "knows": "knows",
        "states": "states in the opening",
        "makes_false": "makes false",
        "cover": "makes false, and is to be believed",
        "misleads": "lets mislead",
        "reveals": "would reveal",
    }
    for relation, meaning in meanings.items():
        yield _path(relation, f"M {x:.1f} {y - 4:.1f} H {x + 40:.1f}")
        yield _text(x + 50, y, meaning)
        x += 50 + text_width(meaning) + 40


def _clean(text: str) -> str:
    """Escape a text for XML, and leave out what XML cannot hold."""
    return escape("".join(char for char in text if char.isprintable()))
