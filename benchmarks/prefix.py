"""How much of each prompt a provider's prefix cache can serve from the call of its kind before.

Of judges also how much begins as a prompt of the responder does. Their own system messages come in
four orders of the labels, which follow from the case, so that the call before is often of another one.
"""

from __future__ import annotations

import itertools
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from benchmarks.report import Goal, Row
from hipo.app.generation.generate import generate
from hipo.app.verification.verify import VerificationOverrides, verify
from pipeline.recipes.recipe import Recipe
from pipeline.store.run_store import RunStore


def _tokens(prompt: Sequence[tuple[str, str]]) -> list[str]:
    """Split a prompt into words and the marks between them: a stand-in for tokens."""
    text = "\n".join(f"<{role}>\n{content}" for role, content in prompt)
    return text.replace("\n", " \n ").split(" ")


def _shared(before: list[str], after: list[str]) -> int:
    """Return the length of the longest common prefix."""
    pairs = enumerate(zip(before, after, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(before), len(after)))


def _kind(purpose: str) -> str:
    """Return what a call is for; judges are told apart by what they are asked about."""
    kind, _, what = purpose.partition("/")[0].partition("-")
    return f"{kind} judge of a {what}" if kind in ("self", "external") else kind


def _is_judge(kind: str) -> bool:
    return " judge " in kind


def run(*, quick: bool = False) -> list[Row]:
    """Generate with each strategy within single scenarios and compare successive prompts."""
    shared: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    of_writer: dict[str, list[int]] = defaultdict(lambda: [0, 0])
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
            verify(run_folder, overrides=VerificationOverrides(embeddings=False))
            store = RunStore.open(run_folder, readonly=True)
            try:
                by_kind: dict[str, list[list[str]]] = defaultdict(list)
                for ending in store.reader.endings():
                    for record in store.calls.of_case(ending.case.id):
                        by_kind[_kind(record.requests[0].purpose)].append(_tokens(record.messages))
            finally:
                store.close()
        written = by_kind["responder"][-1]
        for kind, prompts in by_kind.items():
            if _is_judge(kind):
                of_writer[kind][0] += sum(_shared(written, prompt) for prompt in prompts)
                of_writer[kind][1] += sum(map(len, prompts))
            for before, after in itertools.pairwise(prompts):
                same = _shared(before, after)
                shared[kind][0] += same
                shared[kind][1] += len(after)
    rows = [
        Row(
            f"prefix: shared with the call before, {kind}",
            same / total,
            "",
            None if _is_judge(kind) else Goal.above(0.6),
        )
        for kind, (same, total) in sorted(shared.items())
    ]
    return rows + [
        Row(f"prefix: shared with a responder's prompt, {kind}", same / total)
        for kind, (same, total) in sorted(of_writer.items())
    ]
