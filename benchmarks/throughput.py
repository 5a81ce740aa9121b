"""Calls through the whole pipeline against a bare aiohttp loop that makes as many of the same size.

Store and cache are on, and every reply is durable before anything is made of it. The yardstick and
the ways of calling alternate within one run. A server that takes its time shows what is lost beside
it; one that answers at once, how much of the processor a call takes. The whole run counts, from the
empty folder to the closed store: also what it spends once, before calls fly side by side, since the
first call of a role goes out alone. That does not grow with the run, and has a row of its own; what a
long run comes to is how fast answers follow each other in the middle of this one.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from benchmarks.plain_loop import plain_loop
from benchmarks.report import Goal, Row
from benchmarks.server import running_server
from hipo.app.generation.generate import generate
from pipeline.recipes.recipe import Recipe
from pipeline.store.run_store import RunStore
from pipeline.store.sqlite import DATABASE


@dataclass(frozen=True, slots=True)
class _Load:
    """What the server is burdened with, and what is expected."""

    delay_s: float
    in_flight: int
    dialogues: int
    goals: dict[str, float]
    """The most times the bare loop's seconds, by provider."""

    def name(self, provider: str) -> str:
        latency = f"after {self.delay_s} s" if self.delay_s else "at once"
        flying = f"{self.dialogues:,} dialogues, {self.in_flight} in flight"
        return f"throughput: {provider}/, {flying}, answered {latency}"


_LOADS = (
    _Load(0.2, 256, 2_000, {"compatible": 1.15, "openai": 1.25}),
    _Load(0.2, 1_024, 2_000, {"compatible": 1.25}),
    _Load(0.0, 256, 1_000, {"compatible": 1 / 0.3}),
)


_WAVES = 10
"""Calls for each that may fly: of shorter runs the middle is no measure of the pace."""


@dataclass(slots=True)
class _Seen:
    """What was measured of one provider under one load."""

    ratios: list[float] = field(default_factory=list)
    middle_ratios: list[float] = field(default_factory=list)
    cpu_ratios: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)
    first_s: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Played:
    """What a run took."""

    seconds: float
    cpu_s: float
    answered_s: list[float]
    """Seconds until each answer was there, in ascending order."""

    @property
    def calls(self) -> int:
        """Return how many there were."""
        return len(self.answered_s)


def recipe_of(provider: str, base_url: str, n: int, in_flight: int | None) -> Recipe:
    """Return a recipe of ``n`` dialogues of two turns; ``in_flight`` None is found out."""
    return Recipe.model_validate(
        {
            "name": "bench",
            "turns": [2],
            "n": n,
            "models": {"default": {"model": f"{provider}/bench", "base_url": base_url}},
            "limits": {"max_concurrency": in_flight},
        }
    )


def played(provider: str, base_url: str, n: int, in_flight: int) -> Played:
    """Generate ``n`` dialogues into a new folder."""
    with tempfile.TemporaryDirectory() as name:
        folder, began = Path(name) / "run", time.time()
        wall, cpu = time.perf_counter(), time.process_time()
        run = generate(recipe_of(provider, base_url, n, in_flight), output=folder)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        state = run.state()
        if state.generated != n:
            raise RuntimeError(f"{state.generated} of {n} dialogues were generated")
        with closing(sqlite3.connect(folder / DATABASE)) as connection:
            query = "select sent_at + latency_s as at from requests order by at"
            answered_s = [at - began for (at,) in connection.execute(query)]
    return Played(wall, cpu, answered_s)


def sent_bodies(base_url: str) -> list[dict[str, object]]:
    """Return request bodies as the pipeline sends them, so that both sides send as many bytes."""
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        generate(recipe_of("compatible", base_url, 8, 8), output=run)
        store = RunStore.open(run, readonly=True)
        try:
            prompts = [
                record.messages
                for ending in store.reader.endings()
                for record in store.calls.of_case(ending.case.id)
            ]
        finally:
            store.close()
    return [
        {
            "model": "bench",
            "messages": [{"role": role, "content": content} for role, content in prompt],
            "temperature": 0.2,
            "top_p": 0.6,
            "max_tokens": 1024,
        }
        for prompt in prompts
    ]


def _pace(answered_s: Sequence[float]) -> float:
    """Return the seconds from one answer to the next in the middle three fifths, on the average.

    Answers come in waves: a line is fitted, on which those at either end have no say of their own.
    """
    fifth = len(answered_s) // 5
    middle = answered_s[fifth : len(answered_s) - fifth]
    return float(np.polyfit(range(len(middle)), middle, 1)[0])


def _measure(load: _Load, rounds: int) -> dict[str, _Seen]:
    """Let the loop and every provider have their turn, round after round."""
    seen = {provider: _Seen() for provider in load.goals}
    with running_server(load.delay_s) as base_url:
        sample = sent_bodies(base_url)
        for provider in seen:
            played(provider, base_url, 4, 4)  # imports and caches are not what is measured
        for _ in range(rounds):
            for provider, of_provider in seen.items():
                run = played(provider, base_url, load.dialogues, load.in_flight)
                bodies = [{**sample[i % len(sample)], "seed": i} for i in range(run.calls)]
                began = time.process_time()
                plain = asyncio.run(plain_loop(base_url, bodies, load.in_flight))
                plain_cpu = time.process_time() - began
                of_provider.ratios.append(run.seconds / plain[-1])
                if run.calls >= _WAVES * load.in_flight:
                    of_provider.middle_ratios.append(_pace(run.answered_s) / _pace(plain))
                of_provider.cpu_ratios.append(run.cpu_s / plain_cpu)
                of_provider.cpu_ms.append(run.cpu_s / run.calls * 1e3)
                of_provider.first_s.append(run.answered_s[0])
    return seen


def run(*, quick: bool = False) -> list[Row]:
    """Return the median ratio of every provider under every load, and what a call takes."""
    os.environ.setdefault("OPENAI_API_KEY", "bench")
    rows = []
    for full in _LOADS:
        load = replace(full, dialogues=full.dialogues // 5) if quick else full
        for provider, seen in _measure(load, 1 if quick else 3).items():
            name, median = load.name(provider), statistics.median
            goal = Goal.below(load.goals[provider])
            rows += [
                Row(f"{name}: time / plain aiohttp loop", median(seen.ratios), "x", goal),
                Row(f"{name}: CPU / plain aiohttp loop", median(seen.cpu_ratios), "x"),
                Row(f"{name}: CPU a call", median(seen.cpu_ms), " ms"),
                Row(f"{name}: until the first answer", median(seen.first_s), " s"),
            ]
            if seen.middle_ratios:
                middle = "time a call in the middle of the run / plain aiohttp loop"
                rows.append(Row(f"{name}: {middle}", median(seen.middle_ratios), "x"))
    return rows
