"""A server that is killed for 60 s and for 10 min in mid-run, on clocks that run 20 times as fast.

The server is a process of its own, killed and started again on its port. The run waits by the
rules of every run, with their times divided by 20. What counts: no case is lost, hardly a request
is sent twice, and sending begins again soon, measured in pauses between two tries.
"""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.report import Goal, Row
from hipo.app.generation.generate import PlayContext, generate_prepared
from hipo.app.running.ledgers import run_ledger
from hipo.app.running.watching import Silent
from hipo.app.runs.resumption import prepare_for
from pipeline.endpoints.gate import EndpointGates
from pipeline.endpoints.run_link import LocalRun
from pipeline.endpoints.wait_rules import WaitRules
from pipeline.executors.local import LocalExecutor, width_for
from pipeline.playing.engine import Engine
from pipeline.playing.runner import Progress, RunOutcome
from pipeline.providers.rate_limiter import RateLimiters, RateLimits
from pipeline.recipes.recipe import Recipe

FASTER = 20.0
OUTAGES_S = (60.0, 600.0)
CONCURRENCY = 32
DELAY_S = 0.05
USUAL = WaitRules()
RULES = WaitRules(
    wait_s=USUAL.wait_s / FASTER,
    confirm_s=USUAL.confirm_s / FASTER,
    probe_s=USUAL.probe_s / FASTER,
    unserved_s=USUAL.unserved_s / FASTER,
)


@dataclass(slots=True)
class MortalServer:
    """The benchmark server, which can be killed and started again on the same port."""

    port: int = 0
    _process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Listen; on return it does."""
        command = [sys.executable, "-m", "benchmarks.server", str(DELAY_S), str(self.port)]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())

    def kill(self) -> None:
        """End it without a word, as by ``kill -9``."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


@dataclass(slots=True)
class Cut(Silent):
    """Kills the server once enough dialogues are done, and starts it again after a while."""

    server: MortalServer
    after: int
    away_s: float
    back_at: float = 0.0
    notes: list[str] = field(default_factory=list)
    _restart: asyncio.Task[None] | None = None

    def see(self, progress: Progress) -> None:
        """Count down to the outage."""
        self.after -= progress.count
        if self.after <= 0 and self._restart is None:
            self.server.kill()
            self._restart = asyncio.ensure_future(self._come_back())

    def note(self, message: str) -> None:
        """Keep what a user would read."""
        self.notes.append(message)

    async def _come_back(self) -> None:
        await asyncio.sleep(self.away_s)
        await asyncio.to_thread(self.server.start)
        self.back_at = time.time()


async def _play(stage: PlayContext) -> RunOutcome:
    """Play a plan as every run does, but for the times of its waits."""
    recipe, store, stop = stage.connections.prepared.recipe, stage.store, stage.stop
    link = LocalRun(
        store.calls,
        run_ledger(recipe, store),
        RateLimiters(RateLimits(max_concurrency=CONCURRENCY)),
        stop,
        EndpointGates(stop, RULES, stage.watching.note, store.calls.answered),
    )
    engine = Engine(
        store,
        stage.connections.players(link, stage.watching.note),
        LocalExecutor(width_for(CONCURRENCY)),
        stop,
        on_progress=stage.watching.see,
    )
    return await engine.run(stage.connections.prepared.plan)


def _measured(away_s: float, n: int) -> list[Row]:
    """Play ``n`` dialogues with one outage in the middle."""
    server = MortalServer()
    server.start()
    watcher = Cut(server, n // 2, away_s / FASTER)
    recipe = Recipe.model_validate(
        {
            "name": "outage",
            "turns": [1],
            "n": n,
            "models": {
                "default": {
                    "model": "compatible/bench",
                    "base_url": f"http://127.0.0.1:{server.port}/v1",
                }
            },
            "limits": {"max_concurrency": CONCURRENCY},
        }
    )
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        try:
            done = asyncio.run(
                generate_prepared(
                    prepare_for(run, recipe, "never"), run, watcher=watcher, play=_play
                )
            )
        finally:
            server.kill()
        state = done.state()
        again, repeated, tries = _resumed(run, watcher.back_at)
    title = f"outages: {away_s:.0f} s / {FASTER:.0f}, {2 * n} calls"
    return [
        Row(f"{title}: cases lost", float(n - state.generated), "", Goal.below(0)),
        Row(f"{title}: lines on the screen", float(len(watcher.notes)), "", Goal.below(2)),
        Row(
            f"{title}: requests sent again / in flight when it was killed",
            repeated / CONCURRENCY,
            "x",
            Goal.below(1.0),
        ),
        Row(f"{title}: tries without connection", tries),
        Row(
            f"{title}: until sending again / pause between tries",
            (again - watcher.back_at) / RULES.probe_s,
            "x",
            Goal.below(2.2),
        ),
    ]


def _resumed(run: Path, back_at: float) -> tuple[float, float, float]:
    """Return when the first request was answered again, how many broke, how many found nobody."""
    connection = sqlite3.connect(f"file:{run / 'run.sqlite'}?mode=ro", uri=True)
    try:
        (again,) = connection.execute(
            "select min(sent_at) from requests where code = 'ok' and sent_at > ?", (back_at - 1.0,)
        ).fetchone()
        ((broke, nobody),) = connection.execute(
            "select total(message not like 'no connection%'), total(message like 'no connection%')"
            " from requests where code <> 'ok'"
        )
    finally:
        connection.close()
    return float(again), broke, nobody


def run(*, quick: bool = False) -> list[Row]:
    """Measure the short outage, and unless it is to be quick, the long one."""
    return [
        row
        for away_s in (OUTAGES_S[:1] if quick else OUTAGES_S)
        for row in _measured(away_s, 200 if quick else 600)
    ]
