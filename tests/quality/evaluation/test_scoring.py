import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quality.evaluation.scores import AnswerTally, PositionShare
from quality.evaluation.scoring import score
from quality.statistics.bootstrap import Interval
from scenarios.errors import UsageError
from tests.quality.evaluation.scripted import KEY, LABELS, QUICK, answered

pairs = st.lists(
    st.tuples(st.sampled_from(LABELS), st.sampled_from([*LABELS, None])), min_size=1, max_size=40
)


def scored(answers, **options):
    return score(KEY, answers, LABELS, **{"how": QUICK, **options})


def test_scripted_answers_have_exactly_the_scores_known_by_hand():
    #          right: a a a a  b b b  c
    #          given: a a b -  b b a  a
    answers = answered(
        list(zip("aaaabbbc", ["a", "a", "b", None, "b", "b", "a", "a"], strict=True))
    )
    found = scored(answers)
    assert found.accuracy.value == 4 / 8
    assert found.matrix == ((2, 1, 0), (1, 2, 0), (1, 0, 0))
    assert found.unread == (1, 0, 0)
    one, two, three = found.classes
    assert (one.support, one.given) == (4, 4)
    assert (one.precision.value, one.recall.value, one.f1.value) == (0.5, 0.5, 0.5)
    assert (two.precision.value, two.recall.value) == pytest.approx((2 / 3, 2 / 3))
    assert (three.precision.value, three.recall.value, three.f1.value) == (None, 0.0, 0.0)
    assert found.macro_f1.value == pytest.approx((1 / 2 + 2 / 3 + 0) / 3)
    assert found.balanced_accuracy.value == pytest.approx((1 / 2 + 2 / 3 + 0) / 3)
    assert found.above_majority.value == 0.0
    assert (found.majority.label, found.majority.accuracy) == ("a", 0.5)
    assert found.majority.macro_f1 == pytest.approx((2 / 3) / 3)
    assert found.random.accuracy == pytest.approx(1 / 3)


def test_no_interval_is_given_under_ten_items_and_it_is_said_why():
    found = scored(answered([("a", "a"), ("b", "a"), ("b", "b")]))
    assert (found.accuracy.by_case, found.accuracy.by_scenario) == (None, None)
    assert found.remarks[0] == "no intervals: 3 items, 10 are needed"


def test_ten_askings_of_one_item_are_one_item():
    answers = [
        answer
        for draw in range(10)
        for answer in answered([("a", "a"), ("b", "a"), ("b", "b")], draw=draw)
    ]
    found = scored(answers)
    assert (found.n, found.items) == (30, 3)
    assert found.accuracy.by_case is None


def test_where_all_is_right_the_interval_of_accuracy_is_the_exact_one_over_cases():
    found = scored(answered([("a", "a"), ("b", "b")] * 20, per_case=2, per_scenario=4))
    assert found.accuracy.value == 1.0
    assert found.accuracy.by_case == Interval(pytest.approx(0.025 ** (1 / 20)), 1.0)
    assert found.accuracy.by_scenario == Interval(pytest.approx(0.025 ** (1 / 5)), 1.0)
    # Nothing is known of how far these may move where no resample differs.
    assert (found.macro_f1.value, found.macro_f1.by_case) == (1.0, None)


def test_a_figure_that_moves_in_hardly_any_resample_has_no_interval_without_width():
    """Some resamples lack the rare label altogether: too few of them for the interval."""
    found = scored(answered([("a", "a"), ("b", "b")] * 40 + [("c", "c")] * 4))
    assert found.macro_f1.value == 1.0
    assert found.macro_f1.by_case is None


def test_where_all_is_wrong_the_interval_begins_at_none():
    found = scored(answered([("a", "b")] * 12))
    assert found.accuracy.by_case == Interval(0.0, pytest.approx(1 - 0.025 ** (1 / 12)))


def test_the_interval_of_independent_items_is_that_of_theory():
    answers = answered([("a", "a")] * 300 + [("a", "b")] * 100)
    found = score(KEY, answers, LABELS)
    half = 1.96 * (0.75 * 0.25 / 400) ** 0.5
    assert found.accuracy.by_case.low == pytest.approx(0.75 - half, abs=0.004)
    assert found.accuracy.by_case.high == pytest.approx(0.75 + half, abs=0.004)


def test_items_that_stand_and_fall_together_widen_the_interval_as_if_they_were_one():
    verdicts = ["a"] * 30 + ["b"] * 10
    alone = scored(answered([("a", v) for v in verdicts]))
    copied = scored(answered([("a", v) for v in verdicts for _ in range(5)], per_case=5))
    assert copied.accuracy == alone.accuracy


def test_answers_that_could_not_be_read_are_wrong_and_those_that_never_came_are_missing():
    found = scored(
        answered(
            [
                ("a", "a"),
                ("a", "!unreadable"),
                ("b", "!unknown label"),
                ("b", "!refused"),
                ("c", "!failed"),
            ]
        )
    )
    assert found.accuracy.value == 1 / 4
    assert found.n == 4
    assert found.tally == AnswerTally(
        read=1, unreadable=1, unknown_labels=1, refused=1, failed=1, harmonised=0
    )
    assert "1 of 5 answers never came: they are missing, not wrong" in found.remarks
    assert "no item of c was answered: the macro-F1 leaves these labels out" in found.remarks


def test_a_label_that_the_dimension_does_not_have_is_an_unknown_one():
    found = scored(answered([("a", "z"), ("a", "a")]))
    assert found.tally.unknown_labels == 1
    assert found.unread == (1, 0, 0)


def test_a_reference_that_the_dimension_does_not_have_is_refused():
    with pytest.raises(UsageError, match="'z' is no label of d"):
        scored(answered([("z", "a")]))


def test_no_answer_at_all_gives_no_figure():
    found = scored(answered([("a", "!failed")]))
    assert found.accuracy.value is None
    assert found.macro_f1.value is None
    assert found.majority.accuracy is None
    assert scored([]).n == 0


def test_a_label_that_no_reference_has_does_not_enter_the_macro_f1():
    found = scored(answered([("a", "a"), ("a", "c"), ("b", "b"), ("b", "b")]))
    assert found.macro_f1.value == pytest.approx((2 / 3 + 1) / 2)


def test_labels_of_the_macro_f1_stay_the_same_whatever_is_resampled():
    # c is right once in forty; resamples without it count it as 0, not as one class fewer.
    answers = answered([("a", "a")] * 20 + [("b", "b")] * 19 + [("c", "c")])
    found = score(KEY, answers, LABELS)
    assert found.macro_f1.value == 1.0
    assert found.macro_f1.by_case.low == pytest.approx(2 / 3)


def test_the_remark_on_imbalance_names_the_label_and_the_points():
    found = scored(answered([("a", "a")] * 9 + [("b", "a")]))
    assert found.majority.accuracy == 0.9
    assert found.remarks[-1] == (
        "always answering a is right in 90.0%, where 2 classes alike would leave 50.0%: imbalance"
        " lifts accuracy by up to 40.0 points"
    )


def test_figures_by_group_are_those_of_the_group_alone():
    first = answered([("a", "a"), ("b", "b"), ("b", "a")], groups={"turn": "2", "goal": "x"})
    second = list(answered([("a", "b"), ("c", "c")], groups={"turn": "10"}, case="z", scenario="z"))
    found = scored(first + second)
    assert [(g.by, g.group, g.n) for g in found.groups] == [
        ("turn", "2", 3), ("turn", "10", 2), ("goal", "x", 3),
    ]  # fmt: skip
    alone = scored(first)
    assert found.groups[0].accuracy.value == alone.accuracy.value == 2 / 3
    assert found.groups[0].macro_f1.value == alone.macro_f1.value


def test_a_perfect_model_is_perfect_in_a_group_that_lacks_a_label():
    answers = answered([("a", "a"), ("b", "b")], groups={"goal": "x"})
    found = scored(answers + answered([("c", "c")], groups={"goal": "y"}))
    assert [group.macro_f1.value for group in found.groups] == [1.0, 1.0]


def test_answers_by_position_stand_beside_references_by_position():
    shown = ("c", "a", "b")
    found = scored(answered([("a", "b"), ("c", "b"), ("b", "b"), ("b", None)], options=shown))
    assert found.positions == (
        PositionShare(0, 0.0, 0.25),
        PositionShare(1, 0.0, 0.25),
        PositionShare(2, 1.0, 0.5),
    )


def test_drawing_among_the_options_shown_is_the_random_floor():
    found = scored(answered([("a", "a")] * 4, options=("a", "b")))
    assert found.random.accuracy == 0.5


def test_draws_stand_apart_with_their_spread():
    answers = answered([("a", "a"), ("b", "b")], draw=0) + answered(
        [("a", "a"), ("b", "a")], draw=1
    )
    found = scored(answers)
    assert [draw.accuracy for draw in found.draws] == [1.0, 0.5]
    assert found.accuracy.value == 0.75
    assert found.accuracy_sd == pytest.approx(np.std([1.0, 0.5], ddof=1))


def test_weights_bring_back_the_shares_of_the_whole_set():
    answers = answered([("a", "a"), ("a", "a"), ("b", "a"), ("b", "b")])
    weights = {"i00000": 1.8, "i00001": 1.8, "i00002": 0.2, "i00003": 0.2}
    found = scored(answers, weights=weights, weighting="reweighted")
    assert found.accuracy.value == pytest.approx(0.95)
    assert found.majority.accuracy == pytest.approx(0.9)
    assert found.matrix[1] == (1, 1, 0)


@settings(max_examples=30, deadline=None)
@given(pairs)
def test_figures_are_those_of_scikit_learn(drawn):
    metrics = pytest.importorskip("sklearn.metrics")
    truth = [right for right, _ in drawn]
    said = [given or "none" for _, given in drawn]
    found = scored(answered(drawn))
    present = sorted(set(truth))
    assert found.accuracy.value == pytest.approx(metrics.accuracy_score(truth, said))
    assert found.macro_f1.value == pytest.approx(
        metrics.f1_score(truth, said, labels=present, average="macro", zero_division=0)
    )
    recalls = metrics.recall_score(truth, said, labels=present, average=None)
    assert found.balanced_accuracy.value == pytest.approx(float(np.mean(recalls)))
    precision, recall, f1, support = metrics.precision_recall_fscore_support(
        truth, said, labels=LABELS, zero_division=np.nan
    )
    for i, one in enumerate(found.classes):
        assert one.support == support[i]
        for mine, theirs in ((one.precision, precision[i]), (one.recall, recall[i])):
            value = np.nan if mine.value is None else mine.value
            assert value == pytest.approx(theirs, nan_ok=True)
        if one.f1.value is not None:
            assert one.f1.value == pytest.approx(np.nan_to_num(f1[i]))


@settings(max_examples=25, deadline=None)
@given(pairs, st.randoms())
def test_the_order_of_rows_changes_nothing(drawn, shuffle):
    answers = answered(drawn, per_case=3, per_scenario=2)
    mixed = list(answers)
    shuffle.shuffle(mixed)
    first, second = scored(answers), scored(mixed)
    assert first.matrix == second.matrix
    for name in ("accuracy", "macro_f1", "balanced_accuracy"):
        mine, theirs = getattr(first, name), getattr(second, name)
        assert mine.value == pytest.approx(theirs.value)
        for one, two in ((mine.by_case, theirs.by_case), (mine.by_scenario, theirs.by_scenario)):
            assert (one is None) == (two is None)
            if one:
                assert (one.low, one.high) == pytest.approx((two.low, two.high))


@settings(max_examples=25, deadline=None)
@given(pairs, st.permutations(LABELS))
def test_other_names_for_the_labels_change_nothing(drawn, renamed):
    names = dict(zip(LABELS, renamed, strict=True))
    first = scored(answered(drawn))
    second = scored(answered([(names[r], names.get(g)) for r, g in drawn]))
    assert first.accuracy.value == pytest.approx(second.accuracy.value)
    assert first.macro_f1.value == pytest.approx(second.macro_f1.value)
    assert {c.label: c.support for c in second.classes} == {
        names[c.label]: c.support for c in first.classes
    }


@pytest.mark.slow
def test_the_interval_over_cases_covers_the_truth_as_often_as_it_says():
    """100 sets of 60 cases with 4 items each, right with a chance of the case's own."""
    rng = random.Random(3)
    covered = plain = 0
    for _ in range(100):
        verdicts = []
        for _ in range(60):
            chance = rng.betavariate(1.2, 0.8)  # mean 0.6
            verdicts += ["a" if rng.random() < chance else "b" for _ in range(4)]
        clustered = scored(answered([("a", v) for v in verdicts], per_case=4)).accuracy.by_case
        alone = scored(answered([("a", v) for v in verdicts])).accuracy.by_case
        covered += clustered.low <= 0.6 <= clustered.high
        plain += alone.low <= 0.6 <= alone.high
    # 95 % of 100 within three standard deviations; items drawn one by one cover too seldom.
    assert covered / 100 > 0.95 - 3 * (0.95 * 0.05 / 100) ** 0.5
    assert plain < covered
