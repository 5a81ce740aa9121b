"""Two worker processes against one process: the rate of calls, and how long the stream takes.

Rates are those of the middle four fifths of a run: a worker takes some seconds to start, which is
told apart. One process and workers alternate within one run. On a machine that does other things as
well, three processes get more of it than one does; the processor time per call does not depend on
that, nor does what it allows: the rate of two free cores, as far as the busiest process is not alone.
"""

from __future__ import annotations

import os
import resource
import sqlite3
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from benchmarks.report import Goal, Row
from benchmarks.server import running_server
from hipo.app.generation import generate
from pipeline.recipe import Recipe

WORKERS = 2
CONCURRENCY = 512
DELAY_S = 0.2


@dataclass(frozen=True, slots=True)
class _Run:
    """What one run came to."""

    rate: float
    """Calls per second."""
    cpu_ms: float
    """Processor time of all processes per call, their start included."""
    gaps: Sequence[float]
    """Seconds from each reply to the next request of its dialogue, in order."""


def _recipe(n: int, model: Mapping[str, str], concurrency: int) -> Recipe:
    return Recipe.model_validate(
        {
            "name": "bench",
            "turns": [2],
            "n": n,
            "models": {"default": model},
            "limits": {"max_concurrency": concurrency},
        }
    )


def _played(recipe: Recipe, workers: int | None) -> _Run:
    with tempfile.TemporaryDirectory() as folder:
        before = _cpu_s()
        run = generate(recipe, output=Path(folder) / "run", workers=workers)
        cpu_s = _cpu_s() - before
        if run.state().generated != recipe.n:
            raise RuntimeError(f"{run.state().generated} of {recipe.n} dialogues were generated")
        database = f"file:{Path(folder) / 'run' / 'run.sqlite'}?mode=ro"
        with closing(sqlite3.connect(database, uri=True)) as connection:
            calls = connection.execute(
                "select case_id, sent_at, latency_s from requests order by case_id, sent_at"
            ).fetchall()
    gaps = sorted(b[1] - a[1] - a[2] for a, b in pairwise(calls) if a[0] == b[0])
    return _Run(_rate([sent_at for _, sent_at, _ in calls]), cpu_s / len(calls) * 1e3, gaps)


def _cpu_s() -> float:
    """Return the processor time of this process and of those that it has started and seen end."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def _rate(times: Sequence[float]) -> float:
    """Return calls per second between the first and the last tenth of them."""
    tenths = statistics.quantiles(times, n=10)
    return 0.8 * len(times) / (tenths[-1] - tenths[0])


def _compared(recipe: Recipe, rounds: int) -> tuple[list[_Run], list[_Run]]:
    """Play in one process and in workers, in turn."""
    _played(recipe.with_changes({"n": 8}), None)  # imports and caches are not what is measured
    alone, together = [], []
    for _ in range(rounds):
        alone.append(_played(recipe, None))
        together.append(_played(recipe, WORKERS))
    return alone, together


def _ratios(alone: Sequence[_Run], together: Sequence[_Run]) -> float:
    return statistics.median(b.rate / a.rate for a, b in zip(alone, together, strict=True))


def _added_ms(alone: Sequence[_Run], together: Sequence[_Run], percent: int) -> float:
    """Return what workers add to a percentile of the time from a reply to the next request."""
    added = [
        statistics.quantiles(b.gaps, n=100)[percent - 1]
        - statistics.quantiles(a.gaps, n=100)[percent - 1]
        for a, b in zip(alone, together, strict=True)
    ]
    return statistics.median(added) * 1e3


def run(*, quick: bool = False) -> list[Row]:
    """Measure three rounds of each and compare the medians of the ratios."""
    rounds = 1 if quick else 3
    inside = {"model": "offline/rules"}
    rows = []
    alone, together = _compared(_recipe(150 if quick else 400, inside, 32), rounds)
    rows += _rows("in-process provider", alone, together, 1.6)
    with running_server(DELAY_S) as base_url:
        served = {"model": "compatible/bench", "base_url": base_url}
        alone, together = _compared(_recipe(500 if quick else 1500, served, CONCURRENCY), rounds)
        rows += _rows(f"loopback server, {CONCURRENCY} in flight", alone, together, 1.25)
        # fewer dialogues than places: what is waited for is the stream and the commit
        alone, together = _compared(_recipe(100, served, CONCURRENCY), rounds)
    for percent, goal in ((50, 20.0), (95, 80.0)):
        added = _added_ms(alone, together, percent)
        name = f"workers: added from a reply to the next request, p{percent}, 100 dialogues"
        rows.append(Row(name, added, " ms", Goal.below(goal)))
    return rows


def _rows(what: str, alone: Sequence[_Run], together: Sequence[_Run], bound: float) -> list[Row]:
    ratio = _ratios(alone, together)
    cores = os.cpu_count() or 1
    return [
        Row(
            f"workers: {WORKERS} / 1 process, {what}, {cores} cores", ratio, "x", Goal.above(bound)
        ),
        Row(f"workers: rate of 1, {what}", statistics.median(r.rate for r in alone), " calls/s"),
        Row(f"workers: CPU a call of 1, {what}", statistics.median(r.cpu_ms for r in alone), " ms"),
        Row(
            f"workers: CPU a call of {WORKERS} and the driver, {what}, their start included",
            statistics.median(r.cpu_ms for r in together),
            " ms",
        ),
    ]
