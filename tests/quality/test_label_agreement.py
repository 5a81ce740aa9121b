"""Agreement label by label: against other implementations, by hand, and where there is little of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quality.agreement.agreement import ONE_DIALOGUE, dimension_agreement
from quality.agreement.labels import ALWAYS, UNUSED, LabelAgreement, label_agreement
from quality.statistics.bootstrap import Resampling
from tests.quality.stats_tables import LABELS, dimension, table, tables

QUICK = Resampling(resamples=200)


def by_label(measurement, answers, how=QUICK) -> dict[str, LabelAgreement]:
    return {row.label: row for row in label_agreement(dimension(measurement), answers, how=how)}


@pytest.mark.slow
@pytest.mark.parametrize("measurement", ["nominal", "ordinal", "multi"])
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_alpha_of_a_label_is_that_of_another_implementation_with_two_values(measurement, data):
    import krippendorff  # noqa: PLC0415 - of the full environment alone

    rows = data.draw(tables(measurement))
    found = by_label(measurement, table(rows))
    shared = [row for row in rows if sum(cell is not None for cell in row) > 1]
    for label, row in found.items():
        coded = np.array(
            [[np.nan if cell is None else float(label in cell) for cell in line] for line in shared]
        )
        if len(np.unique(coded[np.isfinite(coded)])) < 2:
            assert row.alpha is None
        else:
            expected = krippendorff.alpha(coded.T, level_of_measurement="nominal")
            assert row.alpha == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
@given(tables("nominal", gaps=False))
@settings(max_examples=40, deadline=None)
def test_specific_agreement_of_two_annotators_is_the_f1_of_one_against_the_other(rows):
    metrics = pytest.importorskip("sklearn.metrics")
    first, second = ([row[place] for row in rows] for place in (0, 1))
    scores = metrics.f1_score(first, second, labels=list(LABELS), average=None, zero_division=0)
    for label, score in zip(LABELS, scores, strict=True):
        row = by_label("nominal", table([row[:2] for row in rows]))[label]
        assert row.specific == (pytest.approx(score) if row.answers else None)


def test_figures_by_hand_of_three_annotators_and_gaps():
    rows = by_label("nominal", table([["a", "a", "b"], ["a", None, "a"], ["b", "b", None]]))
    # a: two of two answers agree with half of the others, two with all: (1 + 2) / 4.
    assert rows["a"].specific == pytest.approx(3 / 4)
    # b: 1 of 3 answers has nobody beside it, two have each other.
    assert rows["b"].specific == pytest.approx(2 / 3)
    # Seven answers, four of them a: 1 - 6 (4 - 3) / (4 * 3).
    assert rows["a"].alpha == rows["b"].alpha == pytest.approx(1 / 2)
    assert (rows["a"].answers, rows["a"].items, rows["a"].dialogues) == (4, 2, 2)
    assert (rows["a"].annotators, rows["a"].of_annotators) == (3, 3)


def test_several_labels_at_once_are_held_against_each_other_one_by_one():
    rows = by_label("multi", table([[("a", "b"), ("b", "c")], [("b",), ("a", "b")]]))
    assert rows["b"].specific == 1
    assert rows["a"].specific == rows["c"].specific == 0
    assert rows["a"].answers == 2


def test_a_label_that_nobody_gave_and_one_that_everybody_gave_have_no_alpha_and_say_why():
    rows = by_label("nominal", table([["a", "a"]] * 12))
    assert (rows["a"].specific, rows["a"].alpha, rows["a"].note) == (1, None, ALWAYS)
    assert 0.6 < rows["a"].specific_interval.low < 0.95
    assert rows["a"].specific_interval.high == 1
    assert (rows["b"].specific, rows["b"].alpha, rows["b"].note) == (None, None, UNUSED)
    assert rows["b"].specific_interval is rows["b"].alpha_interval is None


def test_a_label_that_one_annotator_never_used_is_not_told_to_be_surely_unreliable():
    answers = table([["a", "b"]] * 4 + [["b", "b"]] * 60)
    row = by_label("nominal", answers)["a"]
    assert (row.annotators, row.of_annotators, row.specific) == (1, 2, 0)
    assert (row.specific_interval.low, row.specific_interval.high > 0.4) == (0, True)
    assert row.alpha_interval.low <= row.alpha < 0 < row.alpha_interval.high


def test_a_label_of_one_dialogue_has_no_interval():
    rows = table([["a", "a"], ["b", "b"], ["b", "c"], ["c", "c"]])
    row = by_label("nominal", rows)["a"]
    assert row.specific == 1
    assert row.specific_interval is row.alpha_interval is None
    assert "in one dialogue, alone" in row.note
    alone = [replace(answer, dialogue="d") for answer in rows]
    assert {r.note for r in by_label("nominal", alone).values() if r.answers} == {ONE_DIALOGUE}


def test_a_label_that_nearly_all_items_have_is_as_uncertain_as_what_they_do_not_have():
    rows = by_label("nominal", table([["a", "b"], ["b", "a"]] + [["a", "a"]] * 58))
    usual, rare = rows["a"], rows["b"]
    assert usual.alpha == pytest.approx(rare.alpha)  # with two labels they are one figure
    assert usual.alpha_interval == rare.alpha_interval
    assert usual.alpha_interval.low <= usual.alpha < 0.3 < usual.alpha_interval.high
    assert usual.specific_interval.low > 0.9


def test_alpha_of_a_label_that_one_item_does_not_have_has_no_interval_either():
    rows = by_label("nominal", table([["b", "b"]] + [["a", "a"]] * 30))
    assert rows["a"].specific_interval is not None
    assert rows["a"].alpha_interval is rows["b"].alpha_interval is None
    assert "all other labels were given to one item" in rows["a"].note


def test_turns_of_a_dialogue_are_drawn_together():
    rows = [["a", "a"], ["a", "b"], ["b", "b"], ["b", "c"]] * 5
    thrice = [
        replace(a, dialogue=f"{int(a.item[-3:]) // 3:03}")
        for a in table([row for row in rows for _ in range(3)])
    ]
    alone, together = by_label("nominal", table(rows))["a"], by_label("nominal", thrice)["a"]
    assert (alone.specific, alone.dialogues) == (together.specific, together.dialogues)
    assert together.specific_interval.low == pytest.approx(alone.specific_interval.low, abs=0.02)
    naive = by_label("nominal", [replace(a, dialogue="") for a in thrice])["a"]
    assert naive.specific_interval.low > together.specific_interval.low


def test_numbers_and_answers_of_one_person_have_no_labels_to_agree_on():
    assert label_agreement(dimension("interval"), table([[0.1, 0.2]] * 4)) == []
    assert label_agreement(dimension("nominal"), table([["a"]] * 4)) == []


def test_a_mean_over_pairs_says_which_it_does_without():
    rows = dimension_agreement(
        dimension("nominal"),
        table([["a", "a", "b"], ["a", "a", "a"], ["a", "a", "b"], ["a", "a", "a"]]),
        how=QUICK,
    )
    notes = {row.statistic: row.note for row in rows}
    assert "Cohen kappa is the mean of 2 of 3 pairs" in notes["Cohen kappa"]
    assert notes["Krippendorff alpha"] == ""
