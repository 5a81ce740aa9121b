"""Read the way of speaking that a prompt asks for, as far as rules can follow it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

_REGISTERS = (
    ("casual", ("casual", "colloquial", "informal", "text chat", "relaxed", "filler word")),
    ("formal", ("formal", "measured", "old-fashioned", "impersonal", "takes notes", "exact terms")),
)
_PACES = (
    ("nervous", ("fluster", "nervous", "begins a sentence again", "stammer")),
    (
        "brisk",
        ("clipped", "short messages", "short of time", "to the point", "blunt", "say little"),
    ),
)
_PRESSES = (
    ("insist", ("come back to your question", "insist", "until it has been answered")),
    ("doubt", ("not convinced", "scepti", "skepti", "doubt")),
    ("paper", ("in writing", "could be shown", "document")),
    ("deadline", ("decide soon", "deadline")),
    ("feeling", ("understanding first", "empath", "sympath")),
    ("case", ("concrete case", "hypothe", "what would happen")),
    ("narrow", ("one detail at a time", "to the particular", "step by step")),
    ("word", ("take up a word", "what is meant")),
)
_HARDNESS = (
    ("sharp", ("sharp", "confront", "blunt", "aggress", "interrog", "rudeness")),
    ("gentle", ("gentle", "friendly", "warm", "soft", "sympath", "understanding first")),
)


@dataclass(frozen=True, slots=True)
class Manner:
    """How somebody talks; an empty text where nothing is asked for."""

    register: str
    """``formal`` or ``casual``."""
    pace: str
    """``brisk`` or ``nervous``."""
    press: str
    """Which kind of question to prefer, a key of the phrase book."""
    hardness: str
    """``sharp`` or ``gentle``."""


@lru_cache(maxsize=512)
def read_manner(section: str) -> Manner:
    """Look for the signs of each way of talking; the first that is found counts."""
    low = section.lower().replace("informal", "casual")
    return Manner(
        register=_first(_REGISTERS, low),
        pace=_first(_PACES, low),
        press=_first(_PRESSES, low),
        hardness=_first(_HARDNESS, low),
    )


def _first(table: tuple[tuple[str, tuple[str, ...]], ...], text: str) -> str:
    for name, signs in table:
        if any(sign in text for sign in signs):
            return name
    return ""
