"""Somebody's own conversations, from a table or JSON lines to held-out sets and figures."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from pathlib import Path

import pytest

from hipo.app.evaluation.tuned import TuningQuestion
from hipo.app.review.reviewing import ReviewOptions, open_review
from outputs.training.training_set import read_training_set
from quality.web.access import Access
from scenarios.errors import UsageError
from tests.hipo.cli.conftest import Hipo
from tests.hipo.cli.own_talks import SCHEME, rows_in, written_lines, written_talks


@pytest.fixture
def talks(hipo: Hipo) -> Hipo:
    """Run commands beside an imported run of twelve talks."""
    written_talks(Path())
    told = hipo("import", "talks.csv", "--map", "map.yaml", "-o", "talks")
    assert told.code == 0, told.err
    return hipo


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


@pytest.mark.parametrize("about", [{}, {"scenario": "used_car", "fact": "guardrail"}])
def test_languages_are_spread_where_dialogues_are_divided_one_by_one(
    hipo: Hipo, about: dict[str, str]
) -> None:
    languages = ["en"] * 12 + ["de"] * 8 + ["fr"] * 4
    lines = [
        {
            "messages": [
                {"role": "user", "content": f"Was anything wrong with {number}?"},
                {"role": "assistant", "content": f"Ask {number * 37} others {number} times."},
            ],
            "language": language,
            **(about or {"background": "A market.", "fact": "The scales are bent."}),
        }
        for number, language in enumerate(languages)
    ]
    Path("lines.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    assert hipo("import", "lines.jsonl", "-o", "talks").code == 0
    for seed in range(4):
        asked = ("--splits", "50,25,25", "--split-by", "dialogue", "--seed", str(seed))
        assert hipo("export", "talks", "--any", *asked, "-o", f"set-{seed}").code == 0
        spoken = {
            split: Counter(str(row["language"]) for row in rows_in(f"set-{seed}", split))
            for split in ("train", "validation", "test")
        }
        assert spoken["train"] == {"en": 6, "de": 4, "fr": 2}
        assert spoken["validation"] == spoken["test"] == {"en": 3, "de": 2, "fr": 1}


def test_tags_are_spread_where_each_situation_has_one(hipo: Hipo) -> None:
    table = written_talks(Path())
    head, *lines = table.read_text("utf-8-sig").splitlines()
    told = [
        f"{line};Talk {place // 2} is held.;{'above' if place < 8 else 'peer'}"
        for place, line in enumerate(lines)
    ]
    table.write_text("\n".join([f"{head};scene;power", *told]) + "\n", encoding="utf-8")
    how = Path("map.yaml")
    context = "context: {situation: scene, tag: power, language: lang}"
    how.write_text(re.sub("context: .*", context, how.read_text("utf-8")))
    assert hipo("import", "talks.csv", "--map", "map.yaml", "-o", "talks").code == 0
    for seed in range(4):
        asked = ("--splits", "50,25,25", "--to", "benchmark", "--seed", str(seed))
        assert hipo("export", "talks", "--any", *asked, "-o", f"set-{seed}").code == 0
        tags = {
            split: Counter(
                {row["case"]: str(row["tags"]) for row in rows_in(f"set-{seed}", split)}.values()
            )
            for split in ("train", "validation", "test")
        }
        assert tags["train"] == {"['above']": 2, "['peer']": 4}
        assert tags["validation"] == tags["test"] == {"['above']": 1, "['peer']": 2}


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
