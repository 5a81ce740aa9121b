"""The family ``persuasion``, offline and whole: dialogues, judges, three people, questions, figures."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from hipo.app.runs.run import open_run
from hipo.cli.main import run as hipo
from scenarios.errors import UsageError
from scenarios.fingerprint import seed_from
from scenarios.lines.library import FOLDER
from scenarios.schemes.registry import load_scheme
from scenarios.yaml_source import read_yaml
from tests.outputs.corpora import rows_in
from tests.quality.review.serving import Served, served
from tests.quality.review.visitor import Visitor, csrf_of

SCENARIOS = ("blood_drive",)
SCHEME = load_scheme("face_acts")
Labels = dict[str, str]


def authored(scenario: str) -> dict[str, Labels]:
    """Return the labels of every authored line by its words."""
    found: dict[str, Labels] = {}
    flow: Any = read_yaml(FOLDER / "stage" / f"{scenario}.yaml").data
    for roles in flow["flow"].values():
        for moments in roles.values():
            for moment in moments:
                for line in moment if isinstance(moment, list) else [moment]:
                    found[line["text"]] = line["labels"]
    return found


def slip(right: Labels, role: str, *chance: object) -> Labels:
    """Return labels as a careful person gives them, who takes another intention now and then."""
    if "intention" not in right or seed_from(*chance) % 8:
        return right
    choices = SCHEME.dimension("intention").choices(role, {"face_act": right["face_act"]})
    return {**right, "intention": choices[seed_from(*chance, 2) % len(choices)].id}


def review(site: Served, name: str, run: Path) -> None:
    """Label every dialogue over HTTP as one person does."""
    said = {f"{d.case.id}/{d.arm}": d for d in open_run(run).dialogues(traces=False)}
    lines = {name: authored(name) for name in SCENARIOS}
    visitor = Visitor(site.url)
    path = visitor.come_in(site.link(), name)
    while path.startswith("/item/"):
        number = int(path.rpartition("/")[2])
        held = (
            site.service.store.assignment(site.service.study, number, who) for who in range(1, 7)
        )
        dialogue = said[next(one.item.id for one in held if one)]
        fields = {"stage": "labels", "d.outcome": "agreed"}
        for turn in dialogue.turns:
            labels = lines[dialogue.case.scenario][turn.text]
            for dimension, value in slip(labels, turn.role, name, turn.text).items():
                fields[f"t{turn.index}.{dimension}"] = value
        _, page = visitor.get(path)
        sent = visitor.submit(path, urlencode({"csrf": csrf_of(page.text), **fields}))
        assert sent.status == 303, sent.text
        path, page = visitor.get(sent.location)
        if 'value="opinion"' in page.text:
            sent = visitor.submit(
                path, urlencode({"csrf": csrf_of(page.text), "stage": "opinion", "issue": "no"})
            )
            path, _ = visitor.get(sent.location)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which the whole way was gone once."""
    place = tmp_path_factory.mktemp("persuasion")
    run = place / "run"
    assert hipo(["generate", "--scheme", "face_acts", "--scenarios", ",".join(SCENARIOS), "--model", "offline/rules",
                 "-o", str(run)]) == 0  # fmt: skip
    assert hipo(["verify", str(run), "--judge", "offline/judge"]) == 0
    with served(run, mode="review", everything=True, per_item=3) as site:
        for name in ("Ada", "Bea", "Cem"):
            review(site, name, run)
    assert hipo(["evaluate", str(questions(run, place / "mcq")), "--task", "face-acts-intention",
                 "--model", "offline/judge", "-o", str(place / "answers")]) == 0  # fmt: skip
    return place


def questions(run: Path, folder: Path) -> Path:
    assert hipo(["export", str(run), "--to", "intention-mcq", "--any", "--splits", "0,0,100",
                 "-o", str(folder)]) == 0  # fmt: skip
    return folder


def figures(capsys: pytest.CaptureFixture[str], source: Path) -> dict[str, Any]:
    capsys.readouterr()
    assert hipo(["metrics", "intention", str(source), "--json", "-"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_the_dialogue_is_long_and_both_sides_are_labelled(folder: Path) -> None:
    for dialogue in open_run(folder / "run").dialogues(traces=False):
        assert len(dialogue.turns) >= 40
        assert all(one.role != other.role for one, other in pairwise(dialogue.turns))
        assert {turn.role for turn in dialogue.turns} == {"persuader", "persuadee"}
        assert all(turn.tactic for turn in dialogue.turns)


def test_questions_are_about_what_two_of_three_people_agree_on(folder: Path) -> None:
    questions = rows_in(folder / "mcq")
    lines = {name: authored(name) for name in SCENARIOS}
    assert {question["labelled_by"] for question in questions} == {"human"}
    assert len({question["id"] for question in questions}) == len(questions) > 30
    for question in questions:
        right = question["options"][question["answer"]]
        assert "{" not in "".join(question["options"])
        assert right.startswith(f"The {question['role']} ")
        known = lines[question["scenario"]].get(question["utterance"])
        if known is not None:
            assert question["face_act"] == known["face_act"]


def test_the_figures_of_the_run_and_of_the_answers_are_about_the_same_questions(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, answers = figures(capsys, folder / "run"), figures(capsys, folder / "answers")
    assert run["statistics"]["annotators"] == 3
    assert 0.5 < run["statistics"]["mean_alpha"] < 1
    assert run["questions"] == answers["questions"] == len(rows_in(folder / "mcq"))
    assert not any(run["rules"].values())
    assert not any(answers["rules"].values())
    assert [share["references"] for share in run["right"]] == pytest.approx(
        [share["references"] for share in answers["right"]]
    )
    (judge,) = answers["answerers"]
    (whole,) = [c for c in judge["accuracy"] if not c["role"] and not c["face_act"]]
    assert whole["questions"] == answers["questions"]


def test_the_report_has_the_face_acts_and_intentions_of_the_run(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hipo(["report", str(folder / "run"), "--no-embeddings"]) == 0
    page = (folder / "run" / "report.html").read_text()
    section = page[page.index("Face acts and intentions") :]
    run = figures(capsys, folder / "run")
    (whole,) = (row for row in run["statistics"]["rows"] if not row["role"] and not row["face_act"])
    for shown in (f"{whole['labelled']} (", f">{whole['runs']}<", "by 3 people"):
        assert shown in section
    assert "Disagreement of people" in page


def test_people_of_a_quiz_have_the_table_of_models_by_face_act(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    shutil.copytree(folder / "run", run)
    with served(run, mode="quiz", name="quiz", everything=True, per_item=3) as site:
        for name in ("Dan", "Eve", "Fay"):
            review(site, name, run)
    capsys.readouterr()
    command = ["evaluate", "people", str(folder / "answers"), str(run), "--study", "quiz"]
    assert hipo([*command, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    tables = {one["who"]: one["accuracy"] for one in found["by_face_act"]}
    scores = {one["model"]: one["accuracy"]["value"] for one in found["scores"]}
    assert tables.keys() == scores.keys() >= {"offline/judge", "people", "people (majority)"}
    for who, cells in tables.items():
        by_place = {(cell["role"], cell["face_act"]): cell for cell in cells}
        assert by_place["", ""]["accuracy"] == pytest.approx(scores[who])
        parts = [cell for (role, act), cell in by_place.items() if role and act]
        assert sum(cell["right"] for cell in parts) == by_place["", ""]["right"]
    (two,) = found["chosen_by_two"]
    assert (two["first"], two["second"]) == ("offline/judge", "people (majority)")
    assert sum(pair["questions"] for pair in two["choices"]) == two["questions"]
    of_most = [one for one in found["choices"] if one["who"] == "people (majority)"]
    assert sum(one["answers"] for one in of_most) == two["questions"]
    assert hipo(command) == 0
    text = capsys.readouterr().out
    assert "people (majority): accuracy by face act and speaker" in text
    assert "offline/judge and people (majority) chose the same in" in text
    assert rows_in(questions(run, tmp_path / "mcq")) == rows_in(folder / "mcq"), "they are no gold"
    assert figures(capsys, run)["questions"] == len(rows_in(folder / "mcq"))


def test_a_quiz_that_finds_nothing_accepted_says_how_to_ask_about_the_rest(
    folder: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    shutil.copytree(folder / "run", run)
    with closing(sqlite3.connect(run / "run.sqlite")) as connection, connection:
        connection.execute("update decisions set verdict = 'discarded'")
    with (
        pytest.raises(UsageError, match=r"no dialogue in .* is accepted") as caught,
        served(run, mode="quiz", name="quiz"),
    ):
        pytest.fail("there is nothing to ask about")
    assert caught.value.hint == "--all asks about every dialogue"
