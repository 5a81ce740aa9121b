"""Runs in batches, killed at every step of a batch: no request is processed twice, none is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from benchmarks.report import Goal, Row
from tests.pipeline.batches.killed import MOMENTS
from tests.pipeline.batches.runs import KEYS
from tests.pipeline.integration.records import count, rows
from tests.wire.server import WireServer

CASES = 24
KILLS = 20
"""At each step, in full."""
MOST_RUNS = 60


def run(*, quick: bool = False) -> list[Row]:
    """Kill runs twenty times at every step, or twice if quick."""
    with tempfile.TemporaryDirectory() as folder:
        return batch_kills(Path(folder), 2 if quick else KILLS)


def batch_kills(folder: Path, kills: int) -> list[Row]:
    """Kill runs ``kills`` times at every step, one step after the other, and look at what is left.

    The batches of either provider are tried in turn; each run is gone on with until it ends.
    """
    killed: Counter[str] = Counter()
    twice = lost = left = unfinished = runs = 0
    moments = [moment for moment in MOMENTS if moment != "never"]
    while runs < MOST_RUNS and any(killed[moment] < kills for moment in moments):
        run, provider = folder / f"run-{runs}", ("openai", "anthropic")[runs % 2]
        runs += 1
        with WireServer(keep=False) as server:
            code = -signal.SIGKILL
            while code != 0:
                left_to_kill = [moment for moment in moments if killed[moment] < kills]
                moment = min(left_to_kill, key=killed.__getitem__, default="never")
                code = _started(run, server, provider, moment)
                killed[moment] += code != 0
            made = server.batches.made
        sent = sum(len(batch.requests) for batch in made)
        answered = count(run, "choices")
        twice += max(0, sent - answered)
        lost += max(0, answered - sent)
        left += count(run, "reservations")
        done = rows(run, "select count(*) from dialogues where status = 'generated'")[0][0]
        unfinished += CASES - done
    none = Goal.below(0)
    return [
        Row(
            "batches: kills at each of seven steps, at least",
            min(killed[m] for m in moments),
            goal=Goal.above(kills),
        ),
        Row("batches: runs they fell into", runs),
        Row("batches: requests that were sent twice", twice, "", none),
        Row("batches: replies without a request", lost, "", none),
        Row("batches: reservations left", left, "", none),
        Row("batches: dialogues missing", unfinished, "", none),
    ]


def _started(run: Path, server: WireServer, provider: str, moment: str) -> int:
    """Go on with a run until it ends or is killed; return its exit code.

    Raises:
        RuntimeError: it ended in another way.
    """
    url = server.openai_url if provider == "openai" else server.anthropic_url
    command = [
        sys.executable, "-m", "tests.pipeline.batches.killed", moment, "1", "generate",
        "--model", f"{provider}/rules", "--base-url", url, "-n", str(CASES), "--turns", "3",
        "--openings", "by-goal", "--batch", "-q", "-o", str(run),
    ]  # fmt: skip
    done = subprocess.run(
        command, env={**os.environ, **KEYS}, capture_output=True, text=True, check=False
    )
    if done.returncode not in {0, -signal.SIGKILL}:
        raise RuntimeError(f"{moment}: exit code {done.returncode}: {done.stderr}")
    return done.returncode
