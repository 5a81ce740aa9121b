"""Suggest the name that was probably meant by a mistyped one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known name spelled most like ``word``, or None where none is close.

    Where no name is, the only one of which it is the beginning, up to an underscore, counts as close.
    """
    by_folded: dict[str, str] = {}
    for name in known:
        by_folded.setdefault(name.casefold(), name)
    folded = word.casefold()[:200]
    matches = difflib.get_close_matches(folded, list(by_folded), n=1, cutoff=0.6)
    if not matches:
        longer = [name for name in by_folded if name.startswith(f"{folded}_")]
        matches = longer if len(longer) == 1 else []
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
