"""A run made of somebody's table: what reports, sets and evaluations make of its annotations."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.run_material import load_material
from pipeline.store.queries.export import CorpusFilter, open_corpus
from pipeline.store.queries.report import open_figures
from pipeline.store.run_store import RunStore
from tests.hipo.cli.conftest import Hipo
from tests.hipo.cli.small_table import HEADER, as_json, lines_of, written_table


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return written_table(tmp_path)


def test_reports_and_exports_of_a_run_see_imported_annotations(
    hipo: Hipo, table: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    assert hipo("import", str(table), "--map", "cei", "-o", str(run)).code == 0
    with open_figures(run) as figures:
        answers = figures.answers()
    assert {answer.mode for answer in answers} == {"imported"}
    assert len(answers) == 4 * 3 * 2 - 1
    with open_corpus(run) as corpus:
        settled = [
            {label.dimension: label.value for label in entry.dialogue.turns[0].tactic}
            for entry in corpus.entries(CorpusFilter(), adjudicated=True)
        ]
    assert sorted(labels["emotion"] for labels in settled) == ["anger", "joy", "sadness", "trust"]


def test_what_most_people_say_is_the_reference_of_imported_dialogues(
    hipo: Hipo, table: Path, tmp_path: Path
) -> None:
    table.write_text(table.read_text("utf-8").replace("gold_standard", "somebody_else"), "utf-8")
    run, benchmark = tmp_path / "run", tmp_path / "set"
    assert hipo("import", str(table), "--map", "cei", "-o", str(run)).code == 0
    done = hipo("export", str(run), "--to", "benchmark", "-o", str(benchmark), "--any")
    assert done.code == 0, done.err
    assert "utterances with labels that most people gave: 4" in done.out
    # The emotion of the parcel; on how pleasant a line is two of three say the same everywhere.
    assert "labels left out on which people are split: 1" in done.out
    rows = lines_of(next(benchmark.rglob("*.jsonl")))
    alone = [row for row in rows if row["aspect"] == "utterance"]
    assert {row["labelled_by"] for row in alone} == {"people"}
    labels = {row["utterance"]: row["label_emotion"] for row in alone}
    assert labels == {
        "Well, lovely.": "anger", "What a surprise.": "sadness", "It will come.": None,
        "I had fun.": "joy",
    }  # fmt: skip
    parcel = next(row for row in alone if row["label_emotion"] is None)
    assert parcel["label_valence"] == pytest.approx(2 / 3)
    assert "emotion" not in json.loads(parcel["target"])  # nobody knows it, and null says no answer
    for source in (benchmark, run):
        evaluated = tmp_path / f"of_{source.name}"
        asked = hipo("evaluate", str(source), *(["--any"] if source == run else []),
                     "--task", "cei-emotion", "--model", "offline/random", "-o", str(evaluated))  # fmt: skip
        assert asked.code == 0, asked.err
        results = lines_of(evaluated / "results.jsonl")
        assert len(results) == 4
        right = {row["references"].get("people", {}).get("emotion") for row in results}
        assert right == {"anger", "sadness", "joy", None}


def test_splits_of_imported_dialogues_spread_what_annotators_say(
    hipo: Hipo, table: Path, tmp_path: Path
) -> None:
    emotions = ("anger", "joy", "fear", "trust")
    said = [f"{n},aunt,Scene {n}.,nephew,Line {n}.,{','.join([emotions[n % 4]] * 4)},,,,"
            for n in range(24)]  # fmt: skip
    table.write_text("\n".join([HEADER, *said, ""]), "utf-8")
    run, divided = str(tmp_path / "run"), tmp_path / "set"
    assert hipo("import", str(table), "--map", "cei", "-o", run).code == 0
    options = ("--to", "benchmark", "--any", "--splits", "50,0,50", "-o", str(divided))
    assert hipo("export", run, *options).code == 0
    for split in ("train", "test"):
        (path,) = divided.rglob(f"{split}.jsonl")
        found = [r["label_emotion"] for r in lines_of(path) if r["aspect"] == "utterance"]
        assert {emotion: found.count(emotion) for emotion in emotions} == dict.fromkeys(emotions, 3)


def test_a_line_that_everybody_reads_differently_is_not_asked_about_and_that_is_said(
    hipo: Hipo, table: Path, tmp_path: Path
) -> None:
    split = (
        '5,aunt,A letter came.,nephew,"Oh, that.",joy,trust,fear,,unpleasant,neutral,pleasant,\n'
    )
    table.write_text(table.read_text("utf-8") + split, "utf-8")
    run = str(tmp_path / "run")
    assert hipo("import", str(table), "--map", "cei", "-o", run).code == 0
    asked = hipo("evaluate", run, "--any", "--task", "cei-emotion", "--model", "offline/random",
                 "-o", str(tmp_path / "evaluated"))  # fmt: skip
    assert "with no label that was declared, decided or given by most: 1" in asked.err
    assert len(lines_of(tmp_path / "evaluated" / "results.jsonl")) == 4


def test_an_experts_labels_come_before_those_of_people(
    hipo: Hipo, table: Path, tmp_path: Path
) -> None:
    run, benchmark = tmp_path / "run", tmp_path / "set"
    assert hipo("import", str(table), "--map", "cei", "-o", str(run)).code == 0
    assert hipo("export", str(run), "--to", "benchmark", "-o", str(benchmark), "--any").code == 0
    rows = lines_of(next(benchmark.rglob("*.jsonl")))
    parcel = next(row for row in rows if row["utterance"] == "It will come.")
    assert (parcel["labelled_by"], parcel["label_emotion"]) == ("expert", "trust")
    assert parcel["label_valence"] == pytest.approx(2 / 3)  # which the expert did not decide on
    declared = hipo("export", str(run), "--to", "benchmark", "-o", str(tmp_path / "no"), "--any",
                    "--labels", "declared")  # fmt: skip
    assert declared.code == 2
    assert "of its speaker, of an expert, or of two people" in declared.err


def test_a_column_says_in_which_language_dialogues_are(hipo: Hipo, tmp_path: Path) -> None:
    head = "id,sd_situation,sd_speaker_role,sd_utterance,sl_plutchik_primary_A,language"
    rows = ["1,Im Büro.,Kollege,Na wunderbar.,anger,de", "2,Im Büro.,Kollege,Schon gut.,anger,",
            "3,Im Büro.,Kollege,,joy,German"]  # fmt: skip
    table = tmp_path / "talk.csv"
    table.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    done = hipo("import", str(table), "--map", "cei", "-o", str(tmp_path / "run"))
    assert done.code == 0, done.err
    assert f"{table.name}: 'German' is no code of a language; taken for en" in done.out
    assert f"{table.name}: no words in turn 0 of 'talk/003'; stored as '(no words)'" in done.out
    with RunStore.open(tmp_path / "run", readonly=True) as store:
        scenarios = load_material(store).scenarios
        said = {d.turns[0].text: d.case for d in store.dialogues(traces=False)}
    languages = {text: case.language for text, case in said.items()}
    assert languages == {"Na wunderbar.": "de", "Schon gut.": "en", "(no words)": "en"}
    assert scenarios[said["Na wunderbar."].scenario].languages == ("de",)


def test_quality_control_asks_for_intentions_of_those_who_have_them(
    hipo: Hipo, tmp_path: Path
) -> None:
    rows = ["c,ER,Could you?,hneg-,", "c,ER,I am nobody.,spos-,", "c,EE,I know them.,spos+,"]
    (tmp_path / "acts.csv").write_text(
        "\n".join(["conversation_id,speaker,utterance,face_act,intention", *rows]), "utf-8"
    )
    of_table = hipo("qc", "acts.csv", "--map", "face_acts", "--json", "-")
    assert hipo("import", "acts.csv", "--map", "face_acts", "-o", "run").code == 0
    of_run = hipo("qc", "run", "--json", "-")
    for told in (of_table, of_run):
        missing = [one for one in json.loads(told.out)["findings"] if one["code"] == "missing"]
        assert {one["item"][-2:] for one in missing} == {"#0", "#2"}
        assert {one["dimension"] for one in missing} == {"intention"}


def test_rows_that_are_called_after_turns_of_a_run_are_imported_as_dialogues_of_their_own(
    hipo: Hipo, tmp_path: Path
) -> None:
    (tmp_path / "whole.yaml").write_text(
        "id: whole\ntitle: Whole\ndimensions:\n- {id: felt, level: dialogue, question: Which?,"
        " labels: [{id: joy, definition: Joy.}, {id: fear, definition: Fear.}]}\n"
    )
    (tmp_path / "map.yaml").write_text(
        "id: turns\ntitle: Turns\nscheme: ./whole.yaml\ngroup: ^\ndialogue: name\n"
        "annotator: {column: who}\ntexts: [{column: said, role: speaker}]\n"
        "answers: {felt: {column: felt}}\n"
    )
    run = f"{'0a' * 10}/{'1b' * 10}"
    rows = [f"{run}#{n},Line {n}.,{who},joy" for n in (1, 3) for who in "AB"]
    (tmp_path / "turns.csv").write_text("\n".join(["name,said,who,felt", *rows]))
    made = hipo("import", "turns.csv", "--map", "./map.yaml", "-o", "run")
    assert made.code == 0, made.err
    assert "2 dialogues imported into run, with 4 labels by 2 annotators" in made.out
    assert as_json(hipo, "agreement", "run")["groups"][0]["items"] == 2
