"""The corpus itself: a row a dialogue, a row a turn, and a data frame, of any run."""

from __future__ import annotations

import csv
import sys
from collections import Counter

import pyarrow.parquet as pq
import pytest

from hipo import open_run
from hipo.app.export.export import export
from hipo.app.export.options import export_options
from hipo.cli.main import run as hipo
from outputs.dataset.croissant import croissant
from outputs.dataset.csv_files import CsvFiles
from outputs.dataset.manifest import Column
from outputs.rows.turn_set import TurnRows
from scenarios.errors import UsageError
from scenarios.schemes.registry import load_scheme
from tests.outputs.corpora import STRATEGIES, exportable_run, rows_in
from tests.outputs.sample_run import let_people_answer, reported_run


def verdicts(number):
    """Accept the first, discard the second, decide on nothing else."""
    return ("accepted", "discarded", None)[number % 3]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "run"
    return exportable_run(folder, scenarios=3, strategies=STRATEGIES, verdict=verdicts)


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    folder = reported_run(tmp_path_factory.mktemp("judged") / "run", words="so")
    let_people_answer(folder)
    return folder


def test_every_dialogue_of_a_run_is_a_row_whatever_was_decided_on_it(tmp_path, run):
    assert hipo(["export", str(run), "-o", str(tmp_path / "all"), "-q"]) == 0
    rows = rows_in(tmp_path / "all")
    assert Counter(row["verdict"] for row in rows) == {
        "accepted": 12, "discarded": 12, "undecided": 12,
    }  # fmt: skip
    assert [path.name for path in (tmp_path / "all/jsonl").iterdir()] == ["train.jsonl"]
    chosen = ["export", str(run), "--accepted", "-o", str(tmp_path / "some"), "-q"]
    assert hipo(chosen) == 0
    assert {row["verdict"] for row in rows_in(tmp_path / "some")} == {"accepted"}


def test_a_row_holds_scene_fact_labels_reasons_wishes_judgements_flags_and_costs(tmp_path, judged):
    export(judged, "dialogues", tmp_path / "out")
    rows = {row["id"]: row for row in rows_in(tmp_path / "out")}
    record = next(r for r in open_run(judged).verdicts() if len(r.flags) == 2)
    row = rows[f"{record.ending.case.id}/{record.ending.arm}"]
    assert row["verdict"] == record.verdict == "discarded"
    assert row["decided_by"] == "policy:test"
    assert [flag["code"] for flag in row["flags"]] == ["self_veracity", "goal_self"]
    assert [person["role"] for person in row["people"]] == ["initiator", "responder"]
    assert row["fact_text"]
    assert [known["text"] for known in row["private"]] == [row["fact_text"]]
    answer = row["turns"][3]
    said = open_run(judged).dialogue(row["id"]).turns[3]
    assert answer["text"] == said.text
    assert answer["labels"] == {label.dimension: label.value for label in said.tactic}
    assert answer["wanted"] == dict(said.wanted)
    assert set(answer["rationales"].values()) == {"because so"}
    assert {(j["source"], j["dimension"]) for j in answer["judges"]} >= {
        ("self", "veracity"), ("external", "veracity"),
    }  # fmt: skip
    assert {j["dimension"] for j in row["judges"]} == {"goal", "misled"}
    # two requests, one refused: what is known of their price is in the row
    assert row["generation"]["requests"] == 2
    labelled = [
        t for r in rows.values() for t in r["turns"] for j in t["judges"] if j["source"] == "human"
    ]
    assert labelled, "what people answered in review is there"


def test_the_flat_table_says_the_same_in_csv_parquet_and_lines(tmp_path, judged):
    done = export(judged, "turns", tmp_path / "out")
    lines = rows_in(tmp_path / "out")
    table = pq.read_table(tmp_path / "out/data/train-00000-of-00001.parquet").to_pylist()
    assert table == lines
    with (tmp_path / "out/csv/train.csv").open(encoding="utf-8", newline="") as file:
        cells = list(csv.DictReader(file))
    assert len(cells) == len(lines) == done.rows["train"]
    for cell, line in zip(cells, lines, strict=True):
        assert cell["text"] == line["text"]
        assert cell["label_veracity"] == (line["label_veracity"] or "")
        assert cell["turn"] == str(line["turn"])
    assert {type(value) for line in lines for value in line.values()} <= {
        str, int, float, bool, type(None),
    }  # fmt: skip
    answered = [line for line in lines if line["human_intention"]]
    assert {line["human_intention"] for line in answered} >= {"Inform | Inform"}
    flagged = Counter(line["turn_flags"] for line in lines)
    assert flagged["self_veracity"]
    listed = {file.path for file in done.exported.facts.files}
    assert {"csv/train.csv", "jsonl/train.jsonl"} <= listed


def test_no_cell_of_a_table_is_run_as_a_formula(tmp_path):
    files = CsvFiles(tmp_path, (Column("text", "text", "Words."), Column("n", "int", "A number.")))
    files.write("train", {"text": '=HYPERLINK("http://x")', "n": -3})
    files.write("train", {"text": "two\nlines, and a comma", "n": None})
    files.close()
    assert files.hashes.keys() == {"train"}
    with files.path("train").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert rows == [
        ["text", "n"],
        ['\'=HYPERLINK("http://x")', "-3"],
        ["two\nlines, and a comma", ""],
    ]


def test_croissant_describes_what_its_reader_can_load_of_nested_rows(tmp_path, judged):
    done = export(judged, "dialogues", tmp_path / "out")
    (records,) = croissant(done.exported.facts)["recordSet"]
    turns = next(f for f in records["field"] if f["name"].endswith("/turns"))
    paths = {part["source"]["transform"]["jsonPath"] for part in turns["subField"]}
    assert {"text", "labels.veracity", "rationales.intention"} <= paths
    assert not any(path.startswith("judges") for path in paths), "of lists in lists it reads one"


def test_a_run_is_a_data_frame_of_the_same_rows(tmp_path, judged):
    export(judged, "turns", tmp_path / "out", parquet=False)
    lines = rows_in(tmp_path / "out")
    frame = open_run(judged).to_pandas()
    assert list(frame["text"]) == [line["text"] for line in lines]
    assert list(frame.columns) == list(lines[0])
    accepted = open_run(judged).to_pandas("dialogues", verdict="accepted")
    assert set(accepted["verdict"]) == {"accepted"}
    assert accepted["turns"][0][0]["index"] == 0


def test_without_pandas_a_frame_says_what_to_install(monkeypatch, judged):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UsageError, match="a data frame needs the package pandas") as caught:
        open_run(judged).to_pandas()
    assert "pip install pandas" in str(caught.value.hint)


def test_kinds_of_the_corpus_are_not_divided_unless_asked():
    assert export_options("dialogues").fractions == (1, 0, 0)
    assert export_options("turns").fractions == (1, 0, 0)
    assert export_options("sft").fractions == (0.8, 0.1, 0.1)
    assert export_options("turns", fractions=(60, 20, 20)).fractions == (0.6, 0.2, 0.2)


def test_where_programs_label_and_speakers_do_not_the_table_has_their_labels():
    games = {column.name for column in TurnRows(load_scheme("payoff_reasoning")).columns}
    assert {"verifier_correct", "external_correct", "label_correct"} <= games
    plain = {column.name for column in TurnRows(load_scheme("hipo")).columns}
    assert not any(name.startswith("verifier_") for name in plain)
