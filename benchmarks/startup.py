"""How long ``hipo --help`` takes, as a multiple of an empty interpreter's start."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

from benchmarks.report import Goal, Row

HEAVY = ("torch", "openai", "anthropic", "sentence_transformers")


def _seconds(arguments: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    return time.perf_counter() - started


def run(*, quick: bool = False) -> list[Row]:
    """Alternate both commands, so that a busy moment falls on either; compare the medians."""
    empty, help_text = [], []
    for _ in range(5 if quick else 15):
        empty.append(_seconds(["-c", "pass"]))
        help_text.append(_seconds(["-m", "hipo", "--help"]))
    ratio = statistics.median(help_text) / statistics.median(empty)
    probe = f"import sys, hipo.__main__; sys.exit(any(m in sys.modules for m in {HEAVY!r}))"
    imported = subprocess.run([sys.executable, "-c", probe], check=False).returncode
    return [
        Row("startup: hipo --help / python -c pass", ratio, "x", Goal.below(15)),
        Row("startup: heavy packages imported by the root", imported, "", Goal.below(0)),
    ]
