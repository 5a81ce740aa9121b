"""How a run that is being played gets on: dialogues, calls in flight, money, and how fast."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from pipeline.store.queries.status import RUNNING, ArmState, RunState
from quality.viewer.viewed_run import ViewedRun

WINDOW_S = 60.0
"""The time before now in which endings and calls are counted for a rate."""
LATEST = 8


@dataclass(frozen=True, slots=True)
class Latest:
    """A case that ended last."""

    id: str
    scenario: str
    fact: str
    goal: str
    seconds_ago: float
    failure: str
    """Code and reason; "" for a dialogue."""


@dataclass(frozen=True, slots=True)
class RunProgress:
    """A run at one moment."""

    state: RunState
    dialogues_per_min: float
    """In the last minute of its life, or since it began if that is less."""
    calls_per_min: float
    at_least: bool
    """Whether more calls were made in this minute than are counted."""
    eta_s: float | None
    """Seconds until everything is played, at this rate; None where nothing can be said."""
    latest: tuple[Latest, ...]

    @property
    def is_live(self) -> bool:
        """Whether a process plays the run."""
        return self.state.state == RUNNING

    @property
    def failed(self) -> int:
        """Cases that failed."""
        return sum(self.state.failed.values())

    @property
    def failure_reasons(self) -> tuple[tuple[str, int], ...]:
        """(code, cases), the commonest first."""
        return tuple(self.state.failed.items())

    @property
    def share(self) -> float:
        """Share of what is planned that has ended."""
        return self.state.settled / self.state.planned if self.state.planned else 0.0

    @property
    def arms(self) -> tuple[ArmState, ...]:
        """The arms, in the order in which they were added."""
        return self.state.arms


def run_progress(run: ViewedRun) -> RunProgress:
    """Return how a run gets on."""
    state, now = run.state(), time.time()
    # A run that is over keeps the pace it ended with; one that has just begun, has a short past.
    until = now if state.state == RUNNING else state.worked_until
    begun = max(until - WINDOW_S, min(state.created, until))
    minutes = max(until - begun, 1.0) / 60
    finished = run.columns.finished_at
    recent = int(np.count_nonzero((finished > begun) & (finished <= until)))
    ended = run.reader.calls_ended()
    calls = sum(begun < at <= until for at in ended)
    pace = recent / minutes
    waiting = state.pending if state.state == RUNNING else 0
    return RunProgress(
        state=state,
        dialogues_per_min=pace,
        calls_per_min=calls / minutes,
        at_least=bool(ended) and calls == len(ended) < state.calls,
        eta_s=waiting / pace * 60 if pace and waiting else None,
        latest=_latest(run, now),
    )


def _latest(run: ViewedRun, now: float) -> tuple[Latest, ...]:
    columns = run.columns
    newest = np.argsort(-columns.finished_at, kind="stable")[:LATEST].tolist()
    rows = {int(columns.seq[row]): row for row in newest}

    return tuple(
        Latest(
            f"{one.case}/{one.arm}",
            columns.value("scenario", rows[one.seq]),
            columns.value("fact", rows[one.seq]).partition("/")[2],
            columns.value("goal", rows[one.seq]),
            max(0.0, now - float(columns.finished_at[rows[one.seq]])),
            "" if one.code is None else f"{one.code}: {one.reason}",
        )
        for one in run.reader.listed(list(rows))
    )
