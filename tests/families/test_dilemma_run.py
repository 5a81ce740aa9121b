"""The family of dilemmas, offline and whole: reasonings, judges, three people, an expert, a set, figures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path

import pytest

from hipo.app.runs.run import open_run
from hipo.cli.main import run as hipo
from tests.families.reviewing import review, settle
from tests.outputs.corpora import rows_in
from tests.quality.review.serving import served

DIALOGUES = 2


def careful(field: str, values: Sequence[str]) -> str:
    """Call everything right, and name no kind of mistake."""
    return "1" if field.endswith(".correct") else ""


def doubting(field: str, values: Sequence[str]) -> str:
    """Call every first turn of a dialogue wrong, for a payoff that was read off falsely."""
    return {"t0.correct": "0", "t0.err_type": values[0]}.get(field, careful(field, values))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which the whole way was gone once."""
    place = tmp_path_factory.mktemp("dilemmas")
    run = str(place / "run")
    assert hipo(["generate", "dilemmas", "--model", "offline/reasoner", "-n", str(DIALOGUES),
                 "-o", run, "-q"]) == 0  # fmt: skip
    assert hipo(["verify", run, "--judge", "offline/judge", "-q"]) == 0
    with redirect_stderr(StringIO()) as told:
        assert hipo(["export", run, "--to", "benchmark", "-q", "-o", str(place / "none")]) == 2
    (place / "told").write_text(told.getvalue())
    with served(Path(run), everything=True, per_item=3) as site:
        for name, pick in (("Ada", careful), ("Bea", careful), ("Cem", doubting)):
            assert review(site, name, pick) == DIALOGUES
        assert settle(site, "Eve", careful) == DIALOGUES
    assert hipo(["export", run, "--to", "benchmark", "--any", "--splits", "0,0,100",
                 "--no-parquet", "-q", "-o", str(place / "set")]) == 0  # fmt: skip
    assert hipo(["evaluate", str(place / "set"), "--task", "payoff-reasoning", "--model",
                 "offline/judge", "-o", str(place / "answers"), "--no-page", "-q"]) == 0  # fmt: skip
    return place


def test_what_an_expert_decided_is_asked_in_the_benchmark_and_scored(folder: Path) -> None:
    asked = [row for row in rows_in(folder / "set") if row["aspect"] == "cumulative"]
    assert {row["label_correct"] for row in asked} == {"1"}
    assert {row["labelled_by"] for row in asked} == {"expert"}
    lines = (folder / "answers" / "results.jsonl").read_text().splitlines()
    results = [json.loads(line) for line in lines]
    assert {row["item"] for row in results} == {row["id"] for row in asked}
    assert {row["labels"]["correct"] for row in results} <= {"0", "1"}


def test_the_people_are_raters_and_the_report_says_what_they_and_the_solver_found(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = folder / "run"
    capsys.readouterr()
    assert hipo(["metrics", "reasoning", str(run), "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["logs"], len(found["raters"])) == (DIALOGUES, 3)
    assert (
        hipo(["report", str(run), "--no-embeddings", "--evaluation", str(folder / "answers")]) == 0
    )
    page = (run / "report.html").read_text()
    reasoning = page[page.index('id="reasonings-title"') :].partition("</section>")[0]
    for name in ("solver", "gold", *found["raters"]):
        assert f">{name}<" in reasoning
    for dialogue in open_run(run).dialogues(traces=False):
        assert dialogue.case.scenario in reasoning
    (first,) = (
        rate for rate in found["error_rates"]
        if (rate["game"], rate["judge"], rate["stage"]) == (None, "solver", "original")
    )  # fmt: skip
    assert f"{first['wrong']} ({100 * first['rate']:.1f}%)" in reasoning
    assert "Disagreement of people" in page


def test_a_report_of_what_no_speaker_declares_does_not_call_it_unverified(folder: Path) -> None:
    run, page = folder / "run", folder / "report.html"
    assert hipo(["report", str(run), "--no-embeddings", "-o", str(page)]) == 0
    text = page.read_text()
    assert "has not been verified" not in text
    assert "Judges were asked about no label that a speaker declared." in text
    assert 'id="strategies-title"' not in text, "no judge could confirm or deny anything"


def test_who_exports_before_people_have_answered_is_told_that_they_have_to(folder: Path) -> None:
    told = (folder / "told").read_text()
    assert "without an utterance that has the labels of a row" in told
    assert "speakers declare no label of the scheme payoff_reasoning@1" in told.splitlines()[-1]
