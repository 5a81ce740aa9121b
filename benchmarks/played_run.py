"""Play recipes in a process of their own, in that process or in workers, and say what each came to.

``python -m benchmarks.played_run '{"recipes": [{...}], "workers": 2, "ray": false}'`` prints a
:class:`PlayedRun` for each. The process is new each time: what imports, templates and files of
scenarios cost is the same for one process and for each worker, and for the first recipe nothing of
it was done before.
"""

from __future__ import annotations

import os
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import orjson

from hipo.app.generation.generate import generate
from hipo.app.running.watching import Silent, Spending
from hipo.app.workers.wanted import RayWorkers
from pipeline.playing.runner import Progress
from pipeline.recipes.recipe import Recipe


@dataclass(frozen=True, slots=True)
class PlayedRun:
    """What one run came to from when it began, all workers being there, to its last dialogue."""

    rate: float
    """Calls per second."""
    own_ms: float
    """Processor time per call of the process that holds the store."""
    worker_ms: float
    """The same of all workers that are its children; 0 without any, and meaningless with Ray's."""
    start_s: float
    """Seconds from the start of the process to when the run began; says nothing of a later run."""
    gap_ms: dict[str, float]
    """From each reply to the next request of its dialogue, by percentile: ``50`` and ``95``."""

    @property
    def cpu_ms(self) -> float:
        """Processor time of all processes per call."""
        return self.own_ms + self.worker_ms


def played(
    recipes: Sequence[Recipe], workers: int | None, *, ray: bool = False
) -> tuple[PlayedRun, ...]:
    """Play recipes one after the other in a new process, and there in so many workers, or in none.

    ``ray`` has Ray place them.
    """
    order = {
        "recipes": [recipe.model_dump(mode="json") for recipe in recipes],
        "workers": workers,
        "ray": ray,
        "began": time.time(),
    }
    ended = subprocess.run(
        [sys.executable, "-m", "benchmarks.played_run", orjson.dumps(order).decode()],
        check=True,
        stdout=subprocess.PIPE,
    )
    return tuple(PlayedRun(**run) for run in orjson.loads(ended.stdout))


@dataclass(frozen=True, slots=True)
class _Moment:
    at: float
    """Unix time in seconds."""
    own_s: float
    """Processor time of this process so far."""
    children_s: float
    """The same of the processes that it has started, ended or not."""


class _Watch(Silent):
    """Remembers when a run began, and when its last dialogue was stored."""

    def __init__(self) -> None:
        self.began: _Moment | None = None
        self.last_at = 0.0

    def begin(self, total: int, spending: Callable[[], Spending]) -> None:
        """Remember the moment: workers are there by now."""
        self.began = _now()

    def see(self, progress: Progress) -> None:
        """Remember the moment."""
        self.last_at = time.time()


def _now() -> _Moment:
    own = resource.getrusage(resource.RUSAGE_SELF)
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    children_s = ended.ru_utime + ended.ru_stime + _living_children_s()
    return _Moment(time.time(), own.ru_utime + own.ru_stime, children_s)


def _living_children_s() -> float:
    """Return the processor time of children that live; 0 where the system does not tell."""
    ticks = 0
    for children in Path("/proc/self/task").glob("*/children"):
        pids = ""
        with suppress(FileNotFoundError):  # the thread has ended
            pids = children.read_text()
        for pid in pids.split():
            with suppress(FileNotFoundError):
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _measured(recipe: Recipe, workers: int | RayWorkers | None, started_at: float) -> PlayedRun:
    watch = _Watch()
    with tempfile.TemporaryDirectory() as folder:
        run = generate(recipe, output=Path(folder) / "run", workers=workers, watcher=watch)
        end = _now()
        if run.state().generated != recipe.n or watch.began is None:
            raise RuntimeError(f"{run.state().generated} of {recipe.n} dialogues were generated")
        database = f"file:{Path(folder) / 'run' / 'run.sqlite'}?mode=ro"
        with closing(sqlite3.connect(database, uri=True)) as connection:
            calls = connection.execute(
                "select case_id, sent_at, latency_s from requests order by case_id, sent_at"
            ).fetchall()
    began = watch.began
    gaps = [b[1] - a[1] - a[2] for a, b in pairwise(calls) if a[0] == b[0]]
    return PlayedRun(
        rate=len(calls) / (watch.last_at - began.at),
        own_ms=(end.own_s - began.own_s) / len(calls) * 1e3,
        worker_ms=(end.children_s - began.children_s) / len(calls) * 1e3,
        start_s=began.at - started_at,
        gap_ms={str(p): _percentile(gaps, p) * 1e3 for p in (50, 95)},
    )


def _percentile(values: Sequence[float], percent: int) -> float:
    return statistics.quantiles(values, n=100)[percent - 1]


if __name__ == "__main__":
    wanted = orjson.loads(sys.argv[1])
    elsewhere = RayWorkers(wanted["workers"]) if wanted["ray"] else wanted["workers"]
    recipes = [Recipe.model_validate(recipe) for recipe in wanted["recipes"]]
    ran = [_measured(recipe, elsewhere, wanted["began"]) for recipe in recipes]
    sys.stdout.buffer.write(orjson.dumps(ran))
