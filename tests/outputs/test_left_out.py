"""What an export left out and why; and that a run knows what was exported from it."""

from __future__ import annotations

import html
import json
import os

import orjson
import pytest

from hipo.app.report.report import report
from hipo.cli.main import run as hipo
from outputs.export.recorded import EXPORTS, recorded_exports
from tests.outputs.corpora import STRATEGIES, exportable_run


def verdicts(number):
    """Accept one in four, leave one pending, one without a verdict."""
    return ("accepted", "discarded", "pending", None)[number % 4]


@pytest.fixture
def run(tmp_path):
    return exportable_run(tmp_path / "run", scenarios=3, strategies=STRATEGIES, verdict=verdicts)


def exported(capsys, *words):
    assert hipo(["export", *map(str, words), "--no-parquet", "--print", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_what_an_export_left_out_is_counted_by_reason(tmp_path, run, capsys):
    found = exported(capsys, run, "--to", "benchmark", "-o", tmp_path / "set")
    assert found["left_out"] == {
        "generated": 36,
        "taken": 9,
        "dialogues": {"pending": 9, "discarded": 9, "undecided": 9},
        "rows": {},
    }
    assert (
        orjson.loads((tmp_path / "set/manifest.json").read_bytes())["left_out"] == found["left_out"]
    )
    card = (tmp_path / "set/README.md").read_text()
    assert "9 of 36 dialogues (25%) are in the set" in card
    assert "left out: 9 dialogues pending: people have to decide\n" in card
    assert hipo(["export", str(run), "--to", "benchmark", "-o", str(tmp_path / "two")]) == 0
    assert "not verified (hipo verify RUN, or --any takes them)" in capsys.readouterr().out


def test_dialogues_that_were_not_asked_for_or_give_no_row_are_told_apart(tmp_path, run, capsys):
    found = exported(
        capsys, run, "--to", "sft", "--task", "actor", "--any", "--strategy", "direct",
        "--splits", "1,0,0", "-o", tmp_path / "set",
    )["left_out"]  # fmt: skip
    # 12 dialogues are direct, half of them deceive: no responder is taught from those
    assert found["dialogues"] == {"not_selected": 24, "deceptive": 6}
    assert found["taken"] == 6


def test_the_reason_for_each_dialogue_without_a_pair_is_recorded_and_reported(
    tmp_path, run, capsys
):
    found = exported(
        capsys, run, "--to", "dpo", "--any", "--splits", "1,0,0", "-o", tmp_path / "set"
    )["left_out"]
    reasons = found["dialogues"]
    assert reasons["deceptive"] == 18
    assert "no_row" not in reasons
    assert found["taken"] + sum(reasons.values()) == found["generated"] == 36
    (kept,) = recorded_exports(run)
    assert kept.left_out.dialogues == reasons
    page = report(run, embeddings=False).path.read_text()
    told = [html.escape(reason) for reason in kept.left_out.reasons()]
    assert len(told) == len(reasons)
    assert "; ".join(told) in page


def test_dialogues_whose_rows_are_all_left_out_are_not_those_of_which_none_can_be_made(
    tmp_path, capsys
):
    run = exportable_run(tmp_path / "run", scenarios=2, strategies=("direct",))
    words = ["export", str(run), "--to", "sft", "--splits", "1,0,0", "--any", "-o"]
    assert hipo([*words, str(tmp_path / "one")]) == 0
    without = ["--against", str(tmp_path / "one"), "--remove-overlap", "--no-embeddings"]
    assert hipo([*words, str(tmp_path / "two"), *without]) == 2
    assert (
        "nothing is left to export; 8 dialogues all of whose rows were left out; "
        "40 rows overlap with another set\n"
    ) in capsys.readouterr().err


def test_a_dialogue_that_two_runs_have_is_left_out_of_the_second(tmp_path, run, capsys):
    other = exportable_run(tmp_path / "other", scenarios=3, strategies=("direct",))
    found = exported(capsys, run, other, "--to", "dialogues", "-o", tmp_path / "set")["left_out"]
    assert found == {"generated": 48, "taken": 36, "dialogues": {"in_earlier_run": 12}, "rows": {}}


def test_a_run_records_what_was_exported_from_it_and_its_report_lists_it(tmp_path, run, capsys):
    exported(capsys, run, "--to", "benchmark", "-o", tmp_path / "set")
    exported(capsys, run, "--to", "dialogues", "-o", tmp_path / "corpus")
    exported(capsys, run, "--to", "dialogues", "-o", tmp_path / "corpus", "--overwrite")
    kept = recorded_exports(run)
    assert [(one.kind, one.folder, one.dialogues) for one in kept] == [
        ("benchmark", "../set", 9), ("dialogues", "../corpus", 36),
    ]  # fmt: skip
    page = report(run, embeddings=False).path.read_text()
    assert "Data sets made of this run" in page
    assert "../set" in page
    assert (
        "9 dialogues pending: people have to decide; 9 dialogues discarded; 9 dialogues not verified"
        in page
    )
    assert "No data set of this run is recorded" not in page
    # nine accepted dialogues, all of them in a set that is still there
    assert "accepted → exported" in page


def test_a_set_that_was_deleted_stays_in_the_list(tmp_path, run, capsys):
    exported(capsys, run, "--to", "benchmark", "-o", tmp_path / "set")
    (tmp_path / "set").rename(tmp_path / "moved")
    page = report(run, embeddings=False).path.read_text()
    assert "../set" in page
    assert "none recorded" not in page
    assert "accepted → exported" not in page, "what it held can no longer be counted"


def test_a_damaged_line_of_the_record_is_left_aside_with_a_message(tmp_path, run, capsys, caplog):
    exported(capsys, run, "--to", "dialogues", "-o", tmp_path / "set")
    with (run / EXPORTS).open("ab") as file:
        file.write(b'{"at": 1, "folder": [\n{"at": 1, "rows": []}\n')
    with caplog.at_level("WARNING"):
        assert len(recorded_exports(run)) == 1
    assert caplog.text.count("is no record of an export") == 2


def test_a_record_that_cannot_be_written_takes_no_set_away(tmp_path, run, capsys):
    (run / EXPORTS).mkdir()
    assert hipo(["export", str(run), "-o", str(tmp_path / "set"), "--no-parquet"]) == 0
    assert "was not recorded in run" in capsys.readouterr().err
    assert (tmp_path / "set/jsonl/train.jsonl").exists()


@pytest.mark.parametrize("linked", [os.symlink, os.link])
def test_an_export_is_not_recorded_in_a_file_elsewhere(tmp_path, run, capsys, linked):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("precious\n")
    linked(elsewhere, run / EXPORTS)
    assert hipo(["export", str(run), "-o", str(tmp_path / "set"), "--no-parquet"]) == 0
    assert f"was not recorded in run: {run / EXPORTS} is a" in capsys.readouterr().err
    assert elsewhere.read_text() == "precious\n"


@pytest.mark.parametrize("damage", ["gone", "a row broken", "a link to itself"])
def test_a_recorded_set_that_is_damaged_costs_no_report(tmp_path, run, capsys, damage):
    exported(capsys, run, "--to", "benchmark", "-o", tmp_path / "set")
    rows = tmp_path / "set/jsonl/test.jsonl"
    if damage == "a row broken":
        rows.write_text("{")
    else:
        rows.unlink()
        if damage == "a link to itself":
            rows.symlink_to(rows.name)
    said = []
    page = report(run, embeddings=False, notice=said.append).path.read_text()
    assert "accepted → exported" not in page
    assert any("an export is not counted: " in line and "test.jsonl" in line for line in said)


@pytest.mark.parametrize("field", [{"at": 1e308}, {"at": -1e15}, {"folder": "a\0b"}])
def test_a_record_of_no_time_or_folder_is_left_aside(tmp_path, run, capsys, field):
    exported(capsys, run, "--to", "dialogues", "-o", tmp_path / "set")
    line = json.loads((run / EXPORTS).read_text())
    (run / EXPORTS).write_text(json.dumps(line | field))
    assert recorded_exports(run) == ()
    assert report(run, embeddings=False).path.exists()
