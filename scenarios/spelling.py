"""Suggest the name that was probably meant by a mistyped one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known name spelled most like ``word``, or None where none is close."""
    by_folded: dict[str, str] = {}
    for name in known:
        by_folded.setdefault(name.casefold(), name)
    matches = difflib.get_close_matches(word.casefold()[:200], list(by_folded), n=1, cutoff=0.6)
    return by_folded[matches[0]] if matches else None


OWN_FOLDER = "those of your own are read with --scenario-dir FOLDER"
"""What to do where a scenario is not found."""


def suggestion(word: str, known: Iterable[str], *, listing: str = "known") -> str:
    """Return a hint: the nearest name where there is one, then the names there are (at most 12)."""
    names = list(known)
    guess = nearest(word, names)
    shown = ", ".join(names[:12]) + (f", ... ({len(names)} in all)" if len(names) > 12 else "")
    parts = [f"did you mean {guess!r}?"] if guess else []
    if shown:
        parts.append(f"{listing}: {shown}")
    return " ".join(parts)
