"""A scheme and a scenario of a stranger, three roles and no goal, go all the way with YAML alone."""

from __future__ import annotations

import csv
import io
import json
import re
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

import orjson
import pytest

from hipo.cli.main import run as hipo
from outputs.evaluation_items.runs import load_run
from tests.quality.review.serving import served
from tests.quality.review.visitor import Visitor, csrf_of
from tests.sixth_scheme.material import SCENARIO_FILE, SCHEME_FILE

DIALOGUES = 3
FACTS = ("surveyor", "Leipzig")
ANSWERS = {
    "Ada": {"move": "refuse", "ground": "a loss", "yielding": "none", "settled": "open"},
    "Ben": {"move": "refuse", "ground": "a rule", "yielding": "some", "settled": "open"},
    "Cyn": {"move": "tell", "ground": "a rule", "yielding": "some", "settled": "settled"},
}
"""What three simulated annotators say of every turn; the third sends a ground that nobody asked for,
as a page without script does."""


@pytest.fixture(scope="module")
def verified(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("sixth") / "run"
    arguments = ["generate", "--scheme", str(SCHEME_FILE), "-n", str(DIALOGUES), "-q"]
    arguments += ["--scenario-dir", str(SCENARIO_FILE.parent), "--scenarios", "pear_tree"]
    assert hipo([*arguments, "--model", "offline/rules", "-o", str(folder)]) == 0
    assert hipo(["verify", str(folder), "--judge", "offline/judge", "--no-self"]) == 0
    return folder


@pytest.fixture(scope="module")
def reviewed(verified: Path) -> Path:
    with served(verified, everything=True) as site:
        for name in ANSWERS:
            visitor = Visitor(site.url)
            path = visitor.come_in(site.link(), name)
            while path.startswith("/item/"):
                assert label(visitor, path, name).status == 303
                path, page = visitor.get(path)
                fields = {"csrf": csrf_of(page.text), "stage": "opinion", "issue": "no"}
                assert visitor.submit(path, urlencode(fields)).status == 303
                path, _ = visitor.get("/next")
    return verified


def label(visitor: Visitor, path: str, name: str):
    """Answer every question of a page that has the answer on offer."""
    _, page = visitor.get(path)
    words = re.sub(r"<[^>]+>", "", page.text)
    assert "Only the owner of the tree knows" in words
    assert "Only the tenant next door knows" in words
    fields = {"csrf": csrf_of(page.text), "stage": "labels"}
    offered = re.findall(r'type="radio" name="([^"]+)" value="([^"]*)"', page.text)
    on_offer = {(unescape(field), unescape(value)) for field, value in offered}
    for field in dict.fromkeys(field for field, _ in on_offer):
        wanted = {**ANSWERS[name], "warmth": "3.0"}[field.partition(".")[2]]
        if (field, wanted) in on_offer:
            fields[field] = wanted
    return visitor.submit(path, urlencode(fields))


def test_three_annotators_label_turns_of_every_role_over_http(reviewed: Path, tmp_path: Path):
    assert hipo(["review", "export", str(reviewed), "--to", "csv", "-o", str(tmp_path)]) == 0
    text = (tmp_path / "answers.csv").read_text(encoding="utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text)))
    by_turn = {}
    for row in rows:
        turn = row["item"].partition("#")[2]
        by_turn.setdefault(turn, []).append(row)
    assert {len(found) for found in by_turn.values()} == {3 * DIALOGUES}
    assert {row["yielding"] for row in by_turn["5"]} == {""}, "the mediator is not asked"
    assert sorted({row["yielding"] for row in by_turn["2"]}) == ["none", "some"]
    grounds = {(row["move"], row["ground"]) for row in by_turn["1"]}
    assert grounds == {("refuse", "a loss"), ("refuse", "a rule"), ("tell", "")}
    assert {row["settled"] for row in by_turn[""]} == {"open", "settled"}
    assert hipo(["review", "agreement", str(reviewed)]) == 0


@pytest.mark.parametrize("tool", ["label-studio", "argilla", "pdf"])
def test_what_people_answer_elsewhere_is_asked_there_too(reviewed, tmp_path, tool):
    target = tmp_path / tool
    assert hipo(["review", "export", str(reviewed), "--to", tool, "-o", str(target)]) == 0


def exported(run: Path, folder: Path, *options: str) -> list[dict[str, object]]:
    arguments = ["export", str(run), "--any", "--splits", "100,0,0", "--no-parquet", "-q"]
    assert hipo([*arguments, "-o", str(folder), *options]) == 0
    files = sorted(folder.rglob("*.jsonl"))
    return [orjson.loads(line) for file in files for line in file.read_bytes().splitlines()]


def test_benchmark_items_say_whose_words_they_are_and_tell_no_model_what_is_private(
    verified, tmp_path
):
    rows = exported(verified, tmp_path / "set", "--to", "benchmark")
    assert {row["role"] for row in rows} == {"mediator", "owner", "tenant"}
    assert {row["aspect"] for row in rows} == {"utterance", "cumulative"}
    assert {row["label_ground"] for row in rows if row["role"] == "mediator"} == {None}
    prompts = [row[name] for row in rows for name in ("messages", "messages_cot")]
    written = json.dumps(prompts)
    assert not [fact for fact in FACTS if fact in written]
    assert "RESPONDER" not in written
    card = (tmp_path / "set" / "README.md").read_text()
    assert "plays the initiator" not in card


def test_a_set_and_its_run_hold_the_same_items(verified, tmp_path):
    rows = exported(verified, tmp_path / "set", "--to", "benchmark", "--mode", "none")
    items = load_run(verified, verdict="any").items
    assert {row["id"] for row in rows} == {item.id for item in items}
    assert all({fact.owner for fact in item.asked.facts} == {"owner", "tenant"} for item in items)


@pytest.mark.parametrize("task", ["label", "actor"])
def test_rows_to_learn_from_are_made_for_every_labelled_role(verified, tmp_path, task):
    target = () if task == "label" else ("--target", "json")
    rows = exported(verified, tmp_path / "sft", "--to", "sft", "--task", task, *target)
    answers = [json.loads(row["completion"][-1]["content"]) for row in rows]
    assert len(rows) == 7 * DIALOGUES * (2 if task == "label" else 1)
    assert {one["move"] for one in answers} <= {"offer", "demand", "refuse", "tell", "direct"}
    if task == "label":
        # Who is not asked has no key for it; where it is not asked beside the move, it is null.
        asked = [one for one in answers if "ground" in one]
        assert 0 < len(asked) < len(answers)
        unconditional = [one for one in asked if one["move"] in ("offer", "tell")]
        assert all(one["ground"] is None for one in unconditional)


def test_models_are_evaluated_on_the_set_and_the_run_is_reported(verified, tmp_path):
    folder = tmp_path / "set"
    exported(verified, folder, "--to", "benchmark")
    arguments = ["evaluate", str(folder), "--scheme", str(SCHEME_FILE), "-q"]
    arguments += ["--model", "offline/reader", "--task", "hipo-utterance"]
    arguments += ["--task", "hipo-oracle", "-o", str(tmp_path / "evaluation")]
    assert hipo(arguments) == 0
    results = (tmp_path / "evaluation" / "results.jsonl").read_bytes().splitlines()
    labels = [orjson.loads(line)["labels"] for line in results]
    assert {name for one in labels for name in one} == {"move", "ground"}
    page = tmp_path / "report.html"
    assert hipo(["report", str(verified), "-o", str(page), "--no-embeddings", "-q"]) == 0
    text = page.read_text()
    for told in ("Move", "Ground", "owner of the tree: ", "tenant next door: "):
        assert told in text
