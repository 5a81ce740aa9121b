"""Lay out a knowledge graph: wrapped boxes in columns without overlap."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from scenarios.graph import Kind, KnowledgeGraph

SIZE = 13
"""Size of the text, in pixels like every other length here."""
LINE = 18
PAD = 12
WIDTHS: dict[Kind, int] = {"evidence": 210, "fact": 380, "role": 330, "claim": 290}
MIDDLE = 190
"""Width of the gap between facts and claims, where is drawn what facts do to claims."""
MARGIN = 36
GAP = 20


@dataclass(frozen=True, slots=True)
class Box:
    """A wrapped text in a rectangle; positions and sizes in pixels."""

    node: str
    kind: Kind
    x: float
    y: float
    width: float
    title: tuple[str, ...]
    lines: tuple[str, ...]

    @property
    def height(self) -> float:
        """The height that the lines need."""
        return 2 * PAD + LINE * (len(self.title) + len(self.lines)) - 4

    @property
    def middle(self) -> float:
        """The vertical centre."""
        return self.y + self.height / 2


def text_width(text: str, size: float = SIZE) -> float:
    """Return an upper bound of the width of a text in a common sans-serif font, in pixels."""
    return sum(_advance(char) for char in text) * size


def _advance(char: str) -> float:
    if unicodedata.combining(char):
        return 0.0
    if unicodedata.east_asian_width(char) in "WF":
        return 1.0
    if char in "iljtf.,:;'|!()[] ":
        return 0.41
    if char in "mwMW@%" or char.isupper():
        return 0.98 if char in "mMwW@%" else 0.77
    return 0.64


def wrap(text: str, width: float, size: float = SIZE) -> tuple[str, ...]:
    """Break a text into lines of at most ``width`` pixels; a word too long for one is cut."""
    lines: list[str] = []
    line = ""
    for word in text.split():
        for piece in _pieces(word, width, size):
            joined = f"{line} {piece}" if line else piece
            if line and text_width(joined, size) > width:
                lines.append(line)
                line = piece
            else:
                line = joined
    return (*lines, line) if line else tuple(lines)


def _pieces(word: str, width: float, size: float) -> Iterator[str]:
    piece = ""
    for char in word:
        if piece and text_width(piece + char, size) > width:
            yield piece
            piece = ""
        piece += char
    yield piece


def layout(graph: KnowledgeGraph) -> dict[str, Box]:
    """Place a box for every node so that no two overlap; facts near the claims they make false."""
    if graph.scenario.flow:
        return _of_flow(graph)
    left = {
        "evidence": MARGIN,
        "fact": MARGIN + WIDTHS["evidence"] + 90,
    }
    left["claim"] = left["fact"] + WIDTHS["fact"] + MIDDLE
    top = MARGIN + 46
    responder = _box(graph, "role:responder", left["fact"], top)
    initiator = _box(graph, "role:initiator", left["claim"] + GAP, top)
    boxes = {box.node: box for box in (responder, initiator)}
    below = top + max(responder.height, initiator.height) + 56
    facts, claims = graph.nodes("fact"), graph.nodes("claim")
    for _ in range(4):
        against = graph.edges("makes_false", "cover", "misleads")
        claims = _ordered(claims, facts, against, of_left=False)
        facts = _ordered(facts, claims, against, of_left=True)
    evidence = _ordered(graph.nodes("evidence"), facts, graph.edges("reveals"), of_left=True)
    columns: dict[Kind, Sequence[str]] = {"evidence": evidence, "fact": facts, "claim": claims}
    heights = {
        kind: sum(_box(graph, node, 0, 0).height + GAP for node in nodes) - GAP
        for kind, nodes in columns.items()
    }
    tallest = max(heights.values())
    for kind, nodes in columns.items():
        spare = (tallest - heights[kind]) / (len(nodes) + 1) if nodes else 0.0
        y = below
        for node in nodes:
            boxes[node] = _box(graph, node, left[kind], y + spare)
            y += boxes[node].height + GAP + spare
    return boxes


def _of_flow(graph: KnowledgeGraph) -> dict[str, Box]:
    """Place any roles, and the evidence below them, beside the facts and claims."""
    columns = (
        (*graph.nodes("role"), *graph.nodes("evidence")),
        graph.nodes("fact"),
        graph.nodes("claim"),
    )
    boxes: dict[str, Box] = {}
    x: float = MARGIN
    for nodes in columns:
        y: float = MARGIN + 46
        widest = 0.0
        for node in nodes:
            boxes[node] = _box(graph, node, x, y)
            y += boxes[node].height + GAP
            widest = max(widest, boxes[node].width)
        x += widest + MIDDLE if nodes else 0
    return boxes


def _ordered(
    nodes: Sequence[str],
    others: Sequence[str],
    edges: Iterable[tuple[str, str]],
    *,
    of_left: bool,
) -> tuple[str, ...]:
    """Sort nodes by the mean position of their neighbours, which keeps edges from crossing."""
    place = {node: index / max(1, len(others) - 1) for index, node in enumerate(others)}
    pairs = list(edges)

    def mean(item: tuple[int, str]) -> tuple[float, int]:
        index, node = item
        near = [place[b] for a, b in pairs if a == node] if of_left else []
        near += [] if of_left else [place[a] for a, b in pairs if b == node]
        own = index / max(1, len(nodes) - 1)
        return (sum(near) / len(near) if near else own, index)

    return tuple(node for _, node in sorted(enumerate(nodes), key=mean))


def _box(graph: KnowledgeGraph, node: str, x: float, y: float) -> Box:
    data = graph.graph.nodes[node]
    kind: Kind = data["kind"]
    width = WIDTHS[kind]
    title, text = data["label"], data["text"]
    if kind == "role":
        title = f"{node.removeprefix('role:')}: {title}"
    elif kind == "evidence":
        text = ""
    elif kind == "fact":
        title = node.removeprefix("fact:")
    elif graph.graph.has_edge("role:responder", node):
        title = f"{title} ({', '.join(graph.graph.edges['role:responder', node]['goals'])})"
    inner = width - 2 * PAD
    return Box(node, kind, x, y, width, wrap(title, inner, SIZE * 1.1), wrap(text, inner))
