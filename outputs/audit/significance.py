"""What chance makes of a probe: permutation p-values, bounds over scenarios."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, repeat

import numpy as np

from outputs.audit.cross_fit import CrossFit, Integers
from outputs.audit.measures import HitTable, ScoreKind, mean_rate
from outputs.audit.null_labels import NullLabels
from quality.statistics.bootstrap import Floats, Interval, Resampling, interval, resample

ALPHA = 0.05
MOST_DRAWS = 999
"""Permutations of a probe that chance does not soon explain: the smallest p-value is 1 in 1,000."""
_ENOUGH = 10
"""Permutations that do as well as the labels themselves, after which no more are drawn."""
_STEPS = (20, 40, 100, 200, 320)
"""Permutations drawn between two looks at whether they are enough; after these as many as last."""
_CELLS = 2_000_000
"""Numbers held in memory at a time."""


@dataclass(frozen=True, slots=True)
class ChanceResult:
    """What a probe reaches with permuted labels."""

    p: float
    """How often chance does as well, at least."""
    mean: float
    spread: float
    """Standard deviation."""
    draws: int


def against_chance(
    fit: CrossFit, measure: ScoreKind, null: NullLabels, value: float, *, seed: int, most: int
) -> ChanceResult:
    """Fit the probe to permuted labels until it is clear whether chance explains what it reaches.

    Drawing stops at the tenth permutation that does as well as the labels themselves: with L of
    them drawn by then the p-value is 10/L, which is as valid as one from a fixed number, and a
    probe that finds nothing takes a few dozen. Source: Besag and Clifford (1991), Biometrika 78.

    Args:
        fit: the prepared probe.
        measure: how guesses are counted.
        null: what draws labels.
        value: what the probe reaches with the labels themselves.
        seed: of the permutations.
        most: permutations at most.
    """
    rng = np.random.default_rng(seed)
    reached: list[float] = []
    for step in chain(_STEPS, repeat(_STEPS[-1])):
        wanted = min(step, most - len(reached))
        while wanted > 0:
            width = max(1, _CELLS // (len(measure.scenarios) * measure.columns))
            labels = null.draw(rng, min(wanted, width))
            wanted -= labels.shape[1]
            guesses = fit.scores(measure.targets(labels))
            reached += measure.table(guesses, labels).rate.tolist()
        as_good = np.flatnonzero(np.array(reached) >= value - 1e-9)
        if len(as_good) >= _ENOUGH or len(reached) >= most:
            break
    if len(as_good) >= _ENOUGH:
        p = _ENOUGH / float(as_good[_ENOUGH - 1] + 1)
    else:
        p = (len(as_good) + 1) / (len(reached) + 1)
    spread = float(np.std(reached, ddof=1)) if len(reached) > 1 else 0.0
    return ChanceResult(min(1.0, p), float(np.mean(reached)), spread, len(reached))


@dataclass(frozen=True, slots=True)
class ScenarioSpread:
    """How far the score of a probe would move with other scenarios."""

    interval: Interval | None
    """95 %, percentile bootstrap; None for fewer than two scenarios."""
    error: float
    """Standard error, by the same bootstrap."""
    scenarios: int
    """Scenarios with a chance to be right."""

    def margin(self, alpha: float) -> float:
        """Return how far below the score the truth may lie, but for a chance of ``alpha``.

        By Student's t with one degree of freedom fewer than scenarios: percentiles so far out are
        beyond what a bootstrap over a few dozen scenarios knows.
        """
        from scipy.stats import t  # noqa: PLC0415 heavy, comes with the extra audit

        if self.scenarios < 2:
            return float("inf")
        return float(t.ppf(1 - alpha, self.scenarios - 1)) * self.error


def over_scenarios(table: HitTable, how: Resampling) -> ScenarioSpread:
    """Resample whole scenarios with replacement.

    Args:
        table: of one labelling, shape ``(scenarios, classes)``.
        how: how often and from which seed.
    """

    def estimate(weights: Floats) -> Floats:
        return mean_rate(weights @ table.hits, weights @ table.chances)

    there = int((table.chances.sum(axis=1) > 0).sum())
    draws = resample(estimate, len(table.hits), how)[:, 0]
    defined = draws[np.isfinite(draws)]
    error = float(np.std(defined, ddof=1)) if len(defined) > 1 else 0.0
    return ScenarioSpread(interval(draws, how.coverage, there) if there > 1 else None, error, there)


def visible(chance: ChanceResult, spread: ScenarioSpread, alpha: float) -> float | None:
    """Return the smallest difference from chance that could have been told from chance.

    The larger of what permuted labels reach by chance and of what the scenarios leave open. None:
    there are too few scenarios to tell anything.
    """
    from scipy.stats import norm  # noqa: PLC0415 heavy, comes with the extra audit

    margin = spread.margin(alpha)
    if not np.isfinite(margin):
        return None
    return max(float(norm.ppf(1 - alpha)) * chance.spread, margin)


def majority_in_scenario(
    labels: Integers, scenarios: Integers, blocks: Integers, classes: int
) -> float:
    """Return the balanced accuracy of the commonest label in the rest of the scenario.

    What an item is guessed from are the labels of all other blocks (pairs of cases) of its
    scenario, never its own. Guessing one label throughout reaches one over the classes, so it is
    never less than that.
    """
    count = int(scenarios.max()) + 1
    whole = np.zeros((count, classes))
    np.add.at(whole, (scenarios, labels), 1)
    own = np.zeros((int(blocks.max()) + 1, classes))
    np.add.at(own, (blocks, labels), 1)
    common = np.bincount(labels, minlength=classes) / len(labels)
    # Ties go to the label that is commoner everywhere.
    guesses = (whole[scenarios] - own[blocks] + 1e-3 * common).argmax(axis=1)
    hits = np.bincount(labels, weights=guesses == labels, minlength=classes).astype(np.float64)
    chances = np.bincount(labels, minlength=classes).astype(np.float64)
    return max(1 / classes, float(mean_rate(hits[None], chances[None])[0]))
