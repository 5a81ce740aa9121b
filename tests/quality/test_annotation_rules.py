import pytest
from pydantic import ValidationError

from scenarios.schemes.model import Scheme
from scenarios.schemes.registry import load_scheme

LABELS = [{"id": "x", "definition": "The one."}, {"id": "y", "definition": "The other."}]
SCALE = {"id": "v", "level": "utterance", "measurement": "interval", "question": "?"}


def scheme(scale=None, **fields):
    goal = {"id": "goal", "level": "dialogue", "question": "?", "labels": LABELS}
    dimensions = [goal, {**SCALE, "range": [-1, 1], **(scale or {})}]
    return Scheme.model_validate(
        {"id": "s", "title": "S", "assigned": "goal", "dimensions": dimensions, **fields}
    )


def test_points_divide_the_range_evenly_from_end_to_end():
    found = scheme({"points": 5, "range": [0, 10]}).dimension("v").point_values
    assert found == (0, 2.5, 5, 7.5, 10)
    assert scheme().dimension("v").point_values == ()


def test_the_middle_of_an_odd_scale_is_exactly_its_centre():
    assert load_scheme("cei").dimension("valence").point_values[3] == 0


@pytest.mark.parametrize(
    ("scale", "message"),
    [
        ({"points": 3, "anchors": ["low", "high"]}, "2 anchors do not name 3 points"),
        ({"anchors": ["low", "high"]}, "2 anchors do not name 0 points"),
        ({"points": 2, "anchors": ["low", "Low"]}, "two points have the same name"),
        ({"measurement": "nominal", "labels": LABELS, "points": 3}, "only an interval dimension"),
        ({"points": 1}, "greater than or equal to 2"),
    ],
)
def test_points_that_do_not_fit_are_refused(scale, message):
    with pytest.raises(ValidationError, match=message):
        scheme(scale)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"labels": {"gaol": ["x"]}}, "unknown dimension 'gaol'"),
        ({"labels": {"goal": ["z"]}}, "'z', no label of 'goal'"),
        ({"labels": {"goal": ["x"]}, "intervals": {"goal": [0, 1]}}, "no interval dimension"),
        ({"labels": {"goal": ["x"]}, "intervals": {"v": [1, 0]}}, "starts above its end"),
    ],
)
def test_a_self_contradiction_about_what_is_not_there_is_refused(rule, message):
    with pytest.raises(ValidationError, match=message):
        scheme(self_contradictions=[{**rule, "reason": "No."}])


def test_common_labels_must_be_labels():
    assert scheme(common_labels={"goal": ["x"]}).common_labels == {"goal": ("x",)}
    with pytest.raises(ValidationError, match="'z', no label of 'goal'"):
        scheme(common_labels={"goal": ["z"]})
