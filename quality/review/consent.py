"""The consent page: a study's own text and a fixed list."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from scenarios.errors import UsageError
from scenarios.fingerprint import fingerprint
from scenarios.text_file import read_text

SHIPPED = Path(__file__).with_name("consent.md")
PLACE = "{stored}"
ORIGIN = "{origin}"
"""Where the text says where dialogues come from, and what answers are for."""
_BY_PROGRAM = (
    "The dialogues were written by a computer program. Your answers show how far the labels of the "
    "program can be trusted, and which dialogues should not be used."
)
_BROUGHT = (
    "The dialogues were not written here: whoever asks you knows where they come from. Your answers show "
    "what is done with the words, and how far people agree on it."
)
STORED = (
    "the name you give yourself on the next page (any name will do) and the language you choose",
    "a code made for you, under which your answers are kept",
    "that you agreed to this text, and when",
    "a hash of the return code or the password that lets you come back, never the code itself",
    "one cookie, which keeps you logged in for 14 days, and a hash of it",
    "which dialogues you were given, and when",
    "every answer, note and report you send and when, with earlier versions of what you change",
    "how long each dialogue was open on your screen before you answered",
    "a form you have not sent yet, here and in your browser; it is deleted when you send it",
)
"""Everything about a person that the store of a run, or their browser, will hold."""


@dataclass(frozen=True, slots=True)
class ConsentBlock:
    """One piece of the text."""

    kind: Literal["h1", "h2", "p", "list"]
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Consent:
    """What people agree to, ready to be shown."""

    blocks: tuple[ConsentBlock, ...]
    fingerprint: str
    """Of the text as it was shown; stored with the agreement."""


def load_consent(path: Path | None, *, imported: bool = False) -> Consent:
    """Read the consent text: headings (``#``, ``##``), paragraphs and lists (``-``).

    The list of what is stored stands where ``{stored}`` is, or else at the end: a study can change
    every word but cannot leave that out.

    Args:
        path: of the text; None: the one that ships.
        imported: whether all dialogues were: where ``{origin}`` is, it is then not said that a program
            wrote them.

    Raises:
        UsageError: the file cannot be read, is empty, or has ``{stored}`` within a paragraph.
    """
    path = path or SHIPPED
    text = read_text(path).replace(ORIGIN, _BROUGHT if imported else _BY_PROGRAM)
    if not text.strip():
        raise UsageError(f"the consent text {path} is empty", "write it, or leave --consent out")
    if PLACE not in text:
        text = f"{text.rstrip()}\n\n## What is stored\n\n{PLACE}\n"
    blocks = tuple(_block(part) for part in re.split(r"\n\s*\n", text) if part.strip())
    if not any(block.lines is STORED for block in blocks):
        raise UsageError(
            f"{path}: {PLACE} stands among other words, expected it alone: it becomes a list",
            "put an empty line before and after it, or leave it out: the list then stands at the end",
        )
    return Consent(blocks, fingerprint([[b.kind, list(b.lines)] for b in blocks])[:20])


def _block(part: str) -> ConsentBlock:
    lines = [line.strip() for line in part.strip().splitlines()]
    if lines == [PLACE]:
        return ConsentBlock("list", STORED)
    if lines[0].startswith("## "):
        return ConsentBlock("h2", (" ".join(lines)[3:],))
    if lines[0].startswith("# "):
        return ConsentBlock("h1", (" ".join(lines)[2:],))
    if not lines[0].startswith("- "):
        return ConsentBlock("p", (" ".join(lines),))
    entries: list[str] = []
    for line in lines:
        if line.startswith("- "):
            entries.append(line[2:])
        else:
            entries[-1] += f" {line}"
    return ConsentBlock("list", tuple(entries))
