"""An exported folder as training rows, whatever format of messages it holds; anything else is told."""

from __future__ import annotations

import json

import pytest

from outputs.training.training_set import read_training_set, training_row
from scenarios.errors import UsageError
from tests.outputs.corpora import exported, rows_in

ASKED = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "where?"}]


def said(text):
    return {"role": "assistant", "content": text}


@pytest.mark.parametrize(
    "row",
    [
        {"messages": [*ASKED, said("here")]},
        {"prompt": ASKED, "completion": [said("here")]},
        {"prompt": ASKED, "chosen": [said("here")], "rejected": [said("no")]},
        {"messages": ASKED, "chosen": said("here"), "rejected": said("no")},
    ],
)
def test_every_form_of_messages_is_a_prompt_with_an_answer(row):
    found = training_row(row, "sft", "row 1")
    assert (found.prompt, found.answers) == (ASKED, ("here",))
    assert found.conversation() == [*ASKED, said("here")]


def test_a_pair_has_the_better_answer_first():
    row = {"messages": ASKED, "chosen": said("here"), "rejected": said("no")}
    assert training_row(row, "dpo", "row 1").answers == ("here", "no")


def test_a_chat_of_several_turns_is_cut_before_its_last():
    chat = [*ASKED, said("here"), {"role": "user", "content": "sure?"}, said("yes")]
    found = training_row({"messages": chat}, "sft", "row 1")
    assert found.prompt == chat[:-1]
    assert found.answers == ("yes",)


@pytest.mark.parametrize(
    ("row", "kind", "message"),
    [
        (
            {"instruction": "x", "output": "y"},
            "sft",
            "holds no messages, found instruction, output",
        ),
        ({"messages": ASKED}, "sft", "is not one message of an assistant"),
        ({"messages": [*ASKED, said("  ")]}, "sft", "is not one message of an assistant"),
        ({"messages": [said("here")]}, "sft", "its prompt is no list of messages"),
        ({"prompt": "where?", "completion": [said("x")]}, "sft", "its prompt is no list"),
        ({"prompt": [{"role": "user"}], "completion": [said("x")]}, "sft", "its prompt is no"),
        ({"messages": [*ASKED, said("here")]}, "dpo", "preferences need a better and a worse"),
    ],
)
def test_a_row_of_another_form_is_named(row, kind, message):
    with pytest.raises(UsageError, match=message) as caught:
        training_row(row, kind, "train.jsonl: row 7")
    assert caught.value.message.startswith("train.jsonl: row 7: ")


@pytest.mark.parametrize(
    ("name", "kind", "task"),
    [("label", "sft", "label"), ("actor", "sft", "actor"), ("dpo", "dpo", "preference")],
)
def test_the_manifest_says_how_a_set_is_trained_on(sets, name, kind, task):
    found = read_training_set(sets / name)
    assert (found.kind, found.task, found.scheme) == (kind, task, "hipo@2")
    assert found.includes_deception == (name != "label")
    assert [row.id for row in found.rows("train")] == [
        row["id"] for row in rows_in(sets / name, "train")
    ]
    assert len(found.scenarios_learnt) == 1  # of three: one each in validation and test


def test_the_better_answers_of_pairs_can_be_learnt_alone(sets):
    rows = list(read_training_set(sets / "dpo", "sft").rows("train"))
    assert rows
    assert all(len(row.answers) == 1 for row in rows)


def test_a_set_for_evaluation_is_refused(sets):
    with pytest.raises(UsageError, match="exported --to benchmark, which is for evaluation"):
        read_training_set(sets / "benchmark")


def test_a_folder_that_is_no_export_is_refused(tmp_path):
    with pytest.raises(UsageError, match="is not an exported data set"):
        read_training_set(tmp_path)
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(UsageError, match="is no JSON"):
        read_training_set(tmp_path)
    (tmp_path / "manifest.json").write_text('{"task": "sft"}')
    with pytest.raises(UsageError, match="scheme: found nothing, expected a value"):
        read_training_set(tmp_path)


def test_a_set_without_a_training_split_is_refused(sets, tmp_path):
    exported(tmp_path / "held", sets / "run", "sft", fractions=(0.0, 0.0, 1.0), parquet=False)
    with pytest.raises(UsageError, match="has no training split"):
        read_training_set(tmp_path / "held")


def test_rows_that_were_changed_after_the_export_are_refused(sets, tmp_path):
    exported(tmp_path / "set", sets / "run", "sft", parquet=False)
    file = tmp_path / "set" / "jsonl" / "cumulative" / "train.jsonl"
    found = read_training_set(tmp_path / "set")
    found.check("train")
    lines = file.read_text().splitlines()
    lines[0] = json.dumps(json.loads(lines[0]) | {"goal": "another"})
    file.write_text("\n".join(lines))
    with pytest.raises(UsageError, match="was changed since"):
        found.check("train")
    file.unlink()
    with pytest.raises(UsageError, match="and not there"):
        found.check("train")


def test_a_format_for_another_trainer_is_refused_with_the_one_to_take(sets, tmp_path):
    exported(tmp_path / "alpaca", sets / "run", "sft", format="alpaca", parquet=False)
    with pytest.raises(UsageError, match="holds no messages") as caught:
        list(read_training_set(tmp_path / "alpaca").rows("train"))
    assert "--format messages, prompt-completion or axolotl" in caught.value.hint
