from quality.disagreement.references import LabelDifference, against_reference, against_released
from tests.quality.disagreement.tables import FEELING, said

ANSWERS = said({"one": "sad glad sad", "two": "cross cross -", "three": "glad sad sad"})


def test_everybody_comes_first_then_each_annotator():
    rows = against_reference(FEELING, ANSWERS, {"one": "sad", "two": "cross"})
    assert [(row.annotator, row.items, row.same) for row in rows] == [
        ("", 5, 4), ("Ada", 2, 2), ("Ben", 2, 1), ("Cy", 1, 1),
    ]  # fmt: skip
    assert rows[2].differing == (LabelDifference("one", "Ben", "glad", "sad"),)
    assert rows[2].share == 0.5


def test_without_a_shared_item_there_is_no_share():
    (row,) = against_reference(FEELING, ANSWERS, {})
    assert row.share is None


def test_groups_have_rows_of_their_own():
    rows = against_reference(FEELING, ANSWERS, {"one": "sad", "two": "sad"}, groups={"two": "b"})
    assert [(row.group, row.annotator, row.same) for row in rows if row.group] == [
        ("b", "", 0), ("b", "Ada", 0), ("b", "Ben", 0),
    ]  # fmt: skip


def test_a_raw_export_is_held_against_what_was_released_under_the_same_name():
    released = said({"one": "sad sad sad", "two": "cross cross cross"})
    rows = {row.annotator: row for row in against_released(FEELING, ANSWERS, released)}
    assert rows["Ben"].differing == (LabelDifference("one", "Ben", "glad", "sad"),)
    assert (rows["Ada"].items, rows["Cy"].items, rows[""].items) == (2, 1, 5)
