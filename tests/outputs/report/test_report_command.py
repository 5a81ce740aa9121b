"""The command of a report, and what it is given beside the run: exports and results."""

import json

import pytest

from hipo.cli.main import run as hipo
from outputs.report.cumulative import CumulativeScore, read_scores
from outputs.report.exported import exported_dialogues
from scenarios.errors import InputError, UsageError
from scenarios.schemes.registry import load_scheme
from tests.outputs.html_tree import XHTML, parsed, section, words_of
from tests.outputs.report.report_page import page_of, table


def test_results_of_a_benchmark_are_drawn(run):
    scores = tuple(
        CumulativeScore(model, "veracity", turns, turns + hit, 10)
        for model, hit in (("a/one", 1), ("b/two", 4))
        for turns in (1, 2, 3)
    )
    found = parsed(page_of(run, cumulative=scores))
    unfolding = section(found, "cumulative")
    rows = [[words_of(cell) for cell in row] for row in unfolding.iter(f"{XHTML}tr")]
    assert ["b/two", "3", "70.0%", "10"] in rows
    assert "No benchmark results" not in words_of(unfolding)


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("m,veracity,0,1,2", "turns"),
        ("m,veracity,1,3,2", "correct"),
        ("m,truth,1,1,2", "dimension"),
        ("m,veracity,1,x,2", "correct"),
        ("m,veracity,1", "correct"),
    ],
)
def test_a_bad_line_of_results_is_named(tmp_path, line, field):
    file = tmp_path / "scores.csv"
    file.write_text(f"model,dimension,turns,correct,items\nm,veracity,1,1,2\n{line}\n")
    with pytest.raises(InputError, match=f"scores.csv:3: {field}:"):
        read_scores(file, load_scheme("hipo"))


def test_results_without_a_column_are_refused(tmp_path):
    file = tmp_path / "scores.csv"
    file.write_text("model,turns\n")
    with pytest.raises(InputError, match="dimension"):
        read_scores(file, load_scheme("hipo"))


def test_the_command_writes_the_page_and_says_where(run, tmp_path, capsys):
    target = tmp_path / "deep" / "report.html"
    assert hipo(["report", str(run), "-o", str(target), "--no-embeddings"]) == 0
    assert capsys.readouterr().out == f"report: {target}\n"
    parsed(target.read_text(encoding="utf-8"))
    assert [child.name for child in target.parent.iterdir()] == ["report.html"]
    assert hipo(["report", str(run), "-o", str(target), "--no-embeddings", "-q"]) == 0


def test_the_command_overwrites_nothing_of_others(run, tmp_path, capsys):
    mine = tmp_path / "notes.html"
    mine.write_text("my notes")
    assert hipo(["report", str(run), "-o", str(mine), "--no-embeddings"]) == 2
    assert mine.read_text() == "my notes"
    assert "no file of hipo's" in capsys.readouterr().err


def written_export(folder, rows):
    folder.mkdir()
    (folder / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    listed = [{"path": "train.jsonl", "rows": len(rows)}, {"path": "README.md"}]
    (folder / "manifest.json").write_text(json.dumps({"files": listed}))
    return folder


def test_exported_dialogues_are_counted_once_whatever_their_rows(run, tmp_path):
    mine = [{"run": "sample", "case": case, "arm": "a", "turn": n} for case in "xy" for n in (1, 3)]
    one = written_export(tmp_path / "one", [*mine, {"run": "other", "case": "z", "arm": "a"}])
    two = written_export(tmp_path / "two", [{"run": "sample", "case": "w", "arm": "a"}, mine[0]])
    assert exported_dialogues([one], "sample") == 2
    assert exported_dialogues([one, two], "sample") == 3
    with pytest.raises(UsageError, match="no dialogue of the run 'third'"):
        exported_dialogues([one], "third")


@pytest.mark.parametrize("broken", ['{"run": "sample", "ca', "[]"])
def test_an_export_that_was_copied_in_part_is_refused_by_its_line(tmp_path, broken):
    folder = written_export(tmp_path / "one", [{"run": "sample", "case": "x", "arm": "a"}])
    with (folder / "train.jsonl").open("a") as file:
        file.write(broken)
    with pytest.raises(UsageError, match=r"train.jsonl, line 2: found no row"):
        exported_dialogues([folder], "sample")


def test_the_funnel_ends_with_what_was_exported(run):
    found = parsed(page_of(run, exported=5))
    assert table(found, "Dialogues by stage")["Exported"] == ["5 (20.8%)"]
    assert "accepted → exported" in table(found, "Where dialogues were lost")


def test_an_export_that_is_none_is_refused(run, tmp_path, capsys):
    assert hipo(["report", str(run), "--export", str(tmp_path), "--no-embeddings"]) == 2
    assert "is not the folder of an export" in capsys.readouterr().err
