"""A server that refuses what is too fast, one with a queue, and one that slows down in a crowd.

Each is asked with the default settings, by the whole pipeline, for as long as it takes to learn
its limit and to use it. What is compared is the server's own count.
"""

from __future__ import annotations

import multiprocessing
import tempfile
import urllib.request
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import orjson

from benchmarks.limited_server import Events, Nature, limited_server
from benchmarks.report import Goal, Row
from hipo.app.generation.generate import generate
from pipeline.recipes.recipe import Recipe

SECONDS = {5: 60, 20: 40, 200: 25}
"""How long each bucket is asked, by its tokens a second. Less than a minute would be too little for
the slow one: a refusal of some hundred requests is nearly a hundredth of them."""
QUICK = {5: 60, 20: 30, 200: 20}
AT_ONCE = 6
"""Servers asked at the same time, each in a process of its own: nearly all of the time is waited."""
WARM_UP_S = 10.0
"""A limit may be learned for so long, since the first request."""
TAIL = 0.9
"""Share of the requests after which the last dialogues leave the server idle."""


def _played(nature: Nature, n: int) -> tuple[Events, int]:
    """Generate ``n`` dialogues of one call; return what the server saw, and how many failed."""
    with limited_server(nature) as port, tempfile.TemporaryDirectory() as folder:
        recipe = Recipe.model_validate(
            {
                "name": "limits",
                "turns": [1],
                "n": n,
                "models": {
                    "default": {
                        "model": "compatible/bench",
                        "base_url": f"http://127.0.0.1:{port}/v1",
                    }
                },
            }
        )
        run = generate(recipe, output=Path(folder) / "run")
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/events") as reply:
            events = Events(**orjson.loads(reply.read()))
        return events, n - run.state().generated


@dataclass(frozen=True, slots=True)
class _Bucket:
    """A bucket with a limit, asked for so long."""

    rate: int
    seconds: float
    retry_after: bool = False
    headers: bool = False
    latency_s: float = 0.05

    @property
    def name(self) -> str:
        said = [
            *(["Retry-After"] if self.retry_after else []),
            *(["x-ratelimit"] if self.headers else []),
        ]
        slow = f", answers after {self.latency_s:g} s" if self.latency_s >= 1.0 else ""
        return f"rate limits: {self.rate}/s{slow}, {' and '.join(said) or 'nothing said'}"

    def rows(self) -> list[Row]:
        """Ask it."""
        nature = Nature(self.latency_s, self.rate, self.retry_after, self.headers)
        events, failed = _played(nature, round(self.rate * self.seconds))
        end = sorted(events.taken)[int(TAIL * len(events.taken)) - 1]
        taken = sum(WARM_UP_S <= at < end for at in events.taken)
        refused = sum(WARM_UP_S <= at < end for at in events.refused)
        share = taken / (end - WARM_UP_S) / self.rate
        late = refused / (refused + taken)
        in_all = len(events.refused) / (len(events.refused) + len(events.taken))
        after = f"after {WARM_UP_S:g} s"
        return [
            Row(f"{self.name}: share of what is allowed, {after}", share, "x", Goal.above(0.95)),
            Row(f"{self.name}: refused {after}", late, "x", Goal.below(0.02)),
            Row(f"{self.name}: refused in all", in_all, "x"),
            Row(f"{self.name}: dialogues failed", failed, "", Goal.below(0)),
        ]


@dataclass(frozen=True, slots=True)
class _Busy:
    """A server that can do no more than ``most_per_s``, asked for so long."""

    name: str
    nature: Nature
    most_per_s: float
    seconds: float
    share: float
    """Of its throughput that has to be used."""
    latency: float | None = None
    """How many times as long as alone a request may take."""

    def rows(self) -> list[Row]:
        """Ask it."""
        events, failed = _played(self.nature, round(self.most_per_s * self.seconds))
        end = sorted(events.answered)[int(TAIL * len(events.answered)) - 1]
        late = [
            latency_s
            for at, latency_s in zip(events.answered, events.latencies, strict=True)
            if WARM_UP_S <= at < end
        ]
        share = len(late) / (end - WARM_UP_S) / self.most_per_s
        latency = sum(late) / len(late) / self.nature.latency_s
        name, after = f"rate limits: {self.name}", f"after {WARM_UP_S:g} s"
        latency_goal = None if self.latency is None else Goal.below(self.latency)
        return [
            Row(f"{name}: share of its throughput, {after}", share, "x", Goal.above(self.share)),
            Row(f"{name}: latency / latency alone, {after}", latency, "x", latency_goal),
            Row(f"{name}: most requests at once", events.most_at_once),
            Row(f"{name}: dialogues failed", failed, "", Goal.below(0)),
        ]


def _servers(*, quick: bool) -> list[_Bucket | _Busy]:
    buckets = [
        _Bucket(rate, seconds, retry_after, headers)
        for headers in ((False,) if quick else (False, True))
        for rate, seconds in (QUICK if quick else SECONDS).items()
        for retry_after in (True, False)
    ]
    seconds = 25.0 if quick else 40.0
    return [
        *buckets,
        _Bucket(60, seconds, latency_s=1.0),
        _Busy("8 slots of 0.4 s and a queue", Nature(0.4, slots=8), 20.0, seconds, 0.95, 1.3),
        _Busy("2 slots of 0.1 s and a queue", Nature(0.1, slots=2), 20.0, seconds, 0.9),
        _Busy("slower beyond 8 at once", Nature(0.1, crowd=8), 80.0, seconds, 0.9),
    ]


def run(*, quick: bool = False) -> list[Row]:
    """Ask every server; ``quick`` leaves out half of the buckets, and all get less time."""
    # Forked, a process would bring along the threads' locks of the benchmarks before it.
    spawning = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(AT_ONCE, mp_context=spawning) as pool:
        asked = [pool.submit(server.rows) for server in _servers(quick=quick)]
        return [row for one in asked for row in one.result()]
