import orjson
import pytest

from quality.evaluation.result_row import (
    RESULTS,
    ResultRow,
    is_right,
    read_results,
    result_row,
)
from scenarios.errors import InputError, UsageError

ROW = ResultRow(
    item="c1/a1/2",
    task="hipo-utterance",
    mode="zero-shot",
    model="offline/judge",
    status="answered",
    reply='{"veracity": "Falsification"}',
    labels={"veracity": "Quality", "intention": None},
    raw={"veracity": "Falsification"},
    faults={"intention": "unknown label"},
    harmonised=("veracity",),
    options={"veracity": ("Quality", "None")},
    references={"declared": {"veracity": "Quality", "intention": "Inform"}},
    right={"declared": {"veracity": True, "intention": False}},
)


def test_a_row_is_read_back_as_it_was_written(tmp_path):
    (tmp_path / RESULTS).write_bytes(ROW.to_line() * 2)
    assert list(read_results(tmp_path)) == [ROW, ROW]
    assert list(read_results(tmp_path / RESULTS)) == [ROW, ROW]


def test_rows_share_what_all_of_them_would_remember_apart(tmp_path):
    (tmp_path / RESULTS).write_bytes(ROW.to_line() * 2)
    one, other = read_results(tmp_path)
    copy = one.model_copy(update={"model": "lab/m"})
    assert one.model_fields_set is other.model_fields_set
    assert not other.model_fields_set
    assert (copy.model, one.model) == ("lab/m", "offline/judge")


def test_columns_of_somebody_elses_are_ignored():
    assert result_row(ROW.to_dict() | {"my_note": 3}) == ROW


def test_a_row_that_lacks_what_it_must_have_is_told_with_file_line_and_field(tmp_path):
    broken = {key: value for key, value in ROW.to_dict().items() if key != "model"}
    file = tmp_path / "mine.jsonl"
    file.write_bytes(ROW.to_line() + orjson.dumps(broken | {"status": "fine"}) + b"\n")
    with pytest.raises(InputError) as told:
        list(read_results(file))
    assert {(p.file, p.line, p.field) for p in told.value.problems} == {
        (str(file), 2, "model"),
        (str(file), 2, "status"),
    }


@pytest.mark.parametrize("line", [b"[1]\n", b'{"item": \n', b"3\n"])
def test_a_line_that_is_no_row_is_named(tmp_path, line):
    file = tmp_path / RESULTS
    file.write_bytes(ROW.to_line() + line + b"\n" + ROW.to_line())
    with pytest.raises(InputError, match=f"{RESULTS}:2"):
        list(read_results(file))


def test_a_folder_without_results_is_a_mistake_of_the_user(tmp_path):
    with pytest.raises(UsageError, match="hipo evaluate"):
        list(read_results(tmp_path))


def test_a_reference_may_rule_one_label_out():
    assert is_right("None", "not Quality")
    assert is_right("Quality", "Quality")
    assert not is_right("Quality", "not Quality")
    assert not is_right(None, "not Quality")
    assert not is_right(None, "None")


def test_rows_hold_what_they_have_in_common_once():
    one, other = (result_row(orjson.loads(ROW.to_line())) for _ in range(2))
    assert one == other == ROW
    for of in (
        lambda row: row.model,
        lambda row: row.labels,
        lambda row: row.options["veracity"],
        lambda row: row.references["declared"],
        lambda row: row.right["declared"],
    ):
        assert of(one) is of(other)
