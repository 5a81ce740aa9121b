"""How long commands take to start that only look, as multiples of an empty interpreter's start."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.report import Goal, Row
from hipo.app.generation.generate import generate
from pipeline.recipes.recipe import Recipe

HEAVY = ("torch", "openai", "anthropic", "sentence_transformers")


def _seconds(arguments: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    return time.perf_counter() - started


def run(*, quick: bool = False) -> list[Row]:
    """Alternate all commands, so that a busy moment falls on any of them; compare the medians."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "run"
        recipe = Recipe.model_validate({"n": 4, "models": {"default": "offline/rules"}})
        generate(recipe, output=folder)
        commands = {
            "--help": (["--help"], 15),
            "runs show RUN": (["runs", "show", str(folder)], 40),
            "show RUN": (["show", str(folder)], 40),
        }
        empty: list[float] = []
        taken: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(5 if quick else 15):
            empty.append(_seconds(["-c", "pass"]))
            for name, (arguments, _) in commands.items():
                taken[name].append(_seconds(["-m", "hipo", *arguments]))
    base = statistics.median(empty)
    rows = [
        Row(
            f"startup: hipo {name} / python -c pass",
            statistics.median(taken[name]) / base,
            "x",
            Goal.below(bound),
        )
        for name, (_, bound) in commands.items()
    ]
    probe = f"import sys, hipo.__main__; sys.exit(any(m in sys.modules for m in {HEAVY!r}))"
    imported = subprocess.run([sys.executable, "-c", probe], check=False).returncode
    return [*rows, Row("startup: heavy packages imported by the root", imported, "", Goal.below(0))]
