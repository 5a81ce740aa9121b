"""Where a run stands: a handful of counters that are exact at every commit."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import orjson

from pipeline.store.answering_models import AnsweringModel, read_answering_models
from pipeline.store.flight_mark import HELD, MARKS
from pipeline.store.queries.charges import Charges, known_cost
from pipeline.store.queries.left_batches import LeftBatch, left_batches
from pipeline.store.queries.verdict_counts import VerdictCounts, read_verdict_counts
from pipeline.store.sqlite import parsing
from scenarios.arms import Arm

RUNNING = "running"
INTERRUPTED = "interrupted"
FINISHED = "finished"
STATES = ("new", RUNNING, FINISHED, "finished_with_failures")
"""States that are stored, besides ``stopped:<reason>``; ``interrupted`` is only ever seen."""

_TOTALS = f"""
    select max(cases, (select coalesce(max(json_extract(config, '$.cases')), 0) from config_epochs)),
        requests, cached_choices, prompt_tokens, completion_tokens, cached_tokens,
        reasoning_tokens, cost_usd, unpriced, updated_at,
        charged_usd + (select coalesce(sum(usd), 0) from {HELD}),
        charged_tokens + (select coalesce(sum(tokens), 0) from {HELD}),
        (select count(*) from {HELD}),
        (select coalesce(sum(usd), 0) from {MARKS}), (select coalesce(sum(tokens), 0) from {MARKS}),
        (select coalesce(sum(place), 0) from {MARKS}),
        (select count(*) from requests where case_id = '' and code = 'lost'),
        (select count(*) from {HELD} and batch is null)
    from totals"""  # noqa: S608 - constants only
# Of each the newest row alone is looked at, but for answers of people, of which there are few.
_LABELLED = """
    select max(at) from (
        select (select made_at from passes order by seq desc limit 1) as at
        union all select (select decided_at from decisions order by seq desc limit 1)
        union all select (select adjudicated_at from adjudications order by seq desc limit 1)
        union all select (select max(answered_at) from reviews))"""


@dataclass(frozen=True, slots=True)
class ArmState:
    """One arm of a run, and how far it is."""

    id: str
    arm: Arm
    generated: int
    failed: int


@dataclass(frozen=True, slots=True)
class RunState(Charges):
    """Where a run stands at one moment."""

    name: str
    state: str
    """``new``, ``running``, ``finished``, ``finished_with_failures``, ``stopped:<reason>`` or
    ``interrupted`` (its process ended without a word, and there is something left to do)."""
    planned: int
    """Dialogues that are there, failed ones too, and those its newest plan has still to play."""
    generated: int
    failed: Mapping[str, int]
    """Number of failed dialogues by reason code."""
    cached_tokens: int
    """Part of ``prompt_tokens``."""
    reasoning_tokens: int
    """Part of ``completion_tokens``."""
    calls_in_flight: int
    """Requests that hold a part of the budget: sent and not answered yet, or lost in a kill."""
    calls_lost: int
    """Requests that were, or may have been, in flight when a process of the run was killed."""
    arms: tuple[ArmState, ...]
    created: float
    """Unix time in seconds."""
    updated: float
    """Unix time in seconds of the last call, outcome, judgement, decision or answer of people."""
    verification: VerdictCounts = field(default_factory=VerdictCounts)
    """How many dialogues are judged and decided on."""
    answering: tuple[AnsweringModel, ...] = ()
    """Which models answered, as their endpoints say."""
    batches: tuple[LeftBatch, ...] = ()
    """What lies at providers, or came back from there and was not used yet."""
    worked_until: float = 0.0
    """Unix time in seconds of the last call or outcome alone."""

    @property
    def pending(self) -> int:
        """Dialogues that are still to be played."""
        return self.planned - self.settled

    @property
    def settled(self) -> int:
        """Dialogues that are generated or have failed."""
        return self.generated + sum(self.failed.values())


def ended(*, failures: bool) -> str:
    """Return the state of a run that has nothing left to do."""
    return "finished_with_failures" if failures else FINISHED


def read_state(connection: sqlite3.Connection, *, alive: bool) -> RunState:
    """Read the state of a run; the time it takes does not depend on the size of the run.

    Args:
        connection: an open database of a run.
        alive: whether a process holds the lock of the run; a run that says it is running though
            nobody holds it was interrupted.
    """
    connection.execute("begin")  # one snapshot for all of it
    try:
        meta = dict(connection.execute("select key, value from meta").fetchall())
        arms = connection.execute("select seq, id, description from arms order by seq").fetchall()
        tally = connection.execute("select arm_seq, status, code, n from tally where n > 0")
        counts = tally.fetchall()
        totals = connection.execute(_TOTALS).fetchone()
        verification = read_verdict_counts(connection)
        answering = read_answering_models(connection)
        batches = left_batches(connection)
        (labelled,) = connection.execute(_LABELLED).fetchone()
    finally:
        connection.execute("commit")
    with parsing(connection, "the state of the run"):
        state = _state(meta, arms, counts, totals, verification, alive=alive)
    updated = max(state.worked_until, labelled or 0.0)
    with parsing(connection, "a time of the run"):
        asked = (time for one in answering for time in (one.first_at, one.last_at))
        for time in (state.created, updated, *asked, *(batch.since for batch in batches)):
            datetime.fromtimestamp(time, UTC)
    return replace(state, updated=updated, answering=answering, batches=batches)


def _planned(meta: Mapping[str, str], known: int, settled: int) -> int:
    """Return how many dialogues are planned, from those known and settled where it is not stored.

    A run of older code, a repaired one, or one that has not begun to play stores it not yet.
    """
    if "planned" in meta:
        return max(int(meta["planned"]), settled)
    return settled if meta["state"].startswith(FINISHED) else max(known, settled)


def _state(
    meta: Mapping[str, str],
    arms: Sequence[tuple[int, str, str]],
    counts: Sequence[tuple[int, str, str, int]],
    totals: Sequence[Any],
    verification: VerdictCounts,
    *,
    alive: bool,
) -> RunState:
    """Join what was read."""
    failed: Counter[str] = Counter()
    by_arm: Counter[tuple[int, str]] = Counter()
    for arm, status, code, n in counts:
        by_arm[arm, status] += n
        if status == "failed":
            failed[code] += n
    generated = sum(n for (_, status), n in by_arm.items() if status == "generated")
    cases, calls, hits, prompt, completion, cached, reasoning, cost, unpriced, updated = totals[:10]
    charged_usd, charged_tokens, in_flight, lost = _charged(totals[10:], alive=alive)
    created = float(meta["created"])
    settled = generated + failed.total()
    planned = _planned(meta, cases * len(arms), settled)
    worked_until = max(created, float(meta["state_at"]), updated or 0.0)
    state = meta["state"]
    if state == RUNNING and not alive:
        # Without a stored plan the cases known so far say nothing of those that were to come.
        has_plan = "planned" in meta
        whole = has_plan and planned == settled > 0 and verification.covers(generated)
        state = ended(failures=bool(failed)) if whole else INTERRUPTED
    return RunState(
        name=meta["name"],
        state=state,
        planned=planned,
        generated=generated,
        failed=dict(failed.most_common()),
        calls=calls,
        cached_calls=hits,
        prompt_tokens=prompt,
        completion_tokens=completion,
        cached_tokens=cached,
        reasoning_tokens=reasoning,
        cost_usd=known_cost(cost, unpriced),
        unpriced_calls=unpriced,
        charged_usd=charged_usd,
        charged_tokens=charged_tokens,
        calls_in_flight=in_flight,
        calls_lost=lost,
        arms=tuple(
            ArmState(
                arm,
                Arm.from_fields(orjson.loads(text)),
                by_arm[seq, "generated"],
                by_arm[seq, "failed"],
            )
            for seq, arm, text in arms
        ),
        created=created, updated=worked_until, worked_until=worked_until, verification=verification,
    )  # fmt: skip


def _charged(totals: Sequence[Any], *, alive: bool) -> tuple[float, int, int, int]:
    """Return US dollars and tokens that count against a budget, and the requests in flight and lost."""
    usd, tokens, in_flight, *marked, lost, singly = totals
    if alive:
        return usd, tokens, in_flight, lost
    # Without a budget: as much as was in flight at most, lately.
    lost += marked[2] + singly
    return usd + marked[0], tokens + marked[1], in_flight + marked[2], lost
