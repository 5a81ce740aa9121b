"""Cues that stand together where somebody shows what it was set to do to the other person."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from prompts.cue_points import cue_points
from scenarios.wording import REMEMBERED

CUES = Path(__file__).parent / "data" / "goal_cues.yaml"
_ASKED = re.compile(r"[^;:\u2014?]*\?\W*$")
"""The clause of a sentence that asks."""


@lru_cache(maxsize=REMEMBERED)
def shows_goal(parts: tuple[str, ...]) -> str | None:
    """Return the cues for a goal to mislead or to conceal that sentences have together, if enough.

    Clauses that ask count for nothing.

    Args:
        parts: the sentences of one answer.
    """
    said = " ".join(_ASKED.sub("", part) for part in parts)
    return cue_points(CUES).found(said)
