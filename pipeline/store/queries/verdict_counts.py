"""How far the verification of a run is, from counters that are exact at every commit."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from scenarios.annotations import VERIFIER


@dataclass(frozen=True, slots=True)
class VerdictCounts:
    """How far the verification of a run is; exact at every commit."""

    verdicts: Mapping[str, int] = field(default_factory=dict)
    """Dialogues by newest verdict; those nobody has decided on are in none."""
    judged: Mapping[str, int] = field(default_factory=dict)
    """Dialogues by judge, ``self provider/model`` or ``external provider/model``."""
    flagged: int = 0
    """Dialogues whose newest assessment holds a flag."""

    def covers(self, generated: int) -> bool:
        """Whether verification was not begun, or has come to a verdict on so many dialogues."""
        begun = any(not judge.startswith("juror ") for judge in self.judged)
        return not begun or sum(self.verdicts.values()) >= generated


def read_verdict_counts(connection: sqlite3.Connection) -> VerdictCounts:
    """Read the tallies of verification."""
    counts: defaultdict[str, dict[str, int]] = defaultdict(dict)
    rows = connection.execute(
        "select kind, name, n from verification_tally where n > 0 order by kind, name"
    )
    for kind, name, n in rows:
        if kind != "judged" or not name.startswith(f"{VERIFIER} "):  # those come with a dialogue
            counts[kind][name] = n
    return VerdictCounts(counts["verdict"], counts["judged"], counts["flagged"].get("", 0))
