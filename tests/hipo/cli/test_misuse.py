"""Files and values that no command can use: each is refused with one message, and nothing waits."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hipo.cli.conftest import Hipo

FORMATS = Path(__file__).parents[3] / "examples" / "formats"
GENERATE = ("generate", "--model", "offline/rules", "--scenarios", "used_car", "-n", "1")
SCORES = "model,dimension,turns,correct,items\nm,veracity,1,3,4\n"
PLAIN = "item,annotator,politeness\nu1,Lin,4\nu1,Ada,5\n"


def link_to_itself(path: Path) -> None:
    path.symlink_to(path.name)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


READING = {
    "import": ("import", "given", "-o", "run2"),
    "scores": ("report", "run", "--no-embeddings", "--benchmark", "given"),
    "consent": ("review", "serve", "run", "--all", "--consent", "given"),
    "translations": ("review", "serve", "run", "--all", "--translations", "given"),
    "answers": ("review", "import", "run", "given"),
    "plugin": ("models", "--plugin", "given"),
    "database": ("runs", "show", "given-run"),
}
"""Commands that read a file of the user's, which is ``given``."""
PLACES = {"database": "given-run/run.sqlite"}


@pytest.mark.parametrize("make", [os.mkfifo, device, link_to_itself], ids=lambda one: one.__name__)
@pytest.mark.parametrize("reading", READING)
def test_what_is_no_file_is_refused_and_not_waited_for(
    hipo: Hipo, tmp_path: Path, reading: str, make: Callable[[Path], None]
) -> None:
    assert hipo(*GENERATE, "-o", "run").code == 0
    assert hipo("review", "export", "run", "--to", "csv", "--all", "-o", "sheet").code == 0
    given = tmp_path / PLACES.get(reading, "given")
    given.parent.mkdir(exist_ok=True)
    make(given)
    result = hipo(*READING[reading])
    assert (result.code, result.err.count("error:")) == (2, 1), result.err
    assert "given" in result.err
    assert not (tmp_path / "run2").exists()


@pytest.mark.parametrize(
    "options", [("--consent", "nowhere.md"), ("--translations", "nowhere.jsonl"), ("--keyfile", "k")]
)  # fmt: skip
def test_no_study_is_begun_with_an_option_that_is_refused(
    hipo: Hipo, options: tuple[str, ...]
) -> None:
    assert hipo(*GENERATE, "-o", "run").code == 0
    assert hipo("review", "serve", "run", "--all", *options).code == 2
    told = hipo("review", "agreement", "run").err
    assert "nobody has reviewed run yet\n  hipo review serve run begins a study" in told


@pytest.mark.parametrize(
    ("command", "named"),
    [
        (("export", "run", "-o", ""), "the value of -o is empty: found ''"),
        (("export", "run", "--scenarios=", "-o", "set"), "the value of --scenarios is empty"),
        (("scheme", "validate", ""), "an argument is empty: found ''"),
        (("metrics", "strategic", "t.csv", "--plots", " "), "the value of --plots is empty: found ' '"),
        (("metrics", "strategic", "t.csv", "--by", ","), "the value of --by is empty: found ','"),
        (("metrics", "intention", "t.csv", "--majority=, ,"), "the value of --majority is empty: found ', ,'"),
        (("show", "run", "--flag", " ,"), "the value of --flag is empty: found ' ,'"),
        (("generate", "--vary", ",", "--dry-run"), "the value of --vary is empty: found ','"),
    ],
)  # fmt: skip
def test_an_empty_value_is_no_folder_and_is_not_left_out(
    hipo: Hipo, tmp_path: Path, command: tuple[str, ...], named: str
) -> None:
    result = hipo(*command)
    assert (result.code, named in result.err, "variable is set" in result.err) == (2, True, True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("audit", "run", "--seed", "x"), "--seed: found 'x', expected a whole number"),
        (("show", "run", "-n", "0"), "--count: found '0', expected greater than or equal to 1"),
        (("contamination", "a", "b", "--common", "x"), "--common: found 'x', expected a number"),
        (("show", "run", "--failed=yes"), "'--failed' does not take a value."),
        (("show", "run", "--count"), "'--count' requires an argument."),
    ],
)
def test_a_value_of_the_wrong_kind_is_told_with_what_was_found_and_whose_help_to_read(
    hipo: Hipo, command: tuple[str, ...], said: str
) -> None:
    result = hipo(*command)
    assert (result.code, said in result.err) == (2, True), result.err
    assert result.err.endswith(f"  see: hipo {command[0]} --help\n")


@pytest.mark.parametrize("folder", ["trial.csv", "trial.csv/below/it"])
def test_a_folder_of_plots_is_none_below_a_file(hipo: Hipo, tmp_path: Path, folder: str) -> None:
    (tmp_path / "trial.csv").write_bytes((FORMATS / "trial.csv").read_bytes())
    result = hipo("metrics", "strategic", "trial.csv", "--plots", folder)
    assert (result.code, "trial.csv" in result.err, "choose" in result.err) == (2, True, True)


@pytest.mark.parametrize("target", [".", "plain.csv/figures.json", "pipe"])
def test_a_place_for_figures_is_looked_at_before_anything_is_written(
    hipo: Hipo, tmp_path: Path, target: str
) -> None:
    (tmp_path / "plain.csv").write_text(PLAIN)
    os.mkfifo(tmp_path / "pipe")
    result = hipo("qc", "plain.csv", "-o", "checked", "--json", target)
    assert (result.code, result.err.count("error:"), result.out) == (2, 1, "")
    assert not (tmp_path / "checked").exists()


def test_an_output_that_is_a_pipe_is_not_waited_for(hipo: Hipo, tmp_path: Path) -> None:
    assert hipo(*GENERATE, "-o", "run").code == 0
    os.mkfifo(tmp_path / "page")
    result = hipo("report", "run", "--no-embeddings", "-o", "page")
    assert (result.code, "page is a device or a pipe" in result.err) == (2, True)


def test_no_table_of_raters_is_written_where_another_cannot_be(hipo: Hipo, tmp_path: Path) -> None:
    arguments = ("--scheme", "payoff_reasoning", "--strategy", "verified", "-n", "1", "-o", "games")
    assert hipo("generate", "--model", "offline/reasoner", *arguments).code == 0
    before = {path.name for path in tmp_path.iterdir()}
    result = hipo("metrics", "reasoning", "games", "--logs", "logs", "--make-form", "games")
    assert (result.code, "games is a folder, not a file" in result.err) == (2, True)
    assert {path.name for path in tmp_path.iterdir()} == before


def test_a_link_in_a_circle_is_no_place_for_a_merged_run(hipo: Hipo, tmp_path: Path) -> None:
    for part in ("1/2", "2/2"):
        assert hipo(*GENERATE[:-1], "4", "--shard", part, "-o", part[0]).code == 0
    link_to_itself(tmp_path / "merged")
    result = hipo("runs", "merge", "1", "2", "-o", "merged")
    assert (result.code, "merged is a link that leads nowhere" in result.err) == (2, True)


def test_text_in_utf_16_is_called_that(hipo: Hipo, tmp_path: Path) -> None:
    (tmp_path / "lines.jsonl").write_bytes('{"messages": []}\n'.encode("utf-16"))
    for command in (("import", "lines.jsonl"), ("compare", "lines.jsonl", "--by", "role")):
        result = hipo(*command)
        assert result.code == 2
        assert "lines.jsonl:1: found text in UTF-16, expected text in UTF-8" in result.err


@pytest.mark.parametrize("command", ["qc", "agreement"])
def test_a_file_without_a_row_says_what_a_table_is(
    hipo: Hipo, tmp_path: Path, command: str
) -> None:
    (tmp_path / "words.csv").write_text("some words\n")
    result = hipo(command, "words.csv")
    assert (result.code, "give a header and below it a row for each answer" in result.err) == (
        2,
        True,
    )


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (("show", "folder"), "error: folder is a folder that holds no run\n"),
        (("verify", "file.csv"), "error: file.csv is a file, and a run is a folder\n"),
        (("agreement", "folder"), "error: folder: found a folder, expected a file\n"),
        (("runs", "--dir", "nowhere"), "error: nowhere is not there\n"),
        (("runs", "--dir", "file.csv"), "error: file.csv is a file, not a folder\n"),
        (
            ("generate", "-m", "offline/rules", "--preview", "0", "-o", "run"),
            "--preview: found '0'",
        ),
        (("contamination", "empty.jsonl", "rows.jsonl"), "error: empty.jsonl: holds no row\n"),
        (("contamination", "rows.jsonl", "empty.jsonl"), "error: empty.jsonl: holds no row\n"),
    ],
    ids=lambda value: " ".join(value[:3]) if isinstance(value, tuple) else "",
)
def test_what_is_of_another_kind_is_called_what_it_is_and_nothing_is_made(
    hipo: Hipo, tmp_path: Path, command: tuple[str, ...], told: str
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file.csv").write_text(PLAIN)
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "rows.jsonl").write_text('{"text": "Six words are enough for this."}\n')
    before = sorted(tmp_path.iterdir())
    result = hipo(*command)
    assert (result.code, result.out, told in result.err) == (2, "", True)
    assert sorted(tmp_path.iterdir()) == before


def test_a_study_is_not_named_like_a_path(hipo: Hipo) -> None:
    assert hipo(*GENERATE, "-o", "run").code == 0
    refused = hipo("review", "serve", "run", "--all", "--study", "a/b")
    assert (refused.code, "'a/b' cannot be the name of a study" in refused.err) == (2, True)
    assert "nobody has reviewed run yet" in hipo("review", "agreement", "run").err


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ("u1,Lin,4\nu2,Lin,5\n", "Lin is alone: agreement takes two annotators"),
        ("u1,Lin,4\nu2,Ada,5\n", "no item has answers of two annotators: Ada, Lin share none"),
    ],
)
def test_without_two_answers_of_one_item_there_is_no_table_of_undefined_figures(
    hipo: Hipo, tmp_path: Path, rows: str, told: str
) -> None:
    (tmp_path / "answers.csv").write_text(f"item,annotator,politeness\n{rows}")
    result = hipo("agreement", "answers.csv")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"error: answers.csv: {told}\n")


def test_a_judge_alone_is_told_who_else_labelled_the_run(hipo: Hipo) -> None:
    assert hipo(*GENERATE, "--verify", "--judge", "offline/judge", "-o", "run", "-q").code == 0
    result = hipo("agreement", "run", "--of", "external")
    assert (result.code, result.out) == (2, "")
    assert "run: offline/judge is alone: agreement takes two annotators" in result.err
    assert "--with KIND[:WHO]; there are: declared:responder, self:offline/judge" in result.err


@pytest.mark.parametrize(
    ("command", "found", "advice"),
    [
        (("agreement", "run", "--of", "human", "--of=external"),
         "--of is given more than once, and takes one value: found 'human' and 'external'", "once"),
        (("generate", "-ma", "--model", "b"), "--model is given more than once", "give it once"),
        (("metrics", "strategic", "t.csv", "--by", "a", "--by", "b"), "'a' and 'b'", "as a,b"),
    ],
)  # fmt: skip
def test_of_two_values_of_an_option_the_first_is_not_dropped_without_a_word(
    hipo: Hipo, command: tuple[str, ...], found: str, advice: str
) -> None:
    result = hipo(*command)
    assert result.code == 2
    assert found in result.err
    assert advice in result.err


def test_the_same_name_twice_is_one_and_a_number_replaces_that_before(hipo: Hipo) -> None:
    told = hipo(*GENERATE, "-n", "3", "-q", "-q", "-o", "run", "-o", "run", "--dry-run")
    assert (told.code, told.out.startswith("3 cases, ")) == (0, True)


def test_a_long_cell_of_scores_is_told_with_its_line(hipo: Hipo, tmp_path: Path) -> None:
    assert hipo(*GENERATE, "-o", "run").code == 0
    (tmp_path / "scores.csv").write_text(f"{SCORES}{'m' * 200_000},veracity,1,3,4\n")
    result = hipo("report", "run", "--no-embeddings", "--benchmark", "scores.csv")
    assert (result.code, "scores.csv:3: found field larger than" in result.err) == (2, True)


def test_a_label_of_a_turn_in_the_row_of_a_dialogue_is_told_as_that(
    hipo: Hipo, tmp_path: Path
) -> None:
    assert hipo(*GENERATE, "-o", "run").code == 0
    sheet = ("review", "export", "run", "--to", "csv", "--all", "--blank", "-o", "sheet")
    assert hipo(*sheet).code == 0
    with (tmp_path / "sheet" / "blank.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    whole = next(row for row in rows if not row["utterance"])
    with (tmp_path / "filled.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(whole))
        writer.writeheader()
        writer.writerow({**whole, "annotator": "ann", "intention": "Inform"})
    result = hipo("review", "import", "run", "filled.csv")
    assert result.code == 2
    said = "filled.csv:2: intention: found 'Inform' of a whole dialogue, expected a label of one of"
    assert said in result.err
