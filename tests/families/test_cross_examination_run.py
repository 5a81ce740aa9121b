"""The family ``cross_examination``, offline and whole: a trial, jurors, three people, a set, figures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from hipo.cli.main import run as hipo
from tests.families.reviewing import review
from tests.outputs.corpora import rows_in
from tests.quality.review.serving import served

ANSWERS = 13
"""Of the witness, in one trial."""


def first(field: str, values: Sequence[str]) -> str:
    return values[0]


def other(field: str, values: Sequence[str]) -> str:
    """Take another commitment and another outcome, and the same maxims."""
    return values[1] if field.endswith((".commitment", ".outcome")) else values[0]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which the whole way was gone once."""
    place = tmp_path_factory.mktemp("trials")
    run = str(place / "run")
    assert hipo(["generate", "--scheme", "cobra", "--model", "offline/rules", "-n", "1",
                 "--scenarios", "warehouse_fire", "-o", run, "-q"]) == 0  # fmt: skip
    assert hipo(["verify", run, "--judge", "offline/judge", "--juror", "offline/judge",
                 "-q"]) == 0  # fmt: skip
    with served(Path(run), everything=True, per_item=3) as site:
        for name, pick in (("Ada", first), ("Bea", first), ("Cem", other)):
            assert review(site, name, pick) == 1
    assert hipo(["export", run, "--to", "benchmark", "--any", "--splits", "0,0,100",
                 "--no-parquet", "-q", "-o", str(place / "set")]) == 0  # fmt: skip
    assert hipo(["evaluate", str(place / "set"), "--task", "cobra-juror", "--model",
                 "offline/judge", "-o", str(place / "answers"), "--no-page", "-q"]) == 0  # fmt: skip
    return place


def test_every_answer_of_the_witness_is_asked_about_in_the_benchmark(folder: Path) -> None:
    asked = [row for row in rows_in(folder / "set") if row["aspect"] == "cumulative"]
    assert len(asked) == ANSWERS
    assert {row["role"] for row in asked} == {"witness"}
    lines = (folder / "answers" / "results.jsonl").read_text().splitlines()
    results = [json.loads(line) for line in lines]
    assert {row["item"] for row in results} == {row["id"] for row in asked}
    assert all({"commitment", "manner"} <= set(row["labels"]) for row in results)


def test_people_are_what_jurors_are_held_against(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert hipo(["metrics", "strategic", str(folder / "run"), "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)
    people = {row["annotator"] for row in found["answers"]} - {"juror:offline/judge"}
    pairs = {(p["first"], p["second"]) for row in found["against"] for p in row["pairs"]}
    assert {"A01", "A02", "A03"} <= people
    assert ("A01", "juror:offline/judge") in pairs


def test_the_report_shows_answers_jurors_and_how_people_disagree(folder: Path) -> None:
    run, answers = folder / "run", folder / "answers"
    assert hipo(["report", str(run), "--no-embeddings", "--evaluation", str(answers)]) == 0
    page = (run / "report.html").read_text()
    strategic = page[page.index('id="strategic-title"') : page.index('id="disagreement-title"')]
    assert "declared:responder" not in strategic, "roles have names of their own"
    for annotator in ("A01", "A02", "A03", "juror:offline/judge", "declared:speaker"):
        assert annotator in strategic
    disagreement = page[page.index('id="disagreement-title"') :].partition("</section>")[0]
    assert "detrimental" in disagreement
    assert f"{ANSWERS} (100.0%)" in disagreement, "each commitment has a majority of two"
    assert f"{2 * ANSWERS} (100.0%)" in disagreement, "and two pairs of people apart"
