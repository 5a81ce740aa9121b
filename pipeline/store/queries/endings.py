"""How cases ended, as rows of the tables ``dialogues``, ``cases`` and ``arms``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pipeline.store.case_rows import CASE_COLUMNS, case_from
from scenarios.case import Case

_CASE = ", ".join(f"c.{column.strip()}" for column in CASE_COLUMNS.split(","))
ENDING_COLUMNS = (
    "d.seq, d.case_seq, d.arm_seq, a.id, d.status, d.code, d.reason, d.retry_epoch,"
    f" d.config_epoch, d.finished_at, {_CASE}"
    " from dialogues d join cases c on c.seq = d.case_seq join arms a on a.seq = d.arm_seq"
)
"""What :func:`ending_from` reads, and the tables it stands in."""
CaseStatus = Literal["generated", "failed"]
"""How a case that was played ended."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a case ended when an arm played it."""

    case: Case
    arm: str
    status: CaseStatus
    code: str | None
    reason: str | None
    epoch: int
    """How often it had failed before."""
    config_epoch: int
    finished_at: float
    """Unix time in seconds."""

    @property
    def id(self) -> str:
        """``case/arm``, the id of the dialogue."""
        return f"{self.case.id}/{self.arm}"


def ending_from(row: Sequence[Any]) -> Ending:
    """Return an ending from a row of ``ENDING_COLUMNS``."""
    _, _, _, arm, status, code, reason, epoch, config_epoch, finished_at = row[:10]
    return Ending(case_from(row[10:]), arm, status, code, reason, epoch, config_epoch, finished_at)
