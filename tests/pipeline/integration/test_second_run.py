"""What is there is not made again: a second identical run calls nobody and adds nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pipeline.integration.command import Hipo
from tests.pipeline.integration.records import count

TABLES = ("cases", "requests", "choices", "dialogues", "turns", "labels")


@pytest.mark.parametrize("strategy", ["direct", "reflective", "consistency"])
def test_a_second_run_does_no_calls_adds_no_row_and_says_so(tmp_path: Path, strategy: str) -> None:
    hipo = Hipo(tmp_path).here
    command = (
        "generate", "--model", "offline/rules", "--scenarios", "products", "-n", "12",
        "--strategy", strategy, "-o", "run",
    )  # fmt: skip
    hipo(*command)
    before = {table: count(tmp_path / "run", table) for table in TABLES}
    assert before["dialogues"] == 12
    assert before["choices"] >= 24
    second = hipo(*command)
    assert {table: count(tmp_path / "run", table) for table in TABLES} == before
    assert "0 calls" in second.stdout + second.stderr
