"""``hipo evaluate report``, ``hipo evaluate table DIR`` and the section of a run's report."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from quality.evaluation.result_row import RESULTS, read_results
from tests.hipo.cli.conftest import Hipo
from tests.hipo.cli.test_evaluate_people import answer_as_declared, results
from tests.outputs.evaluation.sample_evaluation import CONVERSATION, record, write_sample
from tests.quality.review.serving import generated_run


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    return write_sample(tmp_path / "sample", record((CONVERSATION,), ["lab/strong"]), cases=12)


def test_the_page_is_made_anew_from_what_is_stored(hipo: Hipo, sample: Path) -> None:
    result = hipo("evaluate", "report", str(sample))
    assert (result.code, result.err) == (0, "")
    assert result.out.splitlines()[0] == f"page: {sample / 'index.html'}"
    before = (sample / "index.html").read_bytes()
    (sample / "index.html").unlink()
    again = hipo("evaluate", "report", str(sample), "--format", "json")
    assert again.data["scores"] == str(sample / "scores.json")
    assert len(again.data["plots"]) == len(list((sample / "plots").iterdir())) == 3
    assert (sample / "index.html").read_bytes() == before


def test_a_run_and_its_name_stand_for_the_evaluation_beside_it(hipo: Hipo, tmp_path: Path) -> None:
    write_sample(tmp_path / "runs/mine/evaluation", record((CONVERSATION,)), cases=12)
    assert hipo("evaluate", "report", "mine", "-q").code == 0
    assert (tmp_path / "runs/mine/evaluation/index.html").exists()
    assert "lab/strong" in hipo("evaluate", "table", "runs/mine", "--no-paper").out


def test_own_results_stand_before_the_printed_ones_in_a_block_of_their_own(
    hipo: Hipo, sample: Path
) -> None:
    out = hipo("evaluate", "table", str(sample)).out
    own, printed = out.split("\n# Published results: other items, other labels\n")
    assert own.startswith("# This corpus: these items\n")
    assert ("lab/strong" in own, "Claude-3.7" in own) == (True, False)
    assert ("lab/strong" in printed, "Claude-3.7" in printed) == (False, True)
    alone = hipo("evaluate", "table", str(sample), "--no-paper").out
    assert alone == own
    rows = csv.DictReader(
        io.StringIO(hipo("evaluate", "table", str(sample), "--format", "csv").out)
    )
    assert {row["items"] for row in rows} == {"these items", "other items, other labels"}
    labels = hipo("evaluate", "table", str(sample), "--no-paper", "--by-label")
    assert labels.out.startswith(own[:100])
    assert ("goal by label" in labels.out, "goal by label" in own) == (True, False)
    assert hipo("evaluate", "table", "--by-label").code == 2


def test_people_have_rows_where_models_were_scored_on_the_same_items(
    hipo: Hipo, tmp_path: Path
) -> None:
    run = generated_run(tmp_path / "run", n=6, turns=[1])
    folder = results(run, tmp_path / "evaluated")
    of_the_set = [row.model_copy(update={"set": "f"}) for row in read_results(folder)]
    (folder / RESULTS).write_bytes(b"".join(row.to_line() for row in of_the_set))
    answered = answer_as_declared(hipo, run)
    found = hipo(
        "evaluate", "table", str(folder), "--people", str(run), "--no-paper", "--format", "csv"
    )
    assert found.code == 0, found.err
    rows = list(csv.DictReader(io.StringIO(found.out)))
    assert {row["name"] for row in rows if row["table"] == "own-1"} == {
        "test/liar",
        "offline/majority (floor)",
        "offline/random (floor)",
    }
    human = [row for row in rows if row["kind"] == "human"]
    assert {row["table"] for row in human} == {"people-1"}
    assert [row["value"] for row in human if row["metric"] == "accuracy"].count("100.0") == 1
    text = hipo("evaluate", "table", str(folder), "--people", str(run), "--no-paper").out
    assert f"{answered} items" in text.split("on the items that people answered, too")[1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("table", "nowhere"), "nowhere holds no evaluation: there is no evaluation.json"),
        (("report", "nowhere"), "nowhere holds no evaluation: there is no evaluation.json"),
        (("table", "--no-paper"), "there is nothing to print"),
        (("table", "--people", "x"), "there is nothing to print"),
    ],
)
def test_what_is_not_there_is_one_message(
    hipo: Hipo, arguments: tuple[str, ...], said: str
) -> None:
    result = hipo("evaluate", *arguments)
    assert (result.code, result.out) == (2, "")
    assert said in result.err


@pytest.mark.parametrize("command", ["report", "table"])
def test_results_of_another_set_are_one_message_and_nothing_is_written(
    hipo: Hipo, tmp_path: Path, command: str
) -> None:
    other = write_sample(
        tmp_path / "other", record((CONVERSATION,), ["lab/strong"], fingerprint="0ther"), cases=12
    )
    result = hipo("evaluate", command, str(other))
    assert (result.code, result.out) == (2, "")
    assert "results.jsonl:1: is about another set" in result.err
    assert not (other / "index.html").exists()


def test_a_damaged_line_is_told_with_its_number(hipo: Hipo, sample: Path) -> None:
    with (sample / RESULTS).open("a") as file:
        file.write("{\n")
    result = hipo("evaluate", "report", str(sample))
    assert (result.code, result.out) == (2, "")
    assert "results.jsonl:13" in result.err


def test_the_report_of_a_run_shows_the_evaluation_beside_it_without_printed_rows(
    hipo: Hipo, tmp_path: Path
) -> None:
    run = generated_run(tmp_path / "run", n=2, turns=[1])
    without = hipo("report", str(run), "--no-embeddings")
    assert without.code == 0, without.err
    page = (run / "report.html").read_text(encoding="utf-8")
    assert f"hipo evaluate {run} --task TASK --model" in page
    write_sample(run / "evaluation", record((CONVERSATION,), scheme="hipo@2"), cases=12)
    beside = hipo("report", str(run), "--no-embeddings")
    assert (beside.code, "is about labels of hipo@2, the run has hipo@1" in beside.err) == (2, True)
    write_sample(run / "evaluation", record((CONVERSATION,), scheme="hipo@1"), cases=12)
    assert hipo("report", str(run), "--no-embeddings").code == 0
    page = (run / "report.html").read_text(encoding="utf-8")
    assert "Goal, against declared and agreed labels" in page
    assert "offline/majority (floor)" in page
    assert "same grammar" in page
    assert "Claude-3.7" not in page
    elsewhere = write_sample(
        tmp_path / "more", record((CONVERSATION,), ["lab/other"], scheme="hipo@1"), cases=12
    )
    assert hipo("report", str(run), "--no-embeddings", "--evaluation", str(elsewhere)).code == 0
    page = (run / "report.html").read_text(encoding="utf-8")
    assert ("lab/other" in page, "lab/strong" in page) == (True, False)
