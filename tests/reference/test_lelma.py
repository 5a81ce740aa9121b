"""The figures of the released reasonings, through the command a user has."""

import csv
import json
import shutil

import pytest

from hipo.cli.main import run
from pipeline.reasoning.log import read_log, write_log
from quality.reasoning.form import log_name
from tests.reference.cei import reference_folder


@pytest.fixture(scope="module")
def folder():
    return reference_folder("lelma")


def figures(tmp_path, *arguments):
    target = tmp_path / "figures.json"
    assert run(["metrics", "reasoning", *map(str, arguments), "--json", str(target)]) == 0
    return json.loads(target.read_text())


def rows(path):
    text = path.read_text(encoding="utf-8")
    delimiter = ";" if text.split("\n", 1)[0].count(";") else ","
    return list(csv.DictReader(text.splitlines(keepends=True), delimiter=delimiter))


def test_all_claims_are_solved_again_with_the_verdicts_of_the_logs(folder, tmp_path):
    found = figures(tmp_path, folder / "logs")
    assert found["logs"] == 90
    assert found["claims"]["well_formed"] == 1640
    assert found["claims"]["malformed"] == 2
    assert found["claims"]["differing_attempts"] == 0
    told = [oddity["found"] for oddity in found["oddities"] if oddity["code"] == "log"]
    assert len(told) == 2
    assert all("not what lowest_possible_individual_payoff takes" in line for line in told)


def test_solver_and_unanimous_raters_make_the_confusion_matrix(folder, tmp_path):
    found = figures(tmp_path, folder / "logs", *sorted(folder.glob("*_j?.csv")))
    matrix = next(m for m in found["confusion"] if not m["game"] and m["attempt"] == "original")
    assert [matrix[name] for name in ("tp", "fp", "tn", "fn")] == [15, 11, 62, 2]
    assert matrix["accuracy"] == pytest.approx(77 / 90)
    assert matrix["precision"] == pytest.approx(15 / 26)
    assert matrix["recall"] == pytest.approx(15 / 17)
    assert len(found["raters"]) == 3


def test_forms_and_logs_say_the_same_and_what_is_odd_is_told(folder, tmp_path):
    found = figures(tmp_path, folder)
    codes = {oddity["code"] for oddity in found["oddities"]}
    assert "other_than_log" not in codes
    assert "no_such_log" not in codes
    told = {(o["code"], o["found"]) for o in found["oddities"]}
    assert ("other_spelling", "'Pc'") in told
    assert ("unknown_error_type", "'0'") in told
    assert sum(code == "second_row" for code, _ in told) == 1


def test_the_columns_of_a_form_are_completed_as_the_released_table_has_them(folder, tmp_path):
    sources = [folder / "logs", *sorted(folder.glob("*_j?.csv"))]
    figures(tmp_path, *sources, "--complete", tmp_path / "done")
    released = {row["file"]: row for row in rows(folder / "gemini_full.csv")}
    for path in sorted((tmp_path / "done").glob("*.csv")):
        completed = rows(path)
        assert len(completed) == 90
        for row in completed:
            full = released.get(row["file"])
            if full is not None:
                for column in ("con_mat", "failed_queries", "orig_cor_pred", "fin_cor_pred"):
                    assert row[column] == full[column], (row["file"], column)


def test_merged_forms_have_the_gold_of_the_released_table(folder, tmp_path):
    sources = [folder / "logs", *sorted(folder.glob("*_j?.csv"))]
    figures(tmp_path, *sources, "--merge", tmp_path / "merged.csv")
    released = {row["file"]: row for row in rows(folder / "gemini_full.csv")}
    for row in rows(tmp_path / "merged.csv"):
        full = released.get(row["file"])
        if full is not None:
            for column in (
                "game",
                "attempts",
                "orig_choice",
                "final_choice",
                "con_mat",
                "orig_cor",
                "fin_cor",
            ):
                assert row[column] == full[column], (row["file"], column)


def test_other_names_delimiters_and_folders_change_nothing(folder, tmp_path):
    renamed = tmp_path / "renamed"
    renamed.mkdir()
    names = {}
    for number, path in enumerate(sorted((folder / "logs").glob("*.txt"))):
        names[log_name(path.name)] = f"log_{number}.txt"
        shutil.copy(path, renamed / f"log_{number}.txt")
    for number, path in enumerate(sorted(folder.glob("*_j?.csv"))):
        table = [{**row, "file": names[log_name(row["file"])]} for row in rows(path)]
        with (renamed / f"judge {number}.tsv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, table[0], delimiter="\t")
            writer.writeheader()
            writer.writerows(reversed(table))
    found, again = (
        figures(tmp_path, folder / "logs", *folder.glob("*_j?.csv")),
        figures(tmp_path, renamed),
    )
    assert again["confusion"] == found["confusion"]
    assert again["claims"] == found["claims"]


def test_a_released_log_is_written_as_it_was_read(folder):
    for path in sorted((folder / "logs").glob("*.txt")):
        text = path.read_bytes().decode().replace("\r\n", "\n")
        assert write_log(read_log(text, path.name).attempts) == text
