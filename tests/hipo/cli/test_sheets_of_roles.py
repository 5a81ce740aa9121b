"""Sheets of conversations in which who speaks decides which answers there are."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.hipo.cli.conftest import Hipo


@pytest.mark.parametrize(
    ("intention", "code"),
    [("tells_own_part", 0), ("shows_knowledge", 2)],
    ids=["of the persuader", "of the persuadee"],
)
def test_a_sheet_brings_in_no_answer_that_it_does_not_offer(
    hipo: Hipo, intention: str, code: int
) -> None:
    made = hipo(
        "generate",
        "--scheme",
        "face_acts",
        "--model",
        "offline/rules",
        "-n",
        "1",
        "-q",
        "-o",
        "run",
    )
    assert made.code == 0, made.err
    assert (
        hipo("review", "export", "run", "--to", "csv", "--blank", "--all", "-o", "sheet").code == 0
    )
    with Path("sheet/blank.csv").open(encoding="utf-8-sig", newline="") as file:
        row = next(row for row in csv.DictReader(file) if row["item"].endswith("#0"))
    assert (intention in row["possible answers"]) == (code == 0)
    with Path("filled.csv").open("w", encoding="utf-8", newline="") as file:
        filled = csv.DictWriter(file, row)
        filled.writeheader()
        filled.writerow(row | {"annotator": "Ada", "face_act": "spos+", "intention": intention})
    told = hipo("review", "import", "run", "filled.csv")
    assert told.code == code, told.err
    assert (f"filled.csv:2: intention: found {intention!r} by Ada" in told.err) == (code == 2)
