import pytest
from hypothesis import given
from hypothesis import strategies as st

from quality.agreement.annotations import majority, read_value
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


@given(st.lists(st.sampled_from("abc"), max_size=9))
def test_a_majority_is_more_than_half(values):
    winner = majority(values)
    counts = {value: values.count(value) for value in values}
    assert [v for v, n in counts.items() if n > len(values) / 2] == ([winner] if winner else [])
