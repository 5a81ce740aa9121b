"""Scores of answers that are several labels at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from quality.evaluation.label_sets import score_sets
from quality.evaluation.result_row import ResultRow
from quality.evaluation.scores import EvaluationScores
from quality.evaluation.scoring_results import score_results
from scenarios.errors import UsageError
from tests.quality.evaluation.scripted import KEY, LABELS, QUICK, answered

SETS = st.lists(st.sampled_from(LABELS), max_size=3, unique=True)


def bar(labels: list[str]) -> str:
    return " | ".join(label for label in LABELS if label in labels) or "none of them"


@given(st.lists(st.tuples(SETS, SETS), min_size=1, max_size=12))
def test_figures_are_those_of_scikit_learn(pairs: list[tuple[list[str], list[str]]]) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    found = score_sets(KEY, answered([(bar(a), bar(b)) for a, b in pairs]), LABELS, how=QUICK)
    true, said = (
        np.array([[label in pair[which] for label in LABELS] for pair in pairs], dtype=int)
        for which in (0, 1)
    )
    counted = [i for i in range(len(LABELS)) if true[:, i].any()]
    assume(counted)

    def expected(average: str, **more: object) -> float:
        return float(metrics.f1_score(true, said, average=average, zero_division=1, **more))

    assert found.f1.value == pytest.approx(expected("samples"))
    assert found.micro_f1.value == pytest.approx(expected("micro"))
    assert found.macro_f1.value == pytest.approx(expected("macro", labels=counted))
    assert found.exact.value == pytest.approx(metrics.accuracy_score(true, said))
    for place, one in enumerate(found.classes):
        assert (one.support, one.given) == (true[:, place].sum(), said[:, place].sum())


def test_what_could_not_be_read_gives_no_label_and_what_never_came_is_left_out() -> None:
    pairs = [("a | b", "a | b"), ("a", None), ("b", "!failed"), ("c", "c | odd")]
    found = score_sets(KEY, answered(pairs), LABELS, how=QUICK)
    assert (found.n, found.exact.value, found.f1.value) == (3, pytest.approx(1 / 3), 1 / 3)
    nothing = [("none of them", said) for said in ("none of them", "a", "odd", None)]
    of_nothing = score_sets(KEY, answered([("a", "b"), *nothing]), LABELS, how=QUICK)
    assert of_nothing.exact.value == of_nothing.f1.value == 1 / 5, "unread is not none of them"
    assert found.micro_f1.value == pytest.approx(4 / 6)
    tally = found.tally
    assert (tally.read, tally.unreadable, tally.unknown_labels, tally.failed) == (1, 1, 1, 1)


def test_a_label_called_none_of_them_is_one() -> None:
    labels = ("a", "none of them")
    pairs = [("none of them", "none of them"), ("a", "none of them")]
    found = score_sets(KEY, answered(pairs), labels, how=QUICK)
    assert [(one.label, one.support, one.given) for one in found.classes] == [
        ("a", 1, 0), ("none of them", 1, 2)
    ]  # fmt: skip


def test_two_floors_need_no_reading() -> None:
    found = score_sets(KEY, answered([("a", "a"), ("a", "a"), ("a | b", "a")]), LABELS, how=QUICK)
    commonest, every = found.floors
    assert (commonest.name, commonest.labels) == ("majority", ("a",))
    assert commonest.f1 == pytest.approx((1 + 1 + 2 / 3) / 3) == found.f1.value
    assert (every.name, every.labels, every.exact) == ("all labels", LABELS, 0.0)
    assert every.f1 == pytest.approx((0.5 + 0.5 + 0.8) / 3)


def test_intervals_draw_whole_cases_and_weights_count_items() -> None:
    pairs = [("a | b", "a"), ("c", "c"), ("b", "b | c"), ("a", "b")] * 10
    found = score_sets(KEY, answered(pairs, per_case=2, per_scenario=2), LABELS, how=QUICK)
    for estimate in (found.f1, found.micro_f1, found.macro_f1, found.exact):
        assert estimate.by_case is not None
        assert estimate.by_case.low < estimate.value < estimate.by_case.high  # type: ignore[operator]
    answers = answered([("a", "a"), ("a", "b")])
    weighed = score_sets(KEY, answers, LABELS, weights={"i00000": 3.0, "i00001": 1.0}, how=QUICK)
    assert weighed.f1.value == 0.75
    assert weighed.f1.by_case is None


def test_a_reference_of_another_scheme_is_refused() -> None:
    with pytest.raises(UsageError, match="'x' is no label of d"):
        score_sets(KEY, answered([("a | x", "a")]), LABELS, how=QUICK)


def row(item: str, right: str, said: str | None, single: str = "a") -> ResultRow:
    return ResultRow(
        item=item, task="t", mode="zero-shot", model="m/one", case=item, status="answered",
        labels={"many": said, "one": single}, options={"many": LABELS, "one": LABELS},
        faults={} if said else {"many": "unreadable"},
        references={"people": {"many": right, "one": "a"}},
    )  # fmt: skip


def test_dimensions_with_several_labels_stand_apart_from_those_with_one() -> None:
    rows = [row("i1", "a | b", "a | b"), row("i2", "c", "b | c"), row("i3", "a", None)]
    labels = {"one": LABELS, "many": LABELS}
    found = score_results(rows, labels, several=("many",), how=QUICK)
    assert [one.dimension for one in found.scores] == ["one"]
    (of_sets,) = found.sets
    assert (of_sets.dimension, of_sets.reference) == ("many", "people")
    assert of_sets.f1.value == pytest.approx((1 + 2 / 3 + 0) / 3)
    assert not [one for one in found.comparisons if one.dimension == "many"]
    assert EvaluationScores.from_dict(found.to_dict()) == found
    assert EvaluationScores.from_dict(replace(found, sets=()).to_dict()).sets == ()
