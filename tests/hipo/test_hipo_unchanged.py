"""What HIPO's own runs say and what is exported of them does not change by a byte.

Whoever changes HIPO's prompts, its plan or its rows on purpose puts the new digests here, and says
so in the change log. A change of prompts or plan means that runs begun before cannot go on; one of
the rows alone does not.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

import hipo.app.preparation.players
from hipo.cli.main import run
from pipeline.embeddings.embeddings import BatchingEncoder

AS_SENT = ["--format", "messages", "--prompt", "full", "--target", "json"]
EXPORTS = {
    "benchmark": (
        ["--to", "benchmark"],
        "a92db58430de1ab8e92cd7334f8b0ac520f2f515d794372a2c244545adaf5f68",
    ),
    "label": (
        ["--to", "sft", *AS_SENT[:4]],
        "a249257ac220f536cd014e7a9aa7f1c2b3ac553e02fd2ce3db9ae8a54308eb1f",
    ),
    "actor": (
        ["--to", "sft", "--task", "actor", "--include-deception", *AS_SENT],
        "6b05faf27a07ad2ff0451e91ee35748b6c3f6faa753897e01950a0d2542c299d",
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
            hipo.app.preparation.players,
            "sentence_encoder",
            lambda *_: BatchingEncoder(lambda: letters),
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
