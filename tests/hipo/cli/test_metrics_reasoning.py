import csv
import json

import pytest

from hipo.cli.main import run
from tests.quality.reasoning.logs import RIGHT, attempt, corrected, log_text, right

OWN_GAMES = """
games:
  - id: bakery
    name: Two bakers
    payoffs: {open: {open: [2, 2], close: [6, 1]}, close: {open: [1, 6], close: [4, 4]}}
"""


@pytest.fixture
def logs(tmp_path):
    folder = tmp_path / "logs"
    folder.mkdir()
    for name, text in (("a_pd.txt", right()), ("b_pd.txt", corrected()), ("c_pd.txt", right())):
        (folder / name).write_text(text)
    return folder


def rate(path, *answers):
    """Fill in a form as a rater does."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row, (first, last, kinds) in zip(rows, answers, strict=True):
        row.update(orig_cor=first, fin_cor=last, err_type=kinds)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], delimiter=";")
        writer.writeheader()
        writer.writerows(rows)


def test_forms_are_made_filled_in_completed_and_merged(logs, tmp_path, capsys):
    forms = [tmp_path / "ann.csv", tmp_path / "ben.csv"]
    for form in forms:
        assert run(["metrics", "reasoning", str(logs), "--make-form", str(form)]) == 0
    rate(forms[0], ("1", "1", ""), ("0", "1", "rga"), ("0", "0", "pa"))
    rate(forms[1], ("1", "1", ""), ("0", "1", "pc#rga"), ("1", "1", ""))
    done, merged = tmp_path / "done", tmp_path / "merged.csv"
    capsys.readouterr()
    code = run(
        [
            "metrics",
            "reasoning",
            str(logs),
            *map(str, forms),
            "--complete",
            str(done),
            "--merge",
            str(merged),
            "--json",
            "-",
        ]
    )
    printed = capsys.readouterr()
    assert code == 0
    assert "written: " in printed.err
    matrix = json.loads(printed.out)["confusion"][0]
    assert [matrix[name] for name in ("tp", "fp", "tn", "fn")] == [1, 1, 1, 0]
    with (done / "ben.csv").open(newline="") as file:
        completed = list(csv.DictReader(file))
    assert [row["con_mat"] for row in completed] == ["TP", "TN", "FP"]
    assert [row["err_type"] for row in completed] == ["", "pc#rga", ""]
    with merged.open(newline="") as file:
        table = list(csv.DictReader(file))
    assert [row["orig_cor"] for row in table] == ["1", "0", "0"]
    assert [row["err_type_ben"] for row in table] == ["", "rga#pc", ""]
    assert run(["metrics", "reasoning", str(logs), str(merged), "--json", "-"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["confusion"][0]["fp"] == 1
    assert again["raters"] == []


def test_the_text_has_every_table(logs, tmp_path, capsys):
    form = tmp_path / "ann.csv"
    assert run(["metrics", "reasoning", str(logs), "--make-form", str(form)]) == 0
    rate(form, ("1", "1", ""), ("0", "1", "rga"), ("maybe", "0", "pa"))
    capsys.readouterr()
    assert run(["metrics", "reasoning", str(logs), str(form)]) == 0
    text = capsys.readouterr().out
    for part in (
        "3 logs",
        "Solver against gold",
        "without gold or verdict, and not counted: original 1, final 0",
        "Share of reasonings that are not right",
        "Kinds of mistakes",
        "unknown_value (1)",
    ):
        assert part in text
    lines = [line.split() for line in text.splitlines()]
    at = lines.index(["Share", "of", "reasonings", "that", "are", "not", "right"])
    assert lines[at + 1] == ["game", "attempt", "solver", "gold", "ann"]
    assert [line[:2] for line in lines[at + 2 : at + 4]] == [["all", "original"], ["all", "final"]]


def test_games_of_ones_own_have_their_own_choices(tmp_path, capsys):
    (tmp_path / "games.yaml").write_text(OWN_GAMES)
    claim = "lowest_individual_payoff_for_choice(1, 'close')."
    (tmp_path / "talk.txt").write_text(log_text(attempt(0, "close", claim, RIGHT, failed=[RIGHT])))
    code = run(
        [
            "metrics",
            "reasoning",
            str(tmp_path / "talk.txt"),
            "--json",
            "-",
            "--games",
            str(tmp_path / "games.yaml"),
            "--game",
            "bakery",
        ]
    )
    found = json.loads(capsys.readouterr().out)
    assert code == 0
    assert found["claims"] == {
        "well_formed": 2, "malformed": 0, "failing": 1, "differing_attempts": 0,
    }  # fmt: skip
    assert found["oddities"] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.txt"], "nothing.txt"),
        (["notes.txt"], "found no column 'file'"),
        (["empty"], "there is no log of reasoning"),
        (["logs", "--game", "dp"], "there is no game 'dp'"),
        (["logs", "--games", "notes.txt"], "notes.txt"),
        (["logs", "--merge", "merged.csv"], "there is no form of a rater to merge"),
        (["logs", "--complete", "done"], "there is no form of a rater to complete"),
        (["logs", "--make-form", "notes.txt"], "is there already"),
    ],
)
def test_mistakes_of_the_user_are_named(logs, tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("just notes\n")
    (tmp_path / "empty").mkdir()
    assert run(["metrics", "reasoning", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_other_files_of_a_folder_and_second_logs_are_told(logs, tmp_path, capsys):
    (logs / "README.txt").write_text("just notes\n")
    (logs / "more").mkdir()
    (logs / "more" / "A_PD.txt").write_text(right())
    (logs / "d_pd.txt").write_bytes(right().replace("thought", "th\u00f4ught").encode("cp1252"))
    assert run(["metrics", "reasoning", str(logs), "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert sorted(oddity["code"] for oddity in found["oddities"]) == [
        "encoding", "other_file", "second_log",
    ]  # fmt: skip
    assert found["logs"] == 4
