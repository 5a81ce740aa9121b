"""What a page consists of: plain data that one template turns into HTML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

Tone = Literal["info", "warning"]


@dataclass(frozen=True, slots=True)
class Table:
    """A table; cells that look like numbers are set to the right."""

    kind: ClassVar[str] = "table"
    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Plot:
    """A drawing with its title, and the numbers behind it for those who cannot see it."""

    kind: ClassVar[str] = "plot"
    title: str
    svg: str
    """Markup; every text in it has been escaped by what made it."""
    numbers: Table | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Grid:
    """Plots beside each other, as many in a row as there is room for; a table takes two places."""

    kind: ClassVar[str] = "grid"
    blocks: tuple[Plot | Table, ...]


@dataclass(frozen=True, slots=True)
class Note:
    """A remark; ``command`` is something to type."""

    kind: ClassVar[str] = "note"
    text: str
    command: str = ""
    tone: Tone = "info"


@dataclass(frozen=True, slots=True)
class Tile:
    """One number that matters, and what it is."""

    value: str
    name: str
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Tiles:
    """The numbers that matter most."""

    kind: ClassVar[str] = "tiles"
    tiles: tuple[Tile, ...]


@dataclass(frozen=True, slots=True)
class Mark:
    """One label of an utterance, and what became of it."""

    dimension: str
    value: str
    rationale: str = ""
    wanted: str = ""
    """The label that was asked for, where it is another."""
    verdicts: tuple[tuple[str, bool], ...] = ()
    """(who, whether it is carried)."""


@dataclass(frozen=True, slots=True)
class Line:
    """One utterance."""

    side: Literal["initiator", "responder"]
    speaker: str
    text: str
    opening: bool = False
    marks: tuple[Mark, ...] = ()
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Transcript:
    """A dialogue to read."""

    kind: ClassVar[str] = "transcript"
    id: str
    title: str
    tags: tuple[str, ...]
    background: str
    fact: str
    lines: tuple[Line, ...]
    flags: tuple[str, ...] = ()
    """About the dialogue as a whole."""
    language: str = "en"
    unfolded: bool = False


Block = Table | Plot | Grid | Note | Tiles | Transcript


@dataclass(frozen=True, slots=True)
class ReportSection:
    """A headline, a sentence on what is shown, and what is shown."""

    id: str
    title: str
    lead: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """A page from top to bottom."""

    title: str
    subtitle: str
    notices: tuple[Note, ...]
    sections: tuple[ReportSection, ...]
    footer: tuple[str, ...] = ()
