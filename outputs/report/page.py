"""What a page of a report consists of, and how it becomes one self-contained HTML file."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import ClassVar, Literal

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from outputs.plots.canvas import plot_styles, printable

Tone = Literal["info", "warning"]
CellMark = Literal["best", "second", "up", "down"]


@dataclass(frozen=True, slots=True)
class Table:
    """A table; cells that look like numbers are set to the right."""

    kind: ClassVar[str] = "table"
    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    marks: Mapping[tuple[int, int], CellMark] = field(default_factory=dict)
    """By place (row, column): how a number stands to others of its column."""
    reasons: Mapping[tuple[int, int], str] = field(default_factory=dict)
    """By place (row, column): why there is no number; said below the table, by letter."""
    spans: tuple[tuple[str, int], ...] = ()
    """What columns have in common, from left to right: (name, how many of them)."""

    @property
    def lettered(self) -> Mapping[str, str]:
        """The reasons, each once, with the letter that stands beside the cells."""
        distinct = dict.fromkeys(self.reasons[place] for place in sorted(self.reasons))
        return {reason: _letter(number) for number, reason in enumerate(distinct)}


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
class Beside:
    """Tables beside each other, each as wide as it has to be, as far as there is room."""

    kind: ClassVar[str] = "beside"
    tables: tuple[Table, ...]


@dataclass(frozen=True, slots=True)
class Remark:
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
class TraceStep:
    """One text that came before an utterance, and what became of it: a candidate or an attempt."""

    what: str
    """Its kind and number, with its score where it has one."""
    text: str
    said: bool = False
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Line:
    """One utterance."""

    side: str
    """The id of the role."""
    speaker: str
    text: str
    opening: bool = False
    marks: tuple[Mark, ...] = ()
    flags: tuple[str, ...] = ()
    trace: tuple[TraceStep, ...] = ()
    notes: tuple[str, ...] = ()
    """What else is to be said about how it was chosen, such as who was passed over."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """A dialogue to read."""

    kind: ClassVar[str] = "transcript"
    id: str
    title: str
    tags: tuple[str, ...]
    background: str
    facts: tuple[str, ...]
    """What somebody keeps back; where there are several people, with the name of who knows it."""
    lines: tuple[Line, ...]
    flags: tuple[str, ...] = ()
    """About the dialogue as a whole."""
    language: str = "en"
    unfolded: bool = False


@dataclass(frozen=True, slots=True)
class GivenReply:
    """What one model answered about an item, and whether that is right."""

    model: str
    mode: str
    labels: tuple[tuple[str, str, bool | None], ...]
    """(dimension, label or why there is none, whether it is right; None: not known)."""
    text: str
    """As the model wrote it; empty where nothing came."""


@dataclass(frozen=True, slots=True)
class AnsweredItem:
    """One item of an evaluation to read: what it is about, what is right, what models replied."""

    kind: ClassVar[str] = "answered"
    id: str
    title: str
    tags: tuple[str, ...]
    situation: str
    fact: str
    """Only the responder knows it; empty where it is not known."""
    lines: tuple[tuple[str, str, bool], ...]
    """(speaker, words, whether this is what the question is about)."""
    right: tuple[tuple[str, str], ...]
    """(reference and dimension, label)."""
    replies: tuple[GivenReply, ...]
    language: str = "en"


Foldable = Table | Beside | Plot | Grid | Remark


@dataclass(frozen=True, slots=True)
class Fold:
    """Blocks under a headline that opens and closes."""

    kind: ClassVar[str] = "fold"
    title: str
    blocks: tuple[Foldable, ...]
    unfolded: bool = False


Block = Table | Beside | Plot | Grid | Remark | Tiles | Transcript | AnsweredItem | Fold


@dataclass(frozen=True, slots=True)
class ReportSection:
    """A headline, a sentence on what is shown, and what is shown."""

    id: str
    title: str
    lead: str
    blocks: tuple[Block, ...]
    absent: bool = False
    """Whether there is nothing to show, and the one block says why: it becomes one line."""


def absent_section(name: str, title: str, why: str, command: str = "") -> ReportSection:
    """Return a section that is not there: one line that says why, and what to type for it."""
    return ReportSection(name, title, "", (Remark(why, command),), absent=True)


@dataclass(frozen=True, slots=True)
class Page:
    """A page from top to bottom."""

    title: str
    subtitle: str
    notices: tuple[Remark, ...]
    sections: tuple[ReportSection, ...]
    footer: tuple[str, ...] = ()

    @property
    def told(self) -> list[ReportSection]:
        """The sections that show something."""
        return [section for section in self.sections if not section.absent]

    @property
    def untold(self) -> list[ReportSection]:
        """The sections that only say why there is nothing."""
        return [section for section in self.sections if section.absent]


_HERE = Path(__file__).parent
GENERATOR = '<meta name="generator" content="hipo">'
"""What every page contains, so that it is known as ours."""
_NUMBER = re.compile(
    r"^(< )?[-+\u2212$]?[\d.,]+\s?(%|ms|s|k|M)?(\s[(\[].*| of [\d,]+)?$|^\u2013$|^$"
)


def render_page(page: Page) -> str:
    """Return a page as the text of an HTML file.

    A policy in the page itself forbids everything but its own style sheet, so that nothing in it
    can be loaded or run, whatever a dialogue says.
    """
    styles = plot_styles() + (_HERE / "page.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(styles.encode()).digest()).decode()
    template = _environment().get_template("page.html.j2")
    return template.render(page=page, styles=Markup(styles), digest=digest) + "\n"  # noqa: S704


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalised,
    )
    environment.filters["markup"] = Markup
    environment.filters["numeric"] = numeric_columns
    return environment


def _letter(number: int) -> str:
    """Return a, b, and so on; aa after z."""
    letters = ""
    while number >= 0:
        letters = chr(ord("a") + number % 26) + letters
        number = number // 26 - 1
    return letters


def _finalised(value: object) -> object:
    """Replace what no HTML file may contain, in every text that is put into a page."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return printable(value)
    return value


def numeric_columns(table: Table) -> list[bool]:
    """Say of each column of a table whether all of it looks like numbers; the first never does."""
    return [
        place > 0 and all(_NUMBER.match(row[place]) is not None for row in table.rows)
        for place in range(len(table.header))
    ]
