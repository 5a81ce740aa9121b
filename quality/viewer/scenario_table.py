"""How dialogues fare by scenario, and by fact: which one is worst?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from quality.viewer.columns import FAILED, NOT_JUDGED, VERDICTS, DialogueColumns, Mask

GroupedBy = Literal["scenario", "fact"]
MOST_ROWS = 1_000


@dataclass(frozen=True, slots=True)
class GroupRow:
    """The dialogues of one scenario or fact."""

    value: str
    """Of the field that is grouped by."""
    scenario: str
    fact: str
    n: int
    """Dialogues, failures included."""
    verdicts: tuple[int, ...]
    """Dialogues by verdict, in the order of ``VERDICTS``."""
    flagged: int
    """Dialogues with a flag."""
    flags_each: float
    """Flags of a dialogue in the mean, those without any included."""
    commonest: str
    """The flag that most dialogues have; "" without any."""
    commonest_n: int

    @property
    def played(self) -> int:
        """Dialogues, failures left out."""
        return self.n - self.verdicts[FAILED]

    @property
    def decided(self) -> int:
        """Dialogues that somebody has decided on, or left to people."""
        return self.played - self.verdicts[NOT_JUDGED]

    @property
    def accepted_share(self) -> float | None:
        """Share of accepted dialogues among those decided on; None without any."""
        return self.verdicts[0] / self.decided if self.decided else None

    @property
    def flagged_share(self) -> float | None:
        """Share of dialogues with a flag; None without dialogues."""
        return self.flagged / self.played if self.played else None


def group_table(columns: DialogueColumns, mask: Mask, by: GroupedBy) -> list[GroupRow]:
    """Count dialogues by scenario or by fact, those that fare worst first.

    That is the lowest share of accepted ones, then the most flags.
    """
    column = columns.fields[by]
    codes = column.codes[mask]
    size = len(column.names)
    n = np.bincount(codes, minlength=size)
    verdict = columns.fields["verdict"].codes[mask]
    by_verdict = np.bincount(codes * len(VERDICTS) + verdict, minlength=size * len(VERDICTS))
    by_verdict = by_verdict.reshape(size, len(VERDICTS))
    flagged = np.bincount(codes, weights=columns.raised[mask] > 0, minlength=size)
    raised = np.bincount(codes, weights=columns.raised[mask], minlength=size)
    codes_of_flags = {
        code: np.bincount(column.codes[mask & rows], minlength=size)
        for code, rows in columns.flags.items()
    }
    table = []
    for code, value in enumerate(column.names):
        if not n[code] or not value:
            continue
        commonest = max(codes_of_flags, key=lambda flag: codes_of_flags[flag][code], default="")
        commonest_n = int(codes_of_flags[commonest][code]) if commonest else 0
        played = int(n[code] - by_verdict[code, FAILED])
        scenario, _, fact = value.partition("/")
        table.append(
            GroupRow(
                value=value,
                scenario=scenario,
                fact=fact,
                n=int(n[code]),
                verdicts=tuple(int(count) for count in by_verdict[code]),
                flagged=int(flagged[code]),
                flags_each=float(raised[code]) / played if played else 0.0,
                commonest=commonest if commonest_n else "",
                commonest_n=commonest_n,
            )
        )
    table.sort(key=_worst_first)
    return table[:MOST_ROWS]


def _worst_first(row: GroupRow) -> tuple[float, float, str]:
    share = row.accepted_share
    return (2.0 if share is None else share, -row.flags_each, row.value)
