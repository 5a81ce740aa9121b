"""A run from before openings could be shared and pairs were drawn together: read as ever."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest

from hipo.app.runs.run import Run
from tests.hipo.cli.conftest import Hipo, beside

FIXTURE = Path(__file__).parents[2] / "fixtures" / "runs_opened_by_goal"
AS_THEN = ("--format", "messages", "--prompt", "full")
SETS = {
    "benchmark": ("--to", "benchmark"),
    "sft-label": ("--to", "sft", "--rationale", *AS_THEN, "--goal-of-lines"),
    "sft-actor": (
        "--to",
        "sft",
        "--task",
        "actor",
        "--include-deception",
        *AS_THEN,
        "--target",
        "json",
    ),
    "sft-initiator": ("--to", "sft", "--task", "initiator", *AS_THEN, "--target", "json"),
}
COMMAND = (
    "generate", "--model", "offline/rules", "--scenarios", "used_car,flat_sharing", "--turns", "1,2",
    "--strategy", "direct,reflective", "--vary", "persona,opening", "--tactics", "balanced",
    "--seed", "5", "-n", "8", "-o", "drawn",
)  # fmt: skip


@pytest.fixture
def drawn(hipo: Hipo, tmp_path: Path) -> Hipo:
    shutil.copytree(FIXTURE / "drawn", tmp_path / "drawn")
    return hipo


@pytest.mark.parametrize("name", SETS)
def test_every_export_has_the_rows_it_had(drawn: Hipo, name: str) -> None:
    made = drawn(
        "export", "drawn", *SETS[name], "--any", "--splits", "100,0,0", "--no-parquet",
        "-o", "set", "-q",
    )  # fmt: skip
    assert made.code == 0, made.err
    files = sorted(Path("set").rglob("*.jsonl"))
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    rows = [json.loads(line) for line in lines]
    then = gzip.decompress((FIXTURE / "exports" / f"drawn.{name}.jsonl.gz").read_bytes()).decode()
    before = [json.loads(line) for line in then.splitlines()]
    if "--rationale" in SETS[name]:  # conversations have none: they are left out now
        before = [row for row in before if row["aspect"] != "conversation"]
    rows, before = beside(rows, before)
    # rows have got columns since (pair; of benchmark items question, messages, ...), and lost none
    assert all(row["pair"] for row in rows)
    kept = [{name: row[name] for name in old} for row, old in zip(rows, before, strict=True)]
    if name == "sft-label":  # what an evaluator is asked is today's task; the answer stands
        for row in (*kept, *before):
            del row["messages"][:-1]
    assert kept == before


def test_it_opens_is_judged_again_and_reported(drawn: Hipo) -> None:
    assert drawn("runs", "show", "drawn").code == 0  # which brings it up to date
    dialogues = list(Run(Path("drawn")).dialogues())
    assert len(dialogues) == 8
    for dialogue in dialogues:
        names = {name for name, _ in dialogue.case.variation}
        assert {"opening_question", "opening_statement"} <= names
        assert [turn.kind for turn in dialogue.turns[:3]] == ["opening", "opening", "improvised"]
    assert drawn("show", "drawn").code == 0
    assert drawn("verify", "drawn", "--judge", "offline/judge").code == 0
    assert drawn("report", "drawn", "--no-embeddings").code == 0


@pytest.mark.parametrize("openings", ["shared", "by-goal"])
def test_it_is_not_gone_on_with_by_accident(drawn: Hipo, openings: str) -> None:
    assert drawn("runs", "show", "drawn").code == 0  # which brings it up to date
    before = Path("drawn/run.sqlite").read_bytes()
    refused = drawn(*COMMAND, "--openings", openings)
    assert refused.code == 2
    assert "(version 1 of them; this one makes " in refused.err
    assert "go on regardless with --resume always" in refused.err
    assert len(list(Run(Path("drawn")).dialogues())) == 8
    assert before == Path("drawn/run.sqlite").read_bytes()


def test_going_on_regardless_keeps_what_there_is_and_adds_cases(drawn: Hipo) -> None:
    assert drawn(*COMMAND, "--openings", "by-goal", "--resume", "always").code == 0
    dialogues = list(Run(Path("drawn")).dialogues())
    old = [d for d in dialogues if "opening_question" in dict(d.case.variation)]
    assert len(old) == 8
    assert len(dialogues) == 8 + 8 * 2
