"""Kill workers of one run, then the process that drives them, again and again; part of the soak.

A process is killed whenever a further share of the run is played, at a random moment within a second
after that, so that every kill falls into the work.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.night import count_served, night_server
from benchmarks.report import Goal, Row
from pipeline.executors.local import width_for
from tests.pipeline.integration.records import rows as rows_in
from tests.processes import is_alive

WORKERS = 2
CONCURRENCY = 16
LEAST_CALLS = 2
"""Of one dialogue."""
_Process = subprocess.Popen[bytes]


@dataclass(frozen=True, slots=True)
class WorkerPlace:
    """How a run is told where its workers are to be, and how they are found to be killed."""

    name: str
    """As rows call it."""
    options: tuple[str, ...]
    find: Callable[[int], list[int]]
    """Returns the processes of the workers, given that of the command."""
    environment: Mapping[str, str]
    """Of the command, beside that of this process."""
    timeout_s: float = 3.0
    """Of a request; the endpoint with every fault hangs at times."""


def children(pid: int) -> list[int]:
    """Return the processes that a process has started and that still run."""
    listed = Path(f"/proc/{pid}/task").glob("*/children")
    try:
        started = [int(child) for file in listed for child in file.read_text().split()]
    except OSError:  # it has just ended
        return []
    return [child for child in started if is_alive(child)]


PROCESSES = WorkerPlace("soak", (), children, {})
"""Workers as processes of the command."""


@dataclass(frozen=True, slots=True)
class WorkerKills:
    """How many dialogues are played, and how often something is killed meanwhile."""

    cases: int
    workers: int
    drivers: int

    def measure(
        self, folder: Path, dice: random.Random, url: str, place: WorkerPlace = PROCESSES
    ) -> list[Row]:
        """Kill workers in one run, and the driver of another one.

        The runs are ``workers/run`` and ``drivers/run`` in ``folder``.
        """
        return [
            *self._measured("a worker", folder / "workers" / "run", dice, url, place),
            *self._measured("the driver", folder / "drivers" / "run", dice, url, place),
        ]

    def start(self, folder: Path, url: str, place: WorkerPlace, *options: str) -> _Process:
        """Start the run, or go on with it; only ``options`` say that there are workers."""
        return subprocess.Popen(
            [
                sys.executable, "-m", "hipo", "generate", "-q", "-o", str(folder), "--model",
                "compatible/night", "--base-url", f"{url}/v1", "-n", str(self.cases), "--turns", "1,2",
                "--strategy", "direct", "--timeout", str(place.timeout_s), "--max-concurrency",
                str(CONCURRENCY), "--budget-tokens", "1000000000", *options,
            ],
            stderr=subprocess.DEVNULL,
            env={**os.environ, **place.environment},
        )  # fmt: skip

    def _measured(
        self, what: str, folder: Path, dice: random.Random, url: str, place: WorkerPlace
    ) -> list[Row]:
        kills = self.workers if what == "a worker" else self.drivers
        before = count_served(url)
        killed = self._kill(what, folder, dice, url, place)
        requests = count_served(url) - before
        ((ended, distinct),) = rows_in(
            folder, "select count(*), count(distinct case_seq) from dialogues"
        )
        ((answered, left),) = rows_in(
            folder,
            "select (select count(*) from requests where code not in ('lost', 'unreachable')),"
            " (select count(*) from reservations)",
        )
        # a call is in flight until its reply is stored: one of each dialogue that is being played
        extra = Goal.below(width_for(CONCURRENCY))
        name = f"{place.name}: kill -9 of {what}"
        return [
            Row(f"{name}: kills", killed.number, goal=Goal.above(kills)),
            Row(f"{name}: exit code of the last start", killed.last_code, goal=Goal.below(1)),
            Row(f"{name}: cases lost", self.cases - distinct, goal=Goal.below(0)),
            Row(f"{name}: cases ended twice", ended - distinct, goal=Goal.below(0)),
            Row(f"{name}: reservations left", left, goal=Goal.below(0)),
            Row(
                f"{name}: requests repeated a kill",
                (requests - answered) / max(1, killed.number),
                goal=extra,
            ),
        ]

    def _kill(
        self, what: str, folder: Path, dice: random.Random, url: str, place: WorkerPlace
    ) -> _Killed:
        """Play a run to its end, and kill meanwhile."""
        kills = self.workers if what == "a worker" else self.drivers
        options = ("--workers", str(WORKERS), *place.options)
        process = self.start(folder, url, place, *options)
        share = LEAST_CALLS * self.cases // (kills + 1)
        first, killed = count_served(url), 0
        while killed < kills:
            while process.poll() is None and count_served(url) < first + (killed + 1) * share:
                time.sleep(0.05)
            time.sleep(dice.uniform(0.0, 1.0))
            workers = place.find(process.pid)
            if process.poll() is not None:
                break
            if what == "the driver":
                process.kill()
                process.wait()
                killed += 1
                while any(map(is_alive, workers)):
                    time.sleep(0.01)
                process = self.start(folder, url, place, *options)
            elif workers:
                os.kill(dice.choice(workers), signal.SIGKILL)
                killed += 1
        return _Killed(killed, process.wait())


@dataclass(frozen=True, slots=True)
class _Killed:
    number: int
    last_code: int
    """Exit code of the last start."""


FULL = WorkerKills(500, 10, 10)
QUICK = WorkerKills(200, 3, 3)


def run(*, quick: bool = False) -> list[Row]:
    """Kill workers and drivers beside an endpoint with every fault."""
    with tempfile.TemporaryDirectory() as base, night_server({"latency_s": 0.05}) as url:
        return (QUICK if quick else FULL).measure(Path(base), random.Random(29), url)
