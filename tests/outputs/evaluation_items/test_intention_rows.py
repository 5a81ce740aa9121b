"""Questions about intentions as rows of a file: read as items with the options of the row."""

from __future__ import annotations

import json

import pytest

from outputs.evaluation_items.sets import load_set
from prompts.environment import Templates
from prompts.tasks.prompts import TaskPrompts
from prompts.tasks.registry import load_task
from scenarios.errors import InputError, UsageError

ROW = {
    "id": "c/a/2-3", "case": "c", "arm": "a", "scenario": "rescue_boat", "language": "en",
    "turn": 2, "last_turn": 3, "situation": "In a shed.", "role": "persuadee",
    "people": [{"role": "persuader", "content": "coxswain\nSigne."},
               {"role": "persuadee", "content": "ferryman\nHenning."}],
    "context": [{"role": "persuadee", "content": "Move the cat."},
                {"role": "persuader", "content": "Lend us the boat."}],
    "utterance": "No. Never.", "face_act": "sneg+", "label_intention": "refuses_flatly",
    "options": ["Is glad.", "Says no.", "Says sorry.", "Praises."],
    "labels": ["is_willing", "refuses_flatly", "apologises_for_little", "praises_persuader"],
    "answer": 1, "labelled_by": "human",
}  # fmt: skip


@pytest.fixture
def written(tmp_path):
    def write(**changes):
        file = tmp_path / "test.jsonl"
        file.write_text(json.dumps(ROW | changes) + "\n")
        return file

    return write


def test_the_options_of_the_row_are_asked_and_an_answer_is_read_by_letter(written):
    items = load_set(written(), scheme="face_acts")
    task = load_task("face-acts-intention", items.scheme)
    (item,) = items.for_task(task)
    assert item.references == {"people": {"intention": "refuses_flatly", "face_act": "sneg+"}}
    prompts = TaskPrompts(Templates(), items.scheme, task)
    (explained,) = prompts.explain(item.asked)
    (asked,) = prompts.questions(item.asked, explained=["It refuses."])
    user = asked.question.messages[1].content
    for letter, text in zip("ABCD", ROW["options"], strict=True):
        assert f"{letter}. {text}" in user
    assert asked.options["intention"] == tuple(ROW["labels"])
    assert asked.found('{"intention": "B"}')[0].value == "refuses_flatly"
    assert "PERSUADER: Lend us the boat." in explained.question.messages[1].content


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"answer": 4}, "labels"),
        ({"labels": ["is_willing", "no_such", "hesitates", "doubts_them"]}, "no_such"),
        ({"utterance": ""}, "utterance"),
    ],
)
def test_a_row_that_is_no_question_is_refused_with_its_line(written, changes, message):
    with pytest.raises(InputError, match=message):
        load_set(written(**changes), scheme="face_acts")


def test_a_scheme_without_intentions_of_its_own_is_refused(written):
    with pytest.raises(UsageError, match="asks about intentions"):
        load_set(written(), scheme="cobra")
