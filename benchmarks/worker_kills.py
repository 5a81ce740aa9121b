"""Kill workers of one run, then the process that drives them, again and again; part of the soak."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from benchmarks.night import count_served
from benchmarks.report import Goal, Row

WORKERS = 2
CONCURRENCY = 16


@dataclass(frozen=True, slots=True)
class WorkerKills:
    """How many dialogues are played, and how often something is killed meanwhile."""

    cases: int
    workers: int
    drivers: int

    def measure(self, folder: Path, dice: random.Random, url: str) -> list[Row]:
        """Kill workers in one run, and the driver of another one."""
        return [
            *self._measured("a worker", folder / "workers", dice, url, self.workers),
            *self._measured("the driver", folder / "drivers", dice, url, self.drivers),
        ]

    def _measured(
        self, what: str, folder: Path, dice: random.Random, url: str, kills: int
    ) -> list[Row]:
        before = count_served(url)
        process = self._start(folder, url)
        killed = 0
        while killed < kills:
            _under_way(process, url)
            time.sleep(dice.uniform(0.0, 1.0))
            workers = _children(process.pid)
            if process.poll() is not None:
                break
            if what == "a worker" and workers:
                _kill(dice.choice(workers))
                killed += 1
            elif what == "the driver":
                process.kill()
                process.wait()
                killed += 1
                while any(map(_is_alive, workers)):
                    time.sleep(0.01)
                process = self._start(folder, url)
        code = process.wait()
        requests = count_served(url) - before
        ended, distinct = _read(folder, "select count(*), count(distinct case_seq) from dialogues")
        answered, left = _read(
            folder,
            "select (select count(*) from requests where code not in ('lost', 'unreachable')),"
            " (select count(*) from reservations)",
        )
        extra = Goal.below(CONCURRENCY)  # what was in flight at the most
        name = f"soak: kill -9 of {what}"
        return [
            Row(f"{name}: kills", killed, goal=Goal.above(kills)),
            Row(f"{name}: exit code of the last start", code, goal=Goal.below(1)),
            Row(f"{name}: cases lost", self.cases - distinct, goal=Goal.below(0)),
            Row(f"{name}: cases ended twice", ended - distinct, goal=Goal.below(0)),
            Row(f"{name}: reservations left", left, goal=Goal.below(0)),
            Row(f"{name}: requests repeated a kill", (requests - answered) / killed, goal=extra),
        ]

    def _start(self, folder: Path, url: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [
                sys.executable, "-m", "hipo", "generate", "-q", "-o", str(folder), "--model",
                "compatible/night", "--base-url", f"{url}/v1", "-n", str(self.cases), "--turns", "1,2",
                "--strategy", "direct", "--timeout", "3", "--workers", str(WORKERS),
                "--max-concurrency", str(CONCURRENCY), "--budget-tokens", "1000000000",
            ],
            stderr=subprocess.DEVNULL,
        )  # fmt: skip


def _under_way(process: subprocess.Popen[bytes], url: str) -> None:
    """Wait until more requests have come, or the run has ended."""
    before = count_served(url)
    while process.poll() is None and count_served(url) < before + 5:
        time.sleep(0.05)


def _children(pid: int) -> list[int]:
    listed = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for file in listed for child in file.read_text().split()]


def _is_alive(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def _kill(pid: int) -> None:
    subprocess.run(["kill", f"-{signal.SIGKILL.value}", str(pid)], check=False)


def _read(run: Path, query: str) -> tuple[int, int]:
    with closing(sqlite3.connect(f"file:{run / 'run.sqlite'}?mode=ro", uri=True)) as database:
        first, second = database.execute(query).fetchone()
    return int(first), int(second)
