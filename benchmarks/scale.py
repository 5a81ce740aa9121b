"""Many dialogues must not need more memory than a few, nor more time for each."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import orjson

from benchmarks.report import Goal, Row

ROUNDS = 3

_CHILD = """
import sys, time
from pathlib import Path
from benchmarks.machine import peak_mib
from hipo.app.generation.generate import generate
from pipeline.recipes.recipe import Recipe

n, folder = int(sys.argv[1]), Path(sys.argv[2])
recipe = Recipe.model_validate({"n": n, "turns": [2], "models": {"default": "offline/rules"}})
started = time.perf_counter()
run = generate(recipe, output=folder)
seconds = time.perf_counter() - started
state = run.state()
assert state.generated == n, state
peak = peak_mib()
import orjson
from pipeline.store.sqlite import database_bytes
size = database_bytes(folder)
print(orjson.dumps({"seconds": seconds, "peak_mib": peak, "bytes": size}).decode())
"""


def _measure(n: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", _CHILD, str(n), str(Path(folder) / "run")],
            check=True,
            capture_output=True,
            text=True,
        )
    measured: dict[str, float] = orjson.loads(done.stdout.splitlines()[-1])
    return measured


def run(*, quick: bool = False) -> list[Row]:
    """Generate offline in processes of their own; compare peak memory and time a dialogue."""
    small_n, large_n = (500, 2_000) if quick else (1_000, 20_000)
    rounds = [(_measure(small_n), _measure(large_n)) for _ in range(ROUNDS)]

    def median(name: str) -> float:
        """Return the median of what the larger runs came to."""
        return statistics.median(large[name] for _, large in rounds)

    peak, pace = (
        statistics.median(large[name] / small[name] for small, large in rounds)
        for name in ("peak_mib", "seconds")
    )
    return [
        Row(
            f"scale: peak memory, {large_n} / {small_n} dialogues",
            peak,
            "x",
            Goal.below(1.3),
        ),
        Row(
            f"scale: time a dialogue, {large_n} / {small_n}",
            pace * small_n / large_n,
            "x",
            Goal.below(1.15),
        ),
        Row(f"scale: peak memory of {large_n} dialogues", median("peak_mib"), " MiB"),
        Row(
            f"scale: database a dialogue (direct, 2 turns), {large_n}",
            median("bytes") / large_n / 1e3,
            " kB",
            Goal.below(12.0),
        ),
        Row(f"scale: dialogues a second, {large_n}", large_n / median("seconds")),
    ]
