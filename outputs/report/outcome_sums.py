"""What became of the dialogues of each part of a run: scenarios, facts, arms."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TypeVar

from outputs.report.gathered import Gathered
from outputs.report.wording import NOTHING, count, percent
from pipeline.store.queries.report_rows import EndingCount, VoteCount

K = TypeVar("K", bound=Hashable)


@dataclass(slots=True)
class OutcomeSums:
    """What became of the dialogues of one scenario, fact or arm."""

    generated: int = 0
    failed: int = 0
    verified: int = 0
    accepted: int = 0
    flagged: int = 0
    found: int = 0
    judged: int = 0
    facts: set[str] = field(default_factory=set)

    @property
    def cells(self) -> tuple[str, ...]:
        """What stands in a table under ``OUTCOMES``."""
        return (
            count(self.generated),
            count(self.failed),
            _part(self.accepted, self.verified),
            _part(self.flagged, self.verified),
            _part(self.found, self.judged),
        )

    @property
    def worth(self) -> tuple[float, float, float]:
        """What rows are ordered by: the least accepted first, then the most flagged."""
        return (
            self.accepted / self.verified if self.verified else 2.0,
            -self.flagged / self.verified if self.verified else 0.0,
            self.found / self.judged if self.judged else 2.0,
        )


OUTCOMES = ("dialogues", "failed", "accepted", "flagged", "labels found again")


def outcome_sums(
    run: Gathered, key: Callable[[EndingCount | VoteCount], K]
) -> dict[K, OutcomeSums]:
    """Sum up how dialogues ended and how many of their labels judges found, by any key."""
    sums: defaultdict[K, OutcomeSums] = defaultdict(OutcomeSums)
    for ending in run.endings:
        mine = sums[key(ending)]
        if ending.status == "generated":
            mine.generated += ending.n
            mine.facts.add(ending.fact)
        else:
            mine.failed += ending.n
        if ending.verdict is not None:
            mine.verified += ending.n
            mine.accepted += ending.n * (ending.verdict == "accepted")
            mine.flagged += ending.n * ending.flagged
    declared = {dimension.id for dimension in run.scheme.declared}
    # One program in both chairs has read once what it is asked twice.
    counted = set(run.seats) or {vote.source for vote in run.votes}
    for vote in run.votes:
        if not vote.whole and vote.dimension in declared and vote.source in counted:
            mine = sums[key(vote)]
            mine.found += vote.yes
            mine.judged += vote.judged
    return dict(sums)


def _part(number: int, whole: int) -> str:
    return f"{percent(number / whole)} of {count(whole)}" if whole else NOTHING
