import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quality.bootstrap import Resampling
from quality.confusion import confusion
from scenarios.errors import UsageError

pytestmark = pytest.mark.slow
LABELS = ("a", "b", "c")
QUICK = Resampling(resamples=20)


def by_item(values):
    return {f"{i:03}": value for i, value in enumerate(values)}


def compare(truth, judged, how=QUICK):
    return confusion("m", "d", LABELS, truth=by_item(truth), judged=by_item(judged), how=how)


pairs = st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=1)


@settings(max_examples=60, deadline=None)
@given(pairs)
def test_figures_are_those_of_scikit_learn(drawn):
    metrics = pytest.importorskip("sklearn.metrics")
    truth, judged = map(list, zip(*drawn, strict=True))
    found = compare(truth, judged)
    precision, recall, f1, support = metrics.precision_recall_fscore_support(
        truth, judged, labels=LABELS, zero_division=np.nan
    )
    assert found.matrix == tuple(
        map(tuple, metrics.confusion_matrix(truth, judged, labels=LABELS).tolist())
    )
    assert found.accuracy.value == pytest.approx(metrics.accuracy_score(truth, judged))
    macro_f1 = metrics.f1_score(truth, judged, labels=sorted(set(truth)), average="macro")
    assert found.macro_f1.value == pytest.approx(macro_f1)
    for i, trust in enumerate(found.per_label):
        assert trust.support == support[i]
        for mine, theirs in ((trust.precision, precision[i]), (trust.recall, recall[i])):
            assert (np.nan if mine.value is None else mine.value) == pytest.approx(
                theirs, nan_ok=True
            )
        if trust.f1.value is not None:
            assert trust.f1.value == pytest.approx(np.nan_to_num(f1[i]))


def test_a_reply_that_could_not_be_read_counts_as_wrong_and_is_shown():
    found = compare(["a", "a", "b"], ["a", None, "b"])
    assert found.accuracy.value == pytest.approx(2 / 3)
    assert found.unreadable == (1, 0, 0)
    assert found.per_label[0].recall.value == 0.5
    assert found.items == 3


def test_items_that_the_judge_never_saw_do_not_count():
    found = confusion(
        "m", "d", LABELS, truth={"1": "a", "3": "b"}, judged={"1": "a", "9": "c"}, how=QUICK
    )
    assert found.items == 1
    assert found.accuracy.value == 1.0


def test_a_label_that_is_never_right_does_not_lower_the_macro_f1_twice():
    found = compare(["a", "a", "b", "b"], ["a", "c", "b", "b"])
    assert found.macro_f1.value == pytest.approx((2 / 3 + 1) / 2)


def test_no_common_item_gives_no_figures():
    found = compare([], [])
    assert found.accuracy.value is None
    assert all(trust.f1.value is None for trust in found.per_label)


def test_the_interval_of_the_accuracy_covers_it_and_repeats():
    truth = ["a", "b"] * 100
    judged = ["a"] * 20 + truth[20:]
    first, second = (compare(truth, judged, Resampling()) for _ in range(2))
    assert first == second
    bounds = first.accuracy.interval
    assert bounds.low < first.accuracy.value == 0.95 < bounds.high
    assert bounds.high - bounds.low == pytest.approx(
        2 * 1.96 * (0.95 * 0.05 / 200) ** 0.5, abs=0.01
    )


def test_a_label_outside_the_dimension_is_refused():
    with pytest.raises(UsageError, match="'z' is no label of 'd'"):
        compare(["a"], ["z"])
