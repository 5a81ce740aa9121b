import numpy as np
import pytest

from quality.statistics import bootstrap
from quality.statistics.bootstrap import (
    Resampling,
    even_share_interval,
    interval,
    intervals,
    resample,
    share_interval,
)


def mean_of(values):
    x = np.asarray(values, dtype=float)
    return lambda weights: weights @ x / weights.sum(axis=1)


def test_resampling_by_weights_is_resampling_by_rows():
    x = np.arange(9.0) ** 2
    drawn = np.random.default_rng(7).integers(9, size=(50, 9))
    found = resample(mean_of(x), 9, Resampling(resamples=50, seed=7))
    assert found[:, 0] == pytest.approx(x[drawn].mean(axis=1))


def test_how_many_resamples_fit_into_memory_changes_nothing(monkeypatch):
    whole = resample(mean_of(range(10)), 10, Resampling(resamples=25))
    monkeypatch.setattr(bootstrap, "_CELLS", 70)
    assert np.array_equal(resample(mean_of(range(10)), 10, Resampling(resamples=25)), whole)


def test_the_interval_of_a_mean_is_that_of_theory():
    x = np.random.default_rng(1).normal(size=400)
    (found,) = intervals(mean_of(x), 400, Resampling(resamples=4000))
    half = 1.96 * x.std() / 20
    assert found.low == pytest.approx(x.mean() - half, abs=0.006)
    assert found.high == pytest.approx(x.mean() + half, abs=0.006)


def test_undefined_resamples_are_left_out_unless_they_are_most():
    draws = np.array([np.nan, 0.0, 1.0, 2.0])
    found = interval(draws, 0.5, 10**9)
    assert (found.low, found.high) == pytest.approx((0.5, 1.5))
    assert interval(np.array([np.nan, np.nan, np.nan, 1.0]), 0.5, 10**9) is None


def test_items_of_one_cluster_are_drawn_together():
    x, how = np.random.default_rng(3).normal(size=20), Resampling(resamples=50)
    thrice = resample(mean_of(np.repeat(x, 3)), 60, how, np.repeat(np.arange(20), 3))
    assert thrice == pytest.approx(resample(mean_of(x), 20, how))


@pytest.mark.parametrize("clusters", [4, 10, 30, 1000])
def test_percentiles_of_few_clusters_are_taken_further_out_as_students_t_is(clusters):
    stats = pytest.importorskip("scipy.stats")
    draws = np.linspace(0, 1, 100_001)
    t = stats.t.ppf(0.975, clusters - 1) * (clusters / (clusters - 1)) ** 0.5
    assert interval(draws, 0.95, clusters).low == pytest.approx(stats.norm.cdf(-t), rel=0.15)


def test_a_share_without_any_exception_has_an_interval_with_width():
    found = share_interval(np.full(100, 1.0), 1.0, 24, 0.95)
    assert (found.low, found.high) == pytest.approx((0.025 ** (1 / 24), 1.0))
    found = share_interval(np.full(100, 0.0), 0.0, 24, 0.95)
    assert (found.low, found.high) == pytest.approx((0.0, 1 - 0.025 ** (1 / 24)))

    proportions = pytest.importorskip("statsmodels.stats.proportion")
    found = share_interval(np.full(100, 0.5), 0.5, 24, 0.95)
    assert (found.low, found.high) == pytest.approx(
        proportions.proportion_confint(12, 24, method="wilson")
    )
    exact = even_share_interval(1.0, 24, 0.95)
    assert exact.low == pytest.approx(proportions.proportion_confint(24, 24, method="beta")[0])
    assert share_interval(np.full(100, 1.0), 1.0, 1, 0.95) is None


@pytest.mark.parametrize("items", [0, 1])
def test_fewer_than_two_items_have_no_interval(items):
    assert set(intervals(mean_of([1.0] * items), items, Resampling(resamples=3))) <= {None}


@pytest.mark.parametrize("wrong", [{"resamples": 0}, {"coverage": 1.0}, {"coverage": 0.0}])
def test_resampling_that_cannot_be_is_refused(wrong):
    with pytest.raises(ValueError, match="at least 1 resample"):
        Resampling(**wrong)


def test_an_end_that_no_draw_reaches_is_where_a_normal_distribution_has_it():
    draws = np.random.default_rng(2).normal(3, 1, 10_000)
    coverage = 1 - 2e-7
    found = interval(draws, coverage, 1_000_000, beyond=25)
    assert found.low < draws.min() < draws.max() < found.high
    assert (found.low, found.high) == pytest.approx((3 - 5.2, 3 + 5.2), abs=0.2)
    assert interval(draws, 0.95, 1_000, beyond=25) == interval(draws, 0.95, 1_000)
