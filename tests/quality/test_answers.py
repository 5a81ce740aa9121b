import pytest
from hypothesis import given
from hypothesis import strategies as st

from quality.annotations import RawAnswer, from_wide, majority, read_value
from scenarios.errors import UsageError
from scenarios.schemes.registry import load_scheme
from tests.quality.stats_tables import dimension

CEI = load_scheme("cei")


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ("very unpleasant", -1.0),
        (" Mildly  Pleasant ", 1 / 3),
        ("neutral", 0.0),
        (0.33, 1 / 3),
        ("-0.667", -2 / 3),
        (1, 1.0),
    ],
)
def test_a_point_of_a_scale_is_read_by_name_and_by_number(raw, value):
    assert read_value(CEI.dimension("valence"), raw) == (pytest.approx(value), False)


@pytest.mark.parametrize("raw", ["calm", 0.5, 1.2, "", None, True, "nan", float("inf")])
def test_what_is_no_point_of_the_scale_is_no_answer(raw):
    assert read_value(CEI.dimension("valence"), raw) is None


def test_labels_outside_the_vocabulary_go_to_the_label_that_the_scheme_declares():
    emotion = CEI.dimension("emotion")
    assert read_value(emotion, "joy") == ("joy", False)
    assert read_value(emotion, "Frustration") == ("anger", True)
    assert read_value(emotion, "flabbergasted") is None


def test_a_scale_without_points_takes_any_number_of_its_range():
    assert read_value(dimension("interval"), 0.123) == (0.123, False)
    assert read_value(dimension("interval"), 1.5) is None


@given(st.permutations(["id", "e_Ann", "e_Bo", "v_Bo", "v_Ann", "note"]))
def test_a_wide_table_is_read_whatever_the_order_of_its_columns(order):
    row = {"id": "7", "e_Ann": "joy", "e_Bo": " ", "v_Ann": "1", "v_Bo": "0", "note": "x"}
    found = from_wide([{name: row[name] for name in order}], {"emotion": "e_", "valence": "v_"})
    assert set(found) == {
        RawAnswer("7", "emotion", "Ann", "joy"),
        RawAnswer("7", "valence", "Ann", "1"),
        RawAnswer("7", "valence", "Bo", "0"),
    }


def test_a_wide_table_without_ids_numbers_its_rows():
    assert [a.item for a in from_wide([{"e_A": "x"}] * 2, {"d": "e_"}, item=None)] == ["1", "2"]


@pytest.mark.parametrize(
    ("row", "message"),
    [({"e_A": "x"}, "no column 'id'"), ({"id": "1"}, "no column holds answers on 'd'")],
)
def test_a_wide_table_without_the_columns_is_refused_by_name(row, message):
    with pytest.raises(UsageError, match=message):
        from_wide([row], {"d": "e_"})


@given(st.lists(st.sampled_from("abc"), max_size=9))
def test_a_majority_is_more_than_half(values):
    winner = majority(values)
    counts = {value: values.count(value) for value in values}
    assert [v for v, n in counts.items() if n > len(values) / 2] == ([winner] if winner else [])
