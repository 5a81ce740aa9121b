"""How much of each prompt a provider's prefix cache can serve from the call of its kind before."""

from __future__ import annotations

import itertools
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from benchmarks.report import Goal, Row
from hipo.app.generation import generate
from pipeline.recipe import Recipe
from pipeline.store.run_store import RunStore


def _tokens(prompt: Sequence[tuple[str, str]]) -> list[str]:
    """Split a prompt into words and the marks between them: a stand-in for tokens."""
    text = "\n".join(f"<{role}>\n{content}" for role, content in prompt)
    return text.replace("\n", " \n ").split(" ")


def _shared(before: list[str], after: list[str]) -> int:
    """Return the length of the longest common prefix."""
    pairs = enumerate(zip(before, after, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(before), len(after)))


def run(*, quick: bool = False) -> list[Row]:
    """Generate with each strategy within single scenarios and compare successive prompts."""
    shared: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for scenario in ("used_car",) if quick else ("used_car", "wedding_ring", "energy_accounts"):
        recipe = Recipe.model_validate(
            {
                "scenarios": [scenario],
                "strategies": ["reflective"],
                "models": {"default": "offline/rules"},
                "limits": {"max_concurrency": 1},
            }
        )
        with tempfile.TemporaryDirectory() as folder:
            run_folder = Path(folder) / "run"
            generate(recipe, output=run_folder)
            store = RunStore.open(run_folder, readonly=True)
            try:
                by_kind: dict[str, list[list[str]]] = defaultdict(list)
                for ending in store.reader.endings():
                    for record in store.calls.of_case(ending.case.id):
                        kind = record.requests[0].purpose.split("-")[0]
                        by_kind[kind].append(_tokens(record.messages))
            finally:
                store.close()
        for kind, prompts in by_kind.items():
            for before, after in itertools.pairwise(prompts):
                same = _shared(before, after)
                shared[kind][0] += same
                shared[kind][1] += len(after)
    return [
        Row(f"prefix: shared with the call before, {kind}", same / total, "", Goal.above(0.6))
        for kind, (same, total) in sorted(shared.items())
    ]
