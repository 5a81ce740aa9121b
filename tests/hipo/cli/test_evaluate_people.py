"""``hipo evaluate people``: the human baseline and models on the very same items."""

from __future__ import annotations

import csv
from pathlib import Path

import orjson
import pytest

from hipo.app.review.reviewing import run_material
from pipeline.store.run_store import RunStore
from quality.evaluation.evaluation_record import (
    EvaluatedModel,
    EvaluatedSet,
    EvaluatedTask,
    EvaluationRecord,
    write_record,
)
from quality.evaluation.result_row import RESULTS, ResultRow
from quality.review.exhibits import target_turns
from tests.hipo.cli.conftest import Hipo
from tests.quality.review.serving import generated_run

VERACITY = ("Quantity", "Quality", "Relevance", "Manner", "None")


@pytest.fixture
def run(hipo: Hipo, tmp_path: Path) -> Path:
    return generated_run(tmp_path / "run", n=6, turns=[1])


def results(run: Path, folder: Path, *, scheme: str | None = None) -> Path:
    """An evaluation in which a model always says Quality."""
    with RunStore.open(run, readonly=True) as store:
        dialogues = list(store.dialogues())
    rows = [
        ResultRow(
            item=f"{dialogue.case.id}/{dialogue.arm}/{turn.index}/utterance",
            task="hipo-utterance",
            mode="zero-shot",
            model="test/liar",
            case=dialogue.case.id,
            arm=dialogue.arm,
            scenario=dialogue.case.scenario,
            turn=turn.index,
            status="answered",
            labels={"veracity": "Quality"},
            options={"veracity": VERACITY},
            references={"declared": {"veracity": label.value}},
            set="f",
        )
        for dialogue in dialogues
        for turn in dialogue.turns
        if turn.index in target_turns(dialogue)
        for label in turn.tactic
        if label.dimension == "veracity"
    ]
    folder.mkdir()
    (folder / RESULTS).write_bytes(b"".join(row.to_line() for row in rows))
    record = EvaluationRecord(
        name="x", code_version="0", seed=1,
        set=EvaluatedSet(
            name="run", kind="run", fingerprint="f", items=len(rows),
            scheme=scheme or run_material(run).scheme.name, labels={"veracity": VERACITY},
        ),
        tasks=(EvaluatedTask(id="hipo-utterance", title="t", mode="zero-shot", dimensions=("veracity",)),),
        models=(EvaluatedModel(name="test/liar"),),
    )  # fmt: skip
    write_record(folder, record)
    return folder


def answer_as_declared(hipo: Hipo, run: Path) -> int:
    """Begin a quiz and let two people answer it: one by the book, one always Manner."""
    assert (
        hipo(
            "review",
            "export",
            str(run),
            "--to",
            "csv",
            "--blank",
            "--mode",
            "quiz",
            "--per-item",
            "2",
            "-o",
            "out",
        ).code
        == 0
    )
    with Path("out/blank.csv").open(encoding="utf-8-sig") as file:
        items = [row["item"] for row in csv.DictReader(file)]
    with RunStore.open(run, readonly=True) as store:
        declared = {
            f"{d.case.id}/{d.arm}#{turn.index}": str(label.value)
            for d in store.dialogues()
            for turn in d.turns
            for label in turn.tactic
            if label.dimension == "veracity"
        }
    offered = [item for item in items if declared.get(item, "None") != "None"]
    lines = ["item,annotator,veracity"]
    lines += [f"{item},Ada,{declared[item]}" for item in offered]
    lines += [f"{item},Bea,Manner" for item in offered]
    Path("in.csv").write_text("\n".join(lines) + "\n")
    result = hipo("review", "import", str(run), "in.csv")
    assert result.code == 0, result.err
    return len(offered)


def test_people_and_models_stand_in_one_table_on_the_same_items(hipo: Hipo, run: Path) -> None:
    items = answer_as_declared(hipo, run)
    folder = results(run, Path("evaluated"))
    found = hipo("evaluate", "people", str(folder), str(run), "--format", "json")
    assert found.code == 0, found.err
    data = orjson.loads(found.out)
    by_model = {score["model"]: score for score in data["scores"]}
    first, second = (f"people/{code}" for code in data["annotators"])
    assert {score["items"] for score in by_model.values()} == {items}
    assert max(by_model[name]["accuracy"]["value"] for name in (first, second)) == 1.0
    mean = (by_model[first]["accuracy"]["value"] + by_model[second]["accuracy"]["value"]) / 2
    assert by_model["people"]["accuracy"]["value"] == pytest.approx(mean)
    assert data["hidden"] == {"veracity": ["None"], "illocutionary": ["Declarations"]}
    of_label = {one["label"]: one for one in data["people_by_label"]}
    manner = next(c["support"] for c in by_model[first]["classes"] if c["label"] == "Manner")
    # One gives every label where it is right, the other Manner throughout.
    for label, one in of_label.items():
        alone = 2 * manner / (items + manner) if label == "Manner" else 0.0
        assert (one["accuracy"], one["annotators"]) == (1.0 if label == "Manner" else 0.5, 2)
        assert one["f1"] == pytest.approx((1 + alone) / 2)
    text = hipo("evaluate", "people", str(folder), str(run)).out
    assert "people by label, means over annotators" in text
    assert "2 annotators of the quiz 'quiz'" in text
    assert "people saw no fact and were not offered None, Declarations" in text
    assert "test/liar" in text
    assert "majority" in text
    assert "difference in accuracy between people and models" in text


def test_what_cannot_stand_in_one_table_is_refused(hipo: Hipo, run: Path) -> None:
    folder = results(run, Path("evaluated"))
    nobody = hipo("evaluate", "people", str(folder), str(run))
    assert (nobody.code, "nobody has reviewed" in nobody.err) == (2, True)
    answer_as_declared(hipo, run)
    other = results(run, Path("other"), scheme="cei@1")
    wrong = hipo("evaluate", "people", str(other), str(run))
    assert (wrong.code, "cei@1" in wrong.err) == (2, True)
    (folder / RESULTS).write_bytes(b"")
    nothing = hipo("evaluate", "people", str(folder), str(run))
    assert (nothing.code, "no model of" in nothing.err) == (2, True)
    missing = hipo("evaluate", "people", "nowhere", str(run))
    assert (missing.code, "holds no evaluation" in missing.err) == (2, True)


def test_a_review_is_no_human_baseline(hipo: Hipo, run: Path) -> None:
    folder = results(run, Path("evaluated"))
    hipo("review", "export", str(run), "--to", "csv", "--blank", "--all", "-o", "out")
    found = hipo("evaluate", "people", str(folder), str(run))
    assert (found.code, "is no quiz" in found.err) == (2, True)


READERS = """id,sd_situation,sd_speaker_role,sd_listener_role,sd_utterance,\
sl_plutchik_primary_Ada,sl_plutchik_primary_Bea,sl_plutchik_primary_Cem,gold_standard
1,The lift is stuck.,guest,porter,Lovely.,anger,anger,joy,anger
2,The soup is cold.,guest,waiter,How kind.,anger,sadness,joy,sadness
3,The train left.,clerk,guest,There is another.,trust,trust,trust,trust
4,It rains.,guest,guide,You promised sun.,sadness,anger,anger,anger
"""


def test_imported_annotators_stand_beside_models_where_there_is_no_quiz(hipo: Hipo) -> None:
    Path("data_sarcasm.csv").write_text(READERS)
    imported = hipo("import", "data_sarcasm.csv", "--map", "cei", "-o", "read")
    assert imported.code == 0, imported.err
    task = (
        "--any",
        "--task",
        "cei-emotion",
        "--model",
        "offline/random",
        "-o",
        "asked",
        "--no-page",
    )
    assert hipo("evaluate", "read", *task).code == 0
    data = orjson.loads(hipo("evaluate", "people", "asked", "read", "--format", "json").out)
    assert (data["study"], data["annotators"]) == ("", ["Ada", "Bea", "Cem"])
    found = {score["model"]: score["accuracy"]["value"] for score in data["scores"]}
    assert found.pop("offline/random") is not None
    assert list(found)[:3] == ["people", "people (majority)", "people/Ada"]
    assert found == {
        "people": pytest.approx((2 + 4 + 2) / 12),
        "people/Ada": 0.5,
        "people/Bea": 1.0,
        "people/Cem": 0.5,
        "people (majority)": 0.75,
    }
    of_people = {
        (c["right"], c["chosen"]): (c["answers"], c["of"])
        for c in data["choices"]
        if c["who"] == "people"
    }
    assert of_people == {
        ("anger", "anger"): (4, 6),
        ("anger", "joy"): (1, 6),
        ("anger", "sadness"): (1, 6),
        ("sadness", "anger"): (1, 3),
        ("sadness", "sadness"): (1, 3),
        ("sadness", "joy"): (1, 3),
        ("trust", "trust"): (3, 3),
    }
    text = hipo("evaluate", "people", "asked", "read").out
    chosen = text.partition("label chosen where another is right (cei-emotion, zero-shot")[2]
    lines = [line.split() for line in chosen.splitlines()]
    assert ["right", "chosen", "people", "people", "(majority)", "offline/random"] in lines
    # Three read the soup in three ways: no label has a majority.
    (split,) = (line for line in lines if line[:3] == ["sadness", "(no", "label)"])
    assert split[3:5] == ["1", "(100.0%)"]
    assert text.startswith("3 annotators whose answers were imported: Ada, Bea, Cem\n\n")
    # Pairs that agree: one of three in the first and the last scene, none and all in the others.
    soft = {one["model"]: one for one in data["soft_labels"]}
    assert soft["people"]["shared"]["value"] == pytest.approx((1 / 3 + 0 + 1 + 1 / 3) / 4)
    assert soft["every label alike"]["shared"]["value"] == pytest.approx(1 / 8)
    assert data["kappa_by_group"] == []  # of one subtype
    assert "answers beside the shares of people, not their majority alone\n" in text
    compared = text.partition("difference in accuracy")[2]
    assert compared.splitlines()[1].split()[:3] == ["task", "mode", "dimension"]
    assert ("people (majority)" in compared, "people/Ada" in compared) == (True, False)
