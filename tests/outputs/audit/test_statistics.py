"""The arithmetic of an audit: cross-fitting, counting, permuting, correcting."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import rankdata
from sklearn.linear_model import Ridge
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from outputs.audit.cross_fit import CrossFit, grouped_folds
from outputs.audit.measures import ScoreKind
from outputs.audit.null_labels import DealtLabels, SwappedGoals, SwappedSides
from outputs.audit.significance import (
    against_chance,
    majority_in_scenario,
    over_scenarios,
)
from quality.statistics.bootstrap import Resampling
from quality.statistics.holm import holm


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def test_each_fold_is_guessed_by_ridge_regression_on_all_others(rng):
    features, targets = rng.normal(size=(60, 7)), rng.normal(size=(60, 3))
    folds = grouped_folds(np.repeat(np.arange(12), 5), seed=1)
    guesses = CrossFit(features, folds).scores(targets)
    for fold in range(5):
        inside = folds == fold
        fitted = Ridge(alpha=1.0).fit(features[~inside], targets[~inside])
        assert guesses[inside] == pytest.approx(fitted.predict(features[inside]))


def test_no_scenario_lies_in_two_folds(rng):
    scenarios = rng.integers(0, 11, 200)
    folds = grouped_folds(scenarios, seed=3)
    assert all(len(set(folds[scenarios == s])) == 1 for s in range(11))
    assert set(folds) == set(range(5))


def test_balanced_accuracy_is_that_of_scikit_learn(rng):
    labels, guesses = rng.integers(0, 4, 90), rng.normal(size=(90, 4))
    measure = ScoreKind("balanced accuracy", rng.integers(0, 6, 90), 4)
    table = measure.table(guesses, labels[:, None])
    assert table.rate[0] == pytest.approx(balanced_accuracy_score(labels, guesses.argmax(axis=1)))


def test_the_auc_is_that_of_each_scenario_weighted_by_its_items(rng):
    scenarios = np.repeat([0, 1, 2], [20, 30, 10])
    labels, guesses = rng.integers(0, 2, 60), np.round(rng.normal(size=60), 1)
    found = ScoreKind("AUC", scenarios, 2).table(guesses[:, None], labels[:, None]).rate[0]
    parts = [roc_auc_score(labels[scenarios == s], guesses[scenarios == s]) for s in range(3)]
    assert found == pytest.approx(np.average(parts, weights=[20, 30, 10]))


def test_an_auc_by_place_compares_within_places_and_counts_by_scenario(rng):
    scenarios, places = np.repeat([0, 1], 40), np.repeat(np.arange(4), 20)
    labels = rng.random(80) < np.repeat([0.3, 0.7, 0.2, 0.8], 20)
    guesses = places + np.round(rng.normal(size=80), 1)
    one = labels.astype(np.int64)[:, None]
    found = ScoreKind("AUC", scenarios, 2, places).table(guesses[:, None], one)
    parts = [roc_auc_score(labels[places == p], guesses[places == p]) for p in range(4)]
    assert found.hits.shape == (1, 2, 1)
    assert found.hits[0, :, 0] / 40 == pytest.approx([np.mean(parts[:2]), np.mean(parts[2:])])
    assert ScoreKind("AUC", scenarios, 2).table(guesses[:, None], one).rate[0] > found.rate[0]


def test_a_scenario_with_one_goal_counts_for_nothing():
    measure = ScoreKind("AUC", np.array([0, 0, 1, 1]), 2)
    table = measure.table(np.array([[0.0], [1], [9], [9]]), np.array([[0], [1], [1], [1]]))
    assert table.rate[0] == 1.0


def test_several_labellings_are_counted_as_each_by_itself(rng):
    scenarios, labels = rng.integers(0, 5, 80), rng.integers(0, 3, (80, 4))
    measure = ScoreKind("balanced accuracy", scenarios, 3)
    guesses = rng.normal(size=(80, 12))
    together = measure.table(guesses, labels).rate
    alone = [
        measure.table(guesses[:, 3 * n : 3 * n + 3], labels[:, n : n + 1]).rate[0] for n in range(4)
    ]
    assert together.tolist() == pytest.approx(alone)


def test_goals_are_swapped_within_pairs_and_a_case_keeps_one_for_all_its_items(rng):
    cases = np.repeat(np.arange(8), 3)
    pairs, labels = cases // 2, cases % 2
    drawn = SwappedGoals(labels, cases, pairs, cases // 4).draw(rng, 50)
    for column in drawn.T:
        per_case = [set(column[cases == case]) for case in range(8)]
        assert all(len(found) == 1 for found in per_case)
        assert all(per_case[2 * p] | per_case[2 * p + 1] == {0, 1} for p in range(4))
    assert 0.3 < np.mean(drawn[0] == labels[0]) < 0.7


def test_goals_without_a_partner_are_dealt_out_in_their_scenario(rng):
    labels = np.array([0, 1, 1, 0, 0, 1])
    scenarios = np.array([0, 0, 0, 1, 1, 1])
    each = np.arange(6)
    drawn = SwappedGoals(labels, each, each, scenarios).draw(rng, 40)
    assert set(drawn[:3].sum(axis=0)) == {2}
    assert set(drawn[3:].sum(axis=0)) == {1}
    assert len({tuple(column) for column in drawn.T}) > 4


def test_labels_stay_in_their_scenario_and_those_of_a_block_together(rng):
    blocks = np.repeat(np.arange(10), 2)
    scenarios = np.repeat([0, 1], 10)
    labels = blocks.copy()
    drawn = DealtLabels(labels, blocks, np.arange(20), scenarios).draw(rng, 30)
    for column in drawn.T:
        assert set(column[:10]) == set(range(5))
        assert all(column[2 * b] == column[2 * b + 1] for b in range(10))


def test_what_two_cases_share_stays_together_where_blocks_have_different_lengths(rng):
    turns = [turn for answers in (1, 3, 2, 1, 2, 3) for turn in range(answers)]
    blocks = np.repeat(np.cumsum(np.array(turns) == 0) - 1, 2)
    labels = np.repeat(np.arange(len(turns)), 2)
    # As in a corpus: all answers of one case, then all of the other.
    case = np.tile([0, 1], len(turns))
    order = np.lexsort((np.arange(len(case)), case, blocks))
    turn, case = np.repeat(turns, 2)[order], case[order]
    drawn = DealtLabels(labels[order], blocks[order], turn * 2 + case, blocks * 0).draw(rng, 30)
    for column in drawn.T:
        told = {(b, t): set() for b, t in zip(blocks[order], turn, strict=True)}
        for b, t, label in zip(blocks[order], turn, column, strict=True):
            told[b, t].add(label)
        assert all(len(found) == 1 for found in told.values())
    assert len({tuple(column) for column in drawn.T}) == 30


def test_sides_of_one_place_are_swapped_together(rng):
    places = np.array([0, 0, 1, 2, 2])
    drawn = SwappedSides(places).draw(rng, 20)
    assert set(drawn.ravel()) == {-1, 1}
    assert (drawn[0] == drawn[1]).all()
    assert (drawn[3] == drawn[4]).all()


def _probe(rng, tells: float):
    pairs = np.repeat(np.arange(120), 2)
    labels, scenarios = np.tile([0, 1], 120), np.repeat(np.arange(12), 20)
    features = rng.normal(size=(240, 3)) + tells * labels[:, None]
    fit = CrossFit(features, grouped_folds(scenarios, 0))
    measure = ScoreKind("AUC", scenarios, 2)
    value = float(measure.table(fit.scores(measure.targets(labels[:, None])), labels[:, None]).rate)
    null = SwappedGoals(labels, np.arange(240), pairs, scenarios)
    return against_chance(fit, measure, null, value, seed=1, most=999)


def test_drawing_stops_early_where_chance_does_as_well(rng):
    idle = _probe(rng, 0.0)
    assert idle.draws < 999
    assert idle.p > 0.05
    assert 0.45 < idle.mean < 0.55


def test_what_chance_never_reaches_has_the_smallest_p_value(rng):
    told = _probe(rng, 1.0)
    assert (told.draws, told.p) == (999, 0.001)


def test_of_many_probes_chance_is_asked_until_the_smallest_p_value_survives_the_correction(rng):
    scenarios, labels = np.repeat(np.arange(4), 4), np.tile([0, 1], 8)
    fit = CrossFit(rng.normal(size=(16, 1)), grouped_folds(scenarios, 0))
    measure = ScoreKind("AUC", scenarios, 2)
    null = SwappedGoals(labels, np.arange(16), np.repeat(np.arange(8), 2), scenarios)
    never = against_chance(fit, measure, null, 2.0, seed=1, most=2_500)
    assert (never.draws, never.p) == (2_500, pytest.approx(1 / 2_501))
    assert holm([never.p, *[1.0] * 99])[0] < 0.05


def test_the_p_value_of_nothing_is_small_no_oftener_than_it_says():
    ps = np.array([_probe(np.random.default_rng(seed), 0.0).p for seed in range(60)])
    assert np.mean(ps <= 0.1) <= 0.2
    assert np.mean(ps <= 0.5) >= 0.3
    assert rankdata(ps).max() > 30


def test_the_majority_of_the_scenario_never_looks_at_the_own_pair():
    scenarios, blocks = np.repeat([0, 1], 4), np.arange(8)
    told = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    assert majority_in_scenario(told, scenarios, blocks, 2) == 1.0
    assert majority_in_scenario(told, scenarios, scenarios, 2) == 0.5
    assert majority_in_scenario(np.array([0, 1] * 4), scenarios, blocks, 2) == 0.5


def test_few_scenarios_leave_a_wide_margin(rng):
    def spread(count):
        scenarios = np.repeat(np.arange(count), 30)
        labels = rng.integers(0, 2, len(scenarios))
        table = ScoreKind("AUC", scenarios, 2).table(
            rng.normal(size=(len(scenarios), 1)), labels[:, None]
        )
        return over_scenarios(type(table)(table.hits[0], table.chances[0]), Resampling(300, 1))

    few, many = spread(3), spread(30)
    assert few.margin(0.001) > 3 * many.margin(0.001) > 0
    assert many.interval.low < 0.5 < many.interval.high


def test_a_few_permutations_at_a_time_reach_what_all_at_once_do(rng, monkeypatch):
    scenarios = np.repeat(np.arange(30), 300)
    labels, blocks = rng.integers(0, 3, 9_000), np.arange(9_000)
    fit = CrossFit(rng.normal(size=(9_000, 2)), grouped_folds(scenarios, seed=1))
    measure = ScoreKind("balanced accuracy", scenarios, 3)
    null = DealtLabels(labels, blocks, np.zeros(9_000, np.int64), scenarios)
    held = []
    scores = CrossFit.scores

    def seen(self, targets):
        held.append(targets.size)
        return scores(self, targets)

    monkeypatch.setattr(CrossFit, "scores", seen)
    few = against_chance(fit, measure, null, 2.0, seed=1, most=200)
    assert max(held) <= 2_000_000
    monkeypatch.setattr("outputs.audit.significance._CELLS", 10**9)
    assert against_chance(fit, measure, null, 2.0, seed=1, most=200) == few
