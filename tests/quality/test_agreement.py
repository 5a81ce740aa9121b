from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quality.agreement import agreement
from quality.agreement.agreement import (
    STATISTICS_BY_MEASUREMENT,
    agreement_table,
    dimension_agreement,
)
from quality.agreement.annotations import Answer
from quality.agreement.ratings import ratings
from quality.statistics import packages as statistics_packages
from quality.statistics.bootstrap import Resampling
from scenarios.errors import UsageError
from scenarios.schemes.model import Scheme
from tests.quality.stats_tables import LABELS, dimension, table, tables

pytestmark = pytest.mark.slow
MEASUREMENTS = tuple(STATISTICS_BY_MEASUREMENT)
QUICK = Resampling(resamples=20)
any_table = st.sampled_from(MEASUREMENTS).flatmap(
    lambda measurement: st.tuples(st.just(measurement), tables(measurement))
)


def values(measurement, answers, how=QUICK):
    rows = dimension_agreement(dimension(measurement), answers, how=how)
    return {row.statistic: row.value for row in rows}


@pytest.mark.parametrize("measurement", MEASUREMENTS)
@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_the_weighted_forms_equal_the_statistics_when_every_item_weighs_one(measurement, data):
    found = ratings(dimension(measurement), table(data.draw(tables(measurement))))
    for name in STATISTICS_BY_MEASUREMENT[measurement]:
        statistic = agreement._STATISTICS[name]
        weighted = statistic.estimator(found)(np.ones((1, len(found.items))))[0]
        unweighted = statistic.value(found) if found.items else None
        expected = np.nan if unweighted is None else unweighted
        assert weighted == pytest.approx(expected, abs=1e-9, nan_ok=True), name


@pytest.mark.parametrize("measurement", MEASUREMENTS)
@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_a_weight_of_two_is_the_item_twice(measurement, data):
    rows = data.draw(tables(measurement))
    times = np.array(data.draw(st.lists(st.integers(1, 3), min_size=len(rows), max_size=len(rows))))
    kept = [i for i, row in enumerate(rows) if any(cell is not None for cell in row)]
    found = ratings(dimension(measurement), table(rows))
    repeated = ratings(
        dimension(measurement),
        table([row for row, n in zip(rows, times, strict=True) for _ in range(n)]),
    )
    for name in STATISTICS_BY_MEASUREMENT[measurement]:
        if name in ("Fleiss kappa", "Randolph kappa"):
            continue  # repeating items may change which number of answers is the most usual
        statistic = agreement._STATISTICS[name]
        weights = times[kept][None, :].astype(float)
        expected = statistic.value(repeated) if repeated.items else None
        assert statistic.estimator(found)(weights)[0] == pytest.approx(
            np.nan if expected is None else expected, abs=1e-9, nan_ok=True
        ), name


@settings(max_examples=30, deadline=None)
@given(any_table, st.randoms(use_true_random=False))
def test_who_the_annotators_are_and_the_order_of_answers_do_not_matter(drawn, random):
    measurement, rows = drawn
    answers = table(rows)
    names = sorted({a.annotator for a in answers})
    renamed = dict(zip(names, random.sample(names, len(names)), strict=True))
    other = [Answer(a.item, a.dimension, renamed[a.annotator], a.value) for a in answers]
    random.shuffle(other)
    before, after = values(measurement, answers), values(measurement, other)
    assert before.keys() == after.keys()
    for name, value in before.items():
        assert (value is None) == (after[name] is None)
        assert value is None or value == pytest.approx(after[name], abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(any_table)
def test_statistics_stay_within_their_bounds(drawn):
    for name, value in values(*drawn[:1], table(drawn[1])).items():
        if value is not None:
            assert value <= 1 + 1e-9, name
            assert value >= (0 if name == "percent agreement" else -1e9), name
            if name in ("Cohen kappa", "Fleiss kappa", "Randolph kappa", "Spearman rho"):
                assert value >= -1 - 1e-9, name


@pytest.mark.parametrize("measurement", MEASUREMENTS)
@given(data=st.data())
@settings(max_examples=20, deadline=None)
def test_perfect_agreement_is_one_or_undefined(measurement, data):
    rows = data.draw(tables(measurement, gaps=False))
    found = values(measurement, table([[row[0]] * len(row) for row in rows]))
    assert all(value is None or value == pytest.approx(1) for value in found.values())
    given_labels = {frozenset(row[0]) if measurement == "multi" else row[0] for row in rows}
    if len(given_labels) > 1:
        assert None not in found.values()


@settings(max_examples=20, deadline=None)
@given(tables("nominal", gaps=False, fewest=3))
def test_the_names_of_nominal_labels_do_not_matter(rows):
    turned = {label: LABELS[-1 - i] for i, label in enumerate(LABELS)}
    before = values("nominal", table(rows))
    after = values("nominal", table([[turned[cell] for cell in row] for row in rows]))
    for name, value in before.items():
        assert value == (None if after[name] is None else pytest.approx(after[name], abs=1e-9))


def test_icc_of_the_published_example():
    rows = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    scale = dimension("interval").model_copy(update={"range": (0.0, 10.0)})
    found = dimension_agreement(scale, table([[float(x) for x in row] for row in rows]), how=QUICK)
    icc = {row.statistic: row.value for row in found if row.statistic.startswith("ICC")}
    assert {name: round(value, 2) for name, value in icc.items()} == {
        "ICC(1,1)": 0.17,
        "ICC(2,1)": 0.29,
    }  # Shrout & Fleiss 1979, table 4


def test_icc_of_one_way_does_not_ask_who_gave_which_answer():
    rng = np.random.default_rng(3)
    rows = (rng.normal(size=(12, 1)) / 4 + rng.normal(size=(12, 3)) / 9).tolist()
    mixed = [list(rng.permutation(row)) for row in rows]
    scale = dimension("interval").model_copy(update={"range": (-9.0, 9.0)})
    icc, again = (
        {r.statistic: r for r in dimension_agreement(scale, table(x), how=QUICK)}["ICC(1,1)"]
        for x in (rows, mixed)
    )
    assert icc.value == pytest.approx(again.value)
    assert icc.interval.low < icc.value < icc.interval.high


def test_icc_equals_the_mean_squares_of_a_fitted_two_way_model():
    pandas = pytest.importorskip("pandas")
    formula = pytest.importorskip("statsmodels.formula.api")
    anova = pytest.importorskip("statsmodels.stats.anova")
    rng = np.random.default_rng(5)
    x = rng.integers(-3, 4, size=(12, 3)) / 3 + rng.normal(size=(12, 1))
    frame = pandas.DataFrame(
        [(i, j, x[i, j]) for i in range(12) for j in range(3)], columns=["i", "j", "x"]
    )
    fitted = anova.anova_lm(formula.ols("x ~ C(i) + C(j)", frame).fit())
    items, annotators, error = fitted["sum_sq"] / fitted["df"]
    expected = (items - error) / (items + 2 * error + 3 * (annotators - error) / 12)
    scale = dimension("interval").model_copy(update={"range": (-9.0, 9.0)})
    found = ratings(scale, table(x.tolist()))
    assert agreement._STATISTICS["ICC(2,1)"].value(found) == pytest.approx(expected)


def test_one_label_only_leaves_chance_corrected_statistics_undefined_with_a_reason():
    rows = dimension_agreement(dimension("nominal"), table([["a", "a"]] * 5), how=QUICK)
    found = {row.statistic: row for row in rows}
    assert found["percent agreement"].value == found["Randolph kappa"].value == 1
    for name in ("Cohen kappa", "Fleiss kappa", "Krippendorff alpha"):
        assert found[name].value is None
        assert found[name].interval is None
        assert found[name].note


@pytest.mark.parametrize("measurement", MEASUREMENTS)
def test_a_single_annotator_agrees_with_nobody(measurement):
    value = {"interval": 0.5, "multi": ("a", "b")}.get(measurement, "a")
    rows = dimension_agreement(dimension(measurement), table([[value]] * 4), how=QUICK)
    assert {(row.value, row.interval, row.items, row.annotators) for row in rows} == {
        (None, None, 0, 0)
    }


def test_annotators_of_different_items_have_the_icc_of_one_way_alone():
    answers = table([[0.1, 0.3], [0.5, 0.4], [-1.0, -0.8]])
    answers += [Answer(f"other {a.item}", "d", f"other {a.annotator}", a.value) for a in answers]
    found = values("interval", answers)
    assert found["ICC(2,1)"] is None
    assert found["ICC(1,1)"] > 0.8
    assert found["Krippendorff alpha"] > 0.8


def test_constant_numbers_have_no_reliability_even_where_rounding_leaves_a_trace():
    found = values("interval", table([[1 / 3, 0.1 + 0.2 + 1 / 3 - 0.3]] * 7))
    assert found["ICC(2,1)"] is None or abs(found["ICC(2,1)"]) <= 1
    assert set(values("interval", table([[1 / 3] * 3] * 7)).values()) == {None}


def test_fleiss_rests_on_the_items_with_the_most_usual_number_of_answers():
    full = [["a", "a", "b"], ["b", "b", "b"], ["c", "a", "c"]]
    rows = dimension_agreement(dimension("nominal"), table([*full, ["a", "d", None]]), how=QUICK)
    found = {row.statistic: row for row in rows}
    assert found["Fleiss kappa"].value == values("nominal", table(full))["Fleiss kappa"]
    assert found["Fleiss kappa"].items == 3
    assert found["percent agreement"].items == 4


def test_sets_of_labels_agree_whatever_their_order():
    found = values("multi", table([[("a", "b"), ("b", "a")], [("c",), ("c",)]]))
    assert found["percent agreement"] == found["Cohen kappa"] == 1


def test_groups_are_reported_beside_the_whole():
    scheme = Scheme(
        id="s",
        title="S",
        assigned="goal",
        dimensions=(
            dimension("nominal", "goal").model_copy(update={"level": "dialogue"}),
            dimension("nominal"),
        ),
    )
    answers = table([["a", "a"], ["b", "b"], ["a", "b"], ["b", "a"]])
    groups = {"item 000": "x", "item 001": "x", "item 002": "y", "item 003": "y"}
    rows = agreement_table(scheme, answers, groups=groups, how=QUICK)
    shares = {r.group: r.value for r in rows if r.statistic == "percent agreement"}
    assert shares == {"": 0.5, "x": 1, "y": 0}
    assert {row.dimension for row in rows} == {"d"}
    of_some = agreement_table(scheme, answers, groups=groups | {"item 003": ""}, how=QUICK)
    shares = [(r.group, r.value) for r in of_some if r.statistic == "percent agreement"]
    assert shares == [("", 0.5), ("x", 1), ("y", 0)], (
        "an item without a group is in the whole alone"
    )


def test_the_interval_is_reproducible_contains_the_value_and_narrows_with_more_items():
    rng = np.random.default_rng(3)
    first = [rng.choice(list("abcd")) for _ in range(400)]
    rows = [[str(x), str(x) if rng.random() < 0.7 else "a"] for x in first]
    few, many, again = (
        {r.statistic: r for r in dimension_agreement(dimension("nominal"), table(rows[:n]))}
        for n in (40, 400, 400)
    )
    assert many == again
    for name, row in many.items():
        assert row.interval.low < row.value < row.interval.high
        width = row.interval.high - row.interval.low
        assert width < few[name].interval.high - few[name].interval.low


def test_an_answer_given_twice_is_refused_by_name():
    answers = [*table([["a", "b"]]), Answer("item 000", "d", "annotator 1", "c")]
    with pytest.raises(UsageError, match=r"'annotator 1' answered item 'item 000' twice"):
        dimension_agreement(dimension("nominal"), answers)


def test_an_answer_that_is_no_label_is_refused_by_name():
    with pytest.raises(UsageError, match="'z' of 'annotator 0' on item 'item 000'"):
        dimension_agreement(dimension("nominal"), table([["z", "a"]]))


def test_a_missing_package_is_named_with_the_command_that_installs_it(monkeypatch):
    def refuse(name):
        raise ImportError(name)

    monkeypatch.setattr(statistics_packages, "import_module", refuse)
    with pytest.raises(UsageError, match="statsmodels") as caught:
        dimension_agreement(dimension("nominal"), table([["a", "b"], ["a", "a"]]))
    assert "pip install 'hipo[stats]'" in caught.value.hint


def in_dialogues(answers, size):
    """Say that so many items after each other are one dialogue."""
    return [replace(a, dialogue=f"dialogue {int(a.item[-3:]) // size:03}") for a in answers]


def test_items_of_one_dialogue_are_resampled_together():
    rows = [["a", "a"], ["a", "b"], ["b", "b"], ["c", "a"], ["b", "b"], ["c", "c"]] * 3
    alone = dimension_agreement(dimension("nominal"), table(rows))
    thrice = table([row for row in rows for _ in range(3)])
    together = dimension_agreement(dimension("nominal"), in_dialogues(thrice, 3))
    for one, other in zip(alone[:2], together[:2], strict=True):
        assert one.value == pytest.approx(other.value)
        assert one.interval.low == pytest.approx(other.interval.low)
        assert one.interval.high == pytest.approx(other.interval.high)
    naive = dimension_agreement(dimension("nominal"), thrice)
    assert naive[0].interval.low > together[0].interval.low


def test_items_of_one_dialogue_alone_have_no_interval_and_say_why():
    answers = table([["a", "a"], ["a", "b"], ["b", "b"]] * 3)
    for row in dimension_agreement(dimension("nominal"), in_dialogues(answers, 9)):
        assert row.value is not None
        assert row.interval is None
        assert row.note == agreement.ONE_DIALOGUE
    assert dimension_agreement(dimension("nominal"), answers)[0].note == ""


def test_of_one_item_it_is_not_said_that_it_is_a_dialogue():
    rows = dimension_agreement(dimension("nominal"), table([["a", "b"], ["a", None]]))
    assert {row.note for row in rows} == {agreement.ONE_ITEM}


def test_statistics_that_need_full_tables_say_which_items_they_leave_out():
    answers = table([["a", "a", None], ["b", "a", None], ["b", "b", None], ["a", "a", "a"]])
    notes = {r.statistic: r.note for r in dimension_agreement(dimension("nominal"), answers)}
    assert "of the 3 of 4 items with 2 answers each" in notes["Fleiss kappa"]
    assert notes["Randolph kappa"] == notes["Fleiss kappa"]
    assert notes["Krippendorff alpha"] == ""
    assert "the mean of 1 of 3 pairs" in notes["Cohen kappa"]
    numbers = table([[0.0, 0.1, None], [0.5, 0.6, 0.4], [-1.0, -0.9, -0.8]])
    notes = {r.statistic: r.note for r in dimension_agreement(dimension("interval"), numbers)}
    assert "of the 2 of 3 items with 3 answers each" in notes["ICC(2,1)"]


def test_unanimous_answers_have_an_interval_with_width():
    rows = {
        row.statistic: row
        for row in dimension_agreement(dimension("nominal"), table([["a", "a"], ["b", "b"]] * 10))
    }
    assert rows["percent agreement"].interval.low == pytest.approx(0.025 ** (1 / 20))
    for name in ("Cohen kappa", "Fleiss kappa", "Krippendorff alpha"):
        assert rows[name].value == pytest.approx(1.0)
        # Half of it is what chance would give.
        assert rows[name].interval.low == pytest.approx(1 - 2 * (1 - 0.025 ** (1 / 20)))


def test_95_percent_intervals_hold_the_truth_where_answers_come_in_dialogues():
    """30 dialogues of 3 answers: 85 % when items are drawn one by one."""
    held, sets = 0, 150
    for number in range(sets):
        rng = np.random.default_rng([5, number])
        # Dialogues are as easy as a coin says: half of them .95, the others .55.
        agree = rng.random((30, 3)) < np.where(rng.random(30) < 0.5, 0.95, 0.55)[:, None]
        rows = [["a", "a" if same else "b"] for same in agree.ravel()]
        found = dimension_agreement(
            dimension("nominal"), in_dialogues(table(rows), 3), how=Resampling(300)
        )
        held += found[0].interval.low <= 0.75 <= found[0].interval.high
    assert held / sets >= 0.92
