"""Somebody's own conversations, from a table or JSON lines to held-out sets and figures."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from hipo.app.evaluation.tuned import TuningQuestion
from hipo.app.review.reviewing import ReviewOptions, open_review
from outputs.training.training_set import read_training_set
from quality.web.access import Access
from scenarios.errors import UsageError
from tests.hipo.cli.conftest import Hipo
from tests.hipo.cli.own_talks import SCHEME, written_lines, written_talks


@pytest.fixture
def talks(hipo: Hipo) -> Hipo:
    """Run commands beside an imported run of twelve talks."""
    written_talks(Path())
    told = hipo("import", "talks.csv", "--map", "map.yaml", "-o", "talks")
    assert told.code == 0, told.err
    return hipo


def rows_in(folder: str, split: str) -> list[dict[str, object]]:
    path = Path(folder) / "jsonl" / f"{split}.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_imported_talks_without_a_situation_are_divided_one_by_one(talks: Hipo) -> None:
    asked = ("export", "talks", "--any", "--to", "benchmark", "--splits", "50,25,25")
    refused = talks(*asked, "-o", "set")
    assert refused.code == 2
    assert "--split-by dialogue" in refused.err
    coarse = talks(*asked[:-1], "70,0,30", "-o", "coarse")
    assert "one situation has 67% of the dialogues" in coarse.out
    done = talks(*asked, "--split-by", "dialogue", "-o", "set")
    assert done.code == 0, done.err
    assert "one situation has" not in done.out
    assert "source talks/T07" in talks("show", "talks", "T07").out
    cases = {
        split: {r["case"] for r in rows_in("set", split)}
        for split in ("train", "validation", "test")
    }
    assert {split: len(of) for split, of in cases.items()} == {
        "train": 6,
        "validation": 3,
        "test": 3,
    }
    assert len(set.union(*cases.values())) == 12
    spoken = Counter(str(row["language"]) for row in rows_in("set", "train") if row["turn"] == 0)
    assert spoken["en"] == 2 * spoken["de"]
    splits = json.loads(Path("set/manifest.json").read_text())["splits"]
    assert Counter(splits.values()) == {"train": 6, "validation": 3, "test": 3}


def test_talks_that_were_held_out_one_by_one_are_unseen(talks: Hipo) -> None:
    asked = ("export", "talks", "--any", "--splits", "50,25,25", "--split-by", "dialogue")
    assert talks(*asked, "--to", "benchmark", "-o", "items").code == 0
    assert talks(*asked, "--to", "sft", "--task", "people", "-o", "sft").code == 0
    learnt = read_training_set(Path("sft"))
    # All of them are of the few situations that imported talks have.
    assert TuningQuestion("items/jsonl/test.jsonl", ()).check(learnt) > 0
    with pytest.raises(UsageError, match="6 dialogues of the items are in the training split"):
        TuningQuestion("items/jsonl/train.jsonl", ()).check(learnt)
    assert TuningQuestion("items", (), allow_overlap=True).check(learnt) > 0


def test_talks_that_say_nearly_the_same_stay_in_one_split(hipo: Hipo) -> None:
    table = written_talks(Path())
    lines = table.read_bytes().decode("utf-8-sig").splitlines()
    copies = [
        line.replace(f"T0{old}", f"C0{old}")
        for old in (1, 2, 4)
        for line in lines
        if f"T0{old}" in line
    ]
    table.write_text("\n".join([*lines, *copies]) + "\n", encoding="utf-8")
    assert hipo("import", "talks.csv", "--map", "map.yaml", "-o", "talks").code == 0
    asked = ("--any", "--to", "benchmark", "--splits", "50,0,50", "--split-by", "dialogue")
    told = hipo("export", "talks", *asked, "-o", "set")
    assert "pairs in one split because they are alike (manifest.json: together): 3" in told.out
    said = {
        split: {row["utterance"] for row in rows_in("set", split)} for split in ("train", "test")
    }
    assert not said["train"] & said["test"]


def test_generated_dialogues_are_not_divided_one_by_one(offline: Hipo, hipo: Hipo) -> None:
    assert offline("-n", "2", "-o", "run").code == 0
    refused = hipo(
        "export", "run", "--any", "--splits", "50,0,50", "--split-by", "dialogue", "-o", "set"
    )
    assert refused.code == 2
    assert "for imported dialogues" in refused.err


def test_two_people_whose_names_have_no_latin_letters_stay_two(hipo: Hipo) -> None:
    table = written_talks(Path(), 1)
    said = (
        table.read_text("utf-8-sig")
        .replace(";client;", ";العميل;")
        .replace(";helper;", ";المستشار;")
    )
    table.write_text(said, "utf-8")
    Path("chats.yaml").write_text(SCHEME.replace("    of: [client, helper]\n", ""))
    assert hipo("import", "talks.csv", "--map", "map.yaml", "-o", "talks").code == 0
    [one] = hipo("show", "talks", "--format", "json").data
    turns = hipo("show", "talks", one["id"], "--format", "json").data["turns"]
    assert len({turn["role"] for turn in turns}) == 2
    line = {
        "messages": [
            {"role": name, "content": "Ja.", "labels": {"act": "Rat"}}
            for name in ("Käufer", "Продавец")
        ]
    }
    Path("lines.jsonl").write_text(json.dumps(line))
    told = hipo("import", "lines.jsonl", "--scheme", "chats.yaml", "-o", "lines")
    assert told.code == 0, told.err
    [one] = hipo("show", "lines", "--format", "json").data
    shown = hipo("show", "lines", one["id"]).out
    assert "Käufer" in shown
    assert "Продавец" in shown


_ALIKE = pytest.mark.parametrize(
    "names",
    [
        ("José", "Jose"),
        ("A+", "A-"),
        ("👩", "👨"),
        ("Ann 👩", "Ann 👨"),
        ("x" * 70 + "a", "x" * 70 + "b"),
    ],
    ids=["accents", "signs", "pictures", "letters and pictures", "long"],
)


@_ALIKE
def test_people_of_one_table_whose_names_would_be_spelled_alike_stay_two(
    hipo: Hipo, names: tuple[str, str]
) -> None:
    table = written_talks(Path(), 1)
    said = table.read_text("utf-8-sig")
    for before, after in zip(("client", "helper"), names, strict=True):
        said = said.replace(f";{before};", f";{after};")
    table.write_text(said, "utf-8")
    Path("chats.yaml").write_text(SCHEME.replace("    of: [client, helper]\n", ""))
    assert hipo("import", "talks.csv", "--map", "map.yaml", "-o", "talks").code == 0
    _speak(hipo, names)


@_ALIKE
def test_people_of_a_json_line_whose_names_would_be_spelled_alike_stay_two(
    hipo: Hipo, names: tuple[str, str]
) -> None:
    said = [{"role": name, "content": "Yes.", "labels": {"act": "Rat"}} for name in names]
    _imported_line(hipo, {"messages": said})
    _speak(hipo, names)


def _imported_line(hipo: Hipo, *lines: dict[str, object]) -> None:
    Path("chats.yaml").write_text(SCHEME.replace("    of: [client, helper]\n", ""))
    Path("lines.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    told = hipo("import", "lines.jsonl", "--scheme", "chats.yaml", "-o", "talks")
    assert told.code == 0, told.err


def _speak(hipo: Hipo, names: tuple[str, str]) -> None:
    """Assert that two people speak in the one dialogue, and are called as they are."""
    assert hipo("export", "talks", "--any", "--to", "turns", "-o", "set").code == 0
    first, second = rows_in("set", "train")
    assert first["role"] != second["role"]
    spoken = (str(first["speaker"]).casefold(), str(second["speaker"]).casefold())
    assert spoken == tuple(map(str.casefold, names))


def test_a_name_in_other_capitals_is_the_same_person(hipo: Hipo) -> None:
    said = [
        {"role": name, "content": "Yes.", "labels": {"act": "Rat"}}
        for name in ("Judge Smith", "judge-smith", "JUDGE_SMITH")
    ]
    _imported_line(hipo, {"messages": said})
    assert hipo("export", "talks", "--any", "--to", "turns", "-o", "set").code == 0
    assert {row["role"] for row in rows_in("set", "train")} == {"judge_smith"}


def test_labelled_speakers_are_named_as_they_are_written_and_stand_in_one_line(hipo: Hipo) -> None:
    said = [{"role": name, "content": "Yes."} for name in ("Mül\nler", "Judge Smith", "user")]
    _imported_line(hipo, {"messages": said, "labelled": ["Mül\nler", "Judge Smith"]})
    assert hipo("export", "talks", "--any", "--to", "dialogues", "-o", "set").code == 0
    [row] = rows_in("set", "train")
    assert row["people"][0]["name"] == "Mül ler"
    assert hipo("verify", "talks", "--judge", "offline/judge", "--dry-run").code == 0


def test_people_of_other_names_are_another_situation(hipo: Hipo) -> None:
    said = [
        {"role": name, "content": "Yes.", "labels": {"act": "Rat"}}
        for name in ("user", "assistant")
    ]
    _imported_line(
        hipo,
        {"messages": said, "initiator": "a nurse"},
        {"messages": said, "initiator": "a judge"},
    )
    assert hipo("export", "talks", "--any", "-o", "set").code == 0
    people = {row["people"][0]["name"] for row in rows_in("set", "train")}
    assert people == {"a nurse", "a judge"}


def test_a_number_names_the_dialogue_that_is_called_so_not_one_whose_id_begins_so(
    hipo: Hipo,
) -> None:
    lines = [
        {
            "id": number,
            "messages": [{"role": "a", "content": f"Number {number}.", "labels": {"act": "Rat"}}],
        }
        for number in [*range(1, 10), "x/1"]
    ]
    _imported_line(hipo, *lines)
    for number in range(1, 10):
        assert f"Number {number}." in hipo("show", "talks", str(number)).out
        assert hipo("verdict", "talks", str(number), "discarded", "--note", "odd").code == 0
    listed = hipo("show", "talks", "--verdict", "discarded", "--format", "json").data
    assert len(listed) == 9
    whole = next(one["id"] for one in listed)
    assert hipo("show", "talks", whole[:8]).code == 0
    assert hipo("show", "talks", whole).code == 0


def test_rows_of_a_set_of_imported_dialogues_name_the_way_back(talks: Hipo) -> None:
    assert talks("export", "talks", "--any", "-o", "set").code == 0
    refused = talks("import", "set/jsonl/train.jsonl", "--scheme", "chats.yaml", "-o", "again")
    assert refused.code == 2
    assert "import the file that they came from" in refused.err


@pytest.mark.parametrize("odd", [True, 1.5, ["x"]])
def test_what_is_no_name_of_a_dialogue_is_refused(hipo: Hipo, odd: object) -> None:
    Path("chats.yaml").write_text(SCHEME)
    said = [{"role": "client", "content": "Yes.", "labels": {"act": "Rat"}}]
    Path("lines.jsonl").write_text(json.dumps({"id": odd, "messages": said}))
    refused = hipo("import", "lines.jsonl", "--scheme", "chats.yaml", "-o", "talks")
    assert refused.code == 2
    assert "lines.jsonl:1: id: found" in refused.err


def test_json_lines_of_a_scheme_without_a_goal_need_no_situation_and_keep_their_names(
    hipo: Hipo,
) -> None:
    written_lines(Path())
    told = hipo("import", "talks.jsonl", "--scheme", "chats.yaml", "-o", "talks")
    assert told.code == 0, told.err
    listed = hipo("show", "talks", "--format", "json").data
    assert Counter(one["language"] for one in listed) == {"en": 8, "de": 4}
    assert len({one["scenario"] for one in listed}) == 2
    read = hipo("show", "talks", "T07")
    assert read.code == 0, read.err
    assert "source T07" in read.out
    assert "client 7 says 0." in read.out
    assert "no dialogue 'T0'" in hipo("show", "talks", "T0").err


def test_gold_labels_of_one_dimension_make_no_others_an_experts(talks: Hipo) -> None:
    assert talks(*["export", "talks", "--any", "--to", "benchmark", "-o", "set"]).code == 0
    [row, *_] = [row for row in rows_in("set", "test") if row["labelled_by"] == "expert"]
    assert row["sources"] == {"act": "expert", "tone": "people", "feelings": "people"}
    asked = ["--task", "task.yaml", "--model", "offline/random", "-q", "-o"]
    assert talks("evaluate", "set", *asked, "of-set").code == 0
    assert talks("evaluate", "talks", "--any", *asked, "of-run").code == 0
    for folder in ("of-set", "of-run"):
        scores = json.loads(Path(folder, "scores.json").read_text())["scores"]
        counts = {(one["reference"], one["dimension"]): one["items"] for one in scores}
        # Of 24 turns 6 have a gold act, and 4 acts on which all three are split.
        assert counts == {("adjudicated", "act"): 6, ("people", "act"): 14, ("people", "tone"): 24}


def test_items_are_drawn_over_a_dimension_of_which_some_have_no_label(talks: Hipo) -> None:
    asked = [
        "evaluate",
        "talks",
        "--any",
        "--task",
        "task.yaml",
        "--model",
        "offline/random",
        "--no-page",
        "-o",
    ]
    plain = talks(*asked, "plain", "-n", "6")
    assert plain.code == 0, plain.err
    record = json.loads(Path("plain/evaluation.json").read_text())
    assert record["set"]["drawn"]["dimension"] == "tone"
    drawn = talks(*asked, "drawn", "-n", "9", "--balance", "act")
    assert drawn.code == 0, drawn.err
    assert "drawn evenly over act, of which 4 of 24 items have no label" in drawn.err
    shares = json.loads(Path("drawn/evaluation.json").read_text())["set"]["drawn"]["shares"]
    assert shares == {"Advice": 0.4, "Question": 0.6}
    right = [
        row["references"].get("adjudicated", {}).get("act") or row["references"]["people"]["act"]
        for row in map(json.loads, Path("drawn/results.jsonl").read_text().splitlines())
    ]
    assert Counter(right) in ({"Advice": 4, "Question": 5}, {"Advice": 5, "Question": 4})


def test_nobody_is_compared_with_their_own_answers(talks: Hipo) -> None:
    told = talks("agreement", "talks", "--of", "human:Ada", "--with", "human", "--json", "-")
    pairs = {
        (pair["reader"], pair["other"])
        for some in told.data["pairs"]
        for pair in some["comparisons"]
    }
    assert pairs == {("Ada", "Bo"), ("Ada", "Cy")}


def test_a_note_on_figures_names_the_dimension_that_it_is_about(hipo: Hipo) -> None:
    table = written_talks(Path())
    table.write_bytes(table.read_bytes().replace(b";Frage;", b";;", 1))
    assert hipo("import", "talks.csv", "--map", "map.yaml", "-o", "talks").code == 0
    told = hipo("agreement", "talks", "--resamples", "50")
    assert "\nact: Fleiss and Randolph kappa take equally many answers" in told.out


def test_what_import_does_not_show_is_where_it_says(talks: Hipo) -> None:
    told = talks("import", "talks.csv", "--map", "map.yaml", "-o", "again")
    assert "every line with harmonised is in --format json" in told.out
    alike = [line for line in told.out.splitlines() if "'act_Ada': 'Frage'" in line]
    assert len(alike) == 1
    assert " lines: 2, " in alike[0]
    assert alike[0].endswith(", ...)")
    read = talks("import", "talks.csv", "--map", "map.yaml", "-o", "once_more", "--format", "json")
    assert len(read.data["oddities"]) > 12


def test_the_report_does_not_call_judged_talks_unverified(talks: Hipo) -> None:
    assert talks("verify", "talks", "--judge", "offline/judge", "-q").code == 0
    assert talks("report", "talks", "-o", "report.html").code == 0
    page = Path("report.html").read_text("utf-8")
    assert "not verified yet" not in page
    assert "no declared label was judged" in page


def test_the_consent_of_imported_talks_does_not_say_that_a_program_wrote_them(talks: Hipo) -> None:
    options = ReviewOptions(everything=True)
    service = open_review(Path("talks"), options, lambda _: Access(), lambda *_: None)
    said = " ".join(line for block in service.consent.blocks for line in block.lines)
    service.store.close()
    assert "were not written here" in said
    assert "program" not in said


def test_a_sheet_with_several_labels_in_a_cell_is_told_what_separates_them(hipo: Hipo) -> None:
    written_talks(Path(), 2)
    scheme = Path("chats.yaml")
    scheme.write_text(scheme.read_text().replace("measurement: nominal", "measurement: multi"))
    assert hipo("import", "talks.csv", "--map", "map.yaml", "-o", "talks").code == 0
    exported = ("review", "export", "talks", "--to", "csv", "--blank", "--all", "-o", "sheet.csv")
    assert hipo(*exported).code == 0
    with Path("sheet.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    with Path("filled.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(
            {**row, "annotator": "Di", "act": "Question, Advice", "tone": "rude"} for row in rows
        )
    told = hipo("review", "import", "talks", "filled.csv")
    assert told.code == 2
    assert "expected labels of 'act', with | between several" in told.err
