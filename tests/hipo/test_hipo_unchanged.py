"""What HIPO's own runs say and what is exported of them does not change by a byte.

The digests are those of hipo before scenarios could have any roles and a flow. Whoever changes
HIPO's prompts, its plan or its rows on purpose puts the new ones here, and says so in the change
log: runs that were begun before cannot go on.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

import hipo.app.players
from hipo.cli.main import run
from pipeline.embeddings import BatchingEncoder

EXPORTS = {
    "benchmark": (
        ["--to", "benchmark"],
        "44f09cd8057bef5b2d8ab17e2cf1e19a18ee87bf1d42b1958e39e24819a662e3",
    ),
    "label": (
        ["--to", "sft"],
        "935a7595087155d5b18eaafffe02bcee85fed358eb18380572885dfd8021a8d4",
    ),
    "actor": (
        ["--to", "sft", "--task", "actor", "--include-deception"],
        "1392b34d26169bdb20863fcac9bd903f771e650c65ca767fc06525d2560dd3f1",
    ),
}


def letters(texts):
    """Count letters, in whole numbers, so that a vote is the same on every processor."""
    rows = np.array([[1 + text.lower().count(chr(97 + i)) for i in range(26)] for text in texts])
    return (rows / np.sqrt((rows**2).sum(axis=1, keepdims=True))).astype(np.float32)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("runs") / "unchanged"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(
            hipo.app.players, "sentence_encoder", lambda *_: BatchingEncoder(lambda: letters)
        )
        strategies = [
            part for s in ("direct", "reflective", "consistency") for part in ("--strategy", s)
        ]
        wish = [
            "--model",
            "offline/rules",
            "--vary",
            "persona",
            "--tactics",
            "balanced",
            "--seed",
            "11",
        ]
        assert run(["generate", "-n", "6", *strategies, *wish, "-o", str(made), "-q"]) == 0
    return made


@pytest.mark.parametrize("name", EXPORTS)
def test_the_rows_are_the_same_bytes(folder: Path, tmp_path: Path, name: str) -> None:
    options, digest = EXPORTS[name]
    made = tmp_path / "set"
    assert (
        run(["export", str(folder), *options, "--any", "--no-parquet", "-o", str(made), "-q"]) == 0
    )
    rows = b"".join(path.read_bytes() for path in sorted(made.glob("jsonl/*.jsonl")))
    assert hashlib.sha256(rows).hexdigest() == digest
