"""3,000 calls through the whole pipeline against a bare aiohttp loop doing the same calls.

Store and cache are on, every reply is durable before anything is made of it, and the server takes
0.2 s to answer. The yardstick and both ways of calling alternate within one run.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
import time
from pathlib import Path

from benchmarks.plain_loop import plain_loop
from benchmarks.report import Goal, Row
from benchmarks.server import running_server
from hipo.app.generation import generate
from pipeline.recipe import Recipe
from pipeline.store.run_store import RunStore

CONCURRENCY = 256
DELAY_S = 0.2


def _recipe(provider: str, base_url: str, n: int) -> Recipe:
    return Recipe.model_validate(
        {
            "name": "bench",
            "turns": [1],
            "n": n,
            "models": {"default": {"model": f"{provider}/bench", "base_url": base_url}},
            "limits": {"max_concurrency": CONCURRENCY},
        }
    )


def _pipeline(provider: str, base_url: str, n: int) -> tuple[float, float]:
    """Generate ``n`` dialogues of two calls; return wall and CPU seconds."""
    with tempfile.TemporaryDirectory() as folder:
        wall, cpu = time.perf_counter(), time.process_time()
        run = generate(_recipe(provider, base_url, n), output=Path(folder) / "run")
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        state = run.state()
        if state.generated != n:
            raise RuntimeError(f"{state.generated} of {n} dialogues were generated")
    return wall, cpu


def _bodies(base_url: str, n: int) -> list[dict[str, object]]:
    """Return request bodies as the pipeline sends them, so that both sides send as many bytes."""
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        generate(_recipe("compatible", base_url, 8), output=run)
        store = RunStore.open(run, readonly=True)
        try:
            prompts = [
                record.messages
                for ending in store.reader.endings()
                for record in store.calls.of_case(ending.case.id)
            ]
        finally:
            store.close()
    sample = [
        {
            "model": "bench",
            "messages": [{"role": role, "content": content} for role, content in prompt],
            "temperature": 0.2,
            "top_p": 0.6,
            "max_tokens": 1024,
        }
        for prompt in prompts
    ]
    return [{**sample[i % len(sample)], "seed": i} for i in range(2 * n)]


def run(*, quick: bool = False) -> list[Row]:
    """Measure three rounds of each and compare the medians of the ratios."""
    n, rounds = (400, 1) if quick else (1500, 3)
    os.environ.setdefault("OPENAI_API_KEY", "bench")
    ratios: dict[str, list[float]] = {"compatible": [], "openai": []}
    cpu_ms: dict[str, list[float]] = {"compatible": [], "openai": []}
    with running_server(DELAY_S) as base_url:
        bodies = _bodies(base_url, n)
        for provider in ratios:
            _pipeline(provider, base_url, 4)  # imports and caches are not what is measured
        for _ in range(rounds):
            plain = asyncio.run(plain_loop(base_url, bodies, CONCURRENCY))
            for provider, seen in ratios.items():
                wall, cpu = _pipeline(provider, base_url, n)
                seen.append(wall / plain)
                cpu_ms[provider].append(cpu / (2 * n) * 1e3)
    return [
        Row(
            f"throughput: {provider}/ with store / plain aiohttp loop, {2 * n} calls",
            statistics.median(ratios[provider]),
            "x",
            Goal.below(bound),
        )
        for provider, bound in (("compatible", 1.15), ("openai", 1.5))
    ] + [
        Row(f"throughput: CPU per call, {provider}/", statistics.median(seen), " ms")
        for provider, seen in cpu_ms.items()
    ]
