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

AS_SENT = ["--format", "messages", "--prompt", "full", "--target", "json"]
EXPORTS = {
    "benchmark": (
        ["--to", "benchmark"],
        "35d417edcdb1dc2fb70e8290f2a3c8116af1ca0077aa54d51bc65eec5132c8c0",
    ),
    "label": (
        ["--to", "sft", *AS_SENT[:4]],
        "95d716184f02e128df748e8b46e7641f142d9f77843dc3b4d7ad56776a1fb00b",
    ),
    "actor": (
        ["--to", "sft", "--task", "actor", "--include-deception", *AS_SENT],
        "8a0c9e7eebf122f1d1d08fea422b392187c337371355e79ea3edb3aac5c353e6",
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
    rows = b"".join(path.read_bytes() for path in sorted(made.glob("jsonl/**/*.jsonl")))
    assert hashlib.sha256(rows).hexdigest() == digest
