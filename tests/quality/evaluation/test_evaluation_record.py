"""What an evaluation was of, and its items: written and read again, damage told in one message."""

from __future__ import annotations

import orjson
import pytest

from quality.evaluation.evaluation_record import (
    RECORD,
    EvaluatedModel,
    EvaluatedSet,
    EvaluatedTask,
    EvaluationRecord,
    read_record,
    write_record,
)
from quality.evaluation.shown_items import ITEMS, ShownItem, read_items, write_items
from scenarios.errors import InputError, UsageError

WAYS = EvaluationRecord(
    name="benchmark",
    code_version="1",
    seed=42,
    set=EvaluatedSet(
        name="benchmark",
        kind="benchmark",
        fingerprint="abc",
        items=2,
        scheme="hipo@2",
        labels={"veracity": ("Quantity", "None")},
        titles={"veracity": "Veracity strategy (how)"},
    ),
    tasks=(EvaluatedTask(id="t", title="T", mode="zero-shot", dimensions=("veracity",)),),
    models=(EvaluatedModel(name="a/b", requests=2, cost_usd=0.5),),
)


def test_a_record_is_read_as_it_was_written(tmp_path):
    write_record(tmp_path, WAYS)
    assert read_record(tmp_path) == WAYS
    assert (WAYS.title("veracity"), WAYS.title("how_so")) == ("Veracity strategy", "How so")


def test_columns_of_a_later_version_are_passed_over(tmp_path):
    plain = WAYS.model_dump(mode="json") | {"later": 1}
    (tmp_path / RECORD).write_bytes(orjson.dumps(plain))
    assert read_record(tmp_path) == WAYS


def test_a_folder_without_an_evaluation_is_told_by_name(tmp_path):
    with pytest.raises(UsageError, match=r"holds no evaluation: evaluation.json: No such file"):
        read_record(tmp_path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "evaluation.json.* no JSON"),
        ('{"evaluation": 1}', "name.*a value for this field"),
        ('{"evaluation": 2}', "evaluation: found 2"),
    ],
)
def test_a_damaged_record_is_told_with_what_is_wrong(tmp_path, text, said):
    (tmp_path / RECORD).write_text(text)
    with pytest.raises(InputError, match=said):
        read_record(tmp_path)


def test_items_are_read_as_they_were_written_and_damage_is_told_with_its_line(tmp_path):
    items = [
        ShownItem(item="a", lines=(("Buyer", "Any damage?"), ("Seller", "None.")), target=1),
        ShownItem(item="b", situation="A sale.", lines=(("Buyer", "<b>?</b>"),)),
    ]
    write_items(tmp_path, items)
    assert list(read_items(tmp_path)) == items
    with (tmp_path / ITEMS).open("a") as file:
        file.write("\n[]\n")
    with pytest.raises(InputError, match=r"items\.jsonl:4"):
        list(read_items(tmp_path))
    with pytest.raises(UsageError, match="no such file"):
        list(read_items(tmp_path / "elsewhere"))
