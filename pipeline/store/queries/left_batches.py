"""The batches of a run that lie at providers, or came back and were not used yet."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Literal

BatchState = Literal["intended", "submitted", "ended"]
"""``intended``: written down right before it is sent, so that it may or may not have arrived;
``submitted``: the provider has it; ``ended``: everything that came of it is stored here."""


@dataclass(frozen=True, slots=True)
class LeftBatch:
    """A batch with requests whose records are not written yet."""

    model: str
    """``provider/model``."""
    remote: str | None
    state: BatchState
    since: float
    """Unix time in seconds when it was sent."""
    requests: int
    """How many nothing is recorded of."""


def left_batches(connection: sqlite3.Connection) -> tuple[LeftBatch, ...]:
    """Return what lies at providers, or came back and was not used yet; oldest first."""
    rows = connection.execute(
        "select b.model, b.remote, b.state, b.intended_at, count(*) from batches b"
        " join reservations r on r.batch = b.seq group by b.seq order by b.seq"
    )
    return tuple(LeftBatch(*row) for row in rows.fetchall())
