"""A server that refuses what is too fast, one with a queue, and one that slows down in a crowd.

Each is asked with the default settings, by the whole pipeline, for as long as it takes to learn
its limit and to use it. What is compared is the server's own count.
"""

from __future__ import annotations

import multiprocessing
import tempfile
import urllib.request
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import orjson

from benchmarks.limited_server import Events, Nature, limited_server
from benchmarks.report import Goal, Row
from hipo.app.generation import generate
from pipeline.recipe import Recipe

SECONDS = {5: 40, 20: 30, 200: 15}
"""How long each bucket is asked, by its tokens a second."""
QUICK = {5: 25, 20: 20, 200: 15}
AT_ONCE = 2
"""Servers asked at the same time, each in a process of its own: nearly all of the time is waited."""
WARM_UP_S = 5.0
"""A limit may be learned for so long."""
TAIL = 0.95
"""Share of the requests after which the last dialogues leave the server idle."""


def _played(nature: Nature, n: int) -> tuple[Events, int]:
    """Generate ``n`` dialogues of two calls; return what the server saw, and how many failed."""
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


def _bucket(rate: int, seconds: float, *, retry_after: bool, headers: bool) -> list[Row]:
    nature = Nature(rate=rate, retry_after=retry_after, headers=headers, latency_s=0.05)
    events, failed = _played(nature, round(rate * seconds / 2))
    end = sorted(events.taken)[int(TAIL * len(events.taken)) - 1]
    taken = sum(WARM_UP_S <= at < end for at in events.taken)
    refused = sum(WARM_UP_S <= at < end for at in events.refused)
    said = [
        name
        for name, is_said in (("Retry-After", retry_after), ("x-ratelimit", headers))
        if is_said
    ]
    name = f"rate limits: {rate}/s, {' and '.join(said) or 'nothing said'}"
    return [
        Row(
            f"{name}: share of what is allowed",
            taken / (end - WARM_UP_S) / rate,
            "x",
            Goal.above(0.95),
        ),
        Row(
            f"{name}: refused after {WARM_UP_S:g} s",
            refused / (refused + taken),
            "x",
            Goal.below(0.02),
        ),
        Row(
            f"{name}: refused in all",
            len(events.refused) / (len(events.refused) + len(events.taken)),
            "x",
        ),
        Row(f"{name}: dialogues failed", failed, "", Goal.below(0)),
    ]


def _busy(name: str, nature: Nature, most_per_s: float, n: int) -> list[Row]:
    """Ask a server that can do no more than ``most_per_s``."""
    events, failed = _played(nature, n)
    end = sorted(events.taken)[int(0.9 * len(events.taken)) - 1]
    taken = sum(WARM_UP_S / 2 <= at < end for at in events.taken)
    return [
        Row(
            f"rate limits: {name}: share of its throughput",
            taken / (end - WARM_UP_S / 2) / most_per_s,
            "x",
            Goal.above(0.9),
        ),
        Row(f"rate limits: {name}: most requests at once", events.most_at_once),
        Row(f"rate limits: {name}: dialogues failed", failed, "", Goal.below(0)),
    ]


def run(*, quick: bool = False) -> list[Row]:
    """Ask every server; ``quick`` leaves out half of them, and the others get less time."""
    queue, crowd = Nature(slots=2, latency_s=0.1), Nature(crowd=8, latency_s=0.1)
    # Forked, a process would bring along the threads' locks of the benchmarks before it.
    spawning = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(AT_ONCE, mp_context=spawning) as pool:
        asked = [
            pool.submit(_bucket, rate, seconds, retry_after=retry_after, headers=headers)
            for headers in ((False,) if quick else (False, True))
            for rate, seconds in (QUICK if quick else SECONDS).items()
            for retry_after in (True, False)
        ]
        few, many = (100, 400) if quick else (200, 800)
        asked += [
            pool.submit(_busy, "2 slots of 0.1 s and a queue", queue, 20.0, few),
            pool.submit(_busy, "slower beyond 8 at once", crowd, 80.0, many),
        ]
        return [row for one in asked for row in one.result()]
