"""Questions with options in other people's tables: read by row, and what is odd is said."""

from __future__ import annotations

import json

import pytest

from quality.tables.checking import read_files

ROW = {
    "conversation_id": 1, "speaker": "EE", "utterance": "No.", "true_face": "sneg+",
    "description": "EE refuses it.", "option_a": "EE shows willingness.",
    "option_b": "EE refuses it.", "option_c": "EE appreciates it.", "option_d": "EE apologizes.",
    "answer_idx": 1, "answer_char": "B",
}  # fmt: skip
NONE = dict.fromkeys(("option_a", "option_b", "option_c", "option_d", "description"), "-")


@pytest.fixture
def table(tmp_path):
    def write(*rows):
        file = tmp_path / "rows.jsonl"
        file.write_text("\n".join(json.dumps(ROW | row) for row in rows))
        return read_files([file], "face_acts")

    return write


def test_a_row_puts_a_question_and_a_row_without_one_puts_none(table):
    found = table({}, NONE | {"answer_idx": -1, "answer_char": "Z"})
    (question,) = found.table.questions
    assert question.labels == (
        "is_willing", "refuses_flatly", "praises_persuader", "apologises_for_little",
    )  # fmt: skip
    assert (question.turn, question.right, question.place.line) == (0, 1, 1)
    assert found.oddities == ()


@pytest.mark.parametrize(
    ("change", "code", "right"),
    [
        ({"answer_char": "C"}, "right_option", 1),
        ({"answer_idx": "7"}, "right_option", 1),
        ({"answer_idx": 9, "answer_char": "Q"}, "no_such_option", None),
        ({"option_c": ""}, "no_option", None),
        ({"answer_idx": -1, "answer_char": "Z"}, "no_right_option", None),
        ({"answer_idx": 1.0, "answer_char": "b"}, None, 1),
    ],
)
def test_what_is_odd_about_a_question_is_said_and_nothing_is_lost(table, change, code, right):
    found = table(change, {})
    codes = [odd.code for odd in found.oddities]
    assert codes == ([code] if code else [])
    assert [q.right for q in found.table.questions] == ([] if right is None else [right]) + [1]


def test_who_chose_what_is_read_by_number_letter_or_text(table):
    chosen = [{"chosen_x": value} for value in ("D", 3, "EE apologizes.", "none of these", "")]
    found = table(*chosen)
    assert [dict(question.chosen) for question in found.table.questions] == [
        {"x": 3}, {"x": 3}, {"x": 3}, {"x": None}, {},
    ]  # fmt: skip


def test_a_file_without_options_is_read_with_a_note(tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps({k: v for k, v in ROW.items() if not k.startswith("option")}))
    found = read_files([file], "face_acts")
    assert found.table.questions == ()
    assert {odd.code for odd in found.oddities} == {"missing_column"}
