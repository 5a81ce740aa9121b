"""How often intervals of agreement, of judges and of shares hold the truth.

``python -m benchmarks agreement_coverage`` simulates three raters who know the right one of four
labels (one of them has 5 % of all answers) with a known chance, on items that stand alone and on
dialogues of three answers that are easy or hard together; and shares over clusters, some of them
near 1. It counts how often an interval that says 95 % holds what is true. Macro-F1 is that of the
labels that occur in a set, and counts where each of them occurs more than once, as the remark of an
evaluation says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from benchmarks.report import Goal, Row
from outputs.reliability.judge_agreement import Count, shares
from quality.agreement.agreement import STATISTICS_BY_MEASUREMENT, dimension_agreement
from quality.agreement.annotations import Answer
from quality.agreement.labels import label_agreement
from quality.evaluation.answers import ScoredAnswer
from quality.evaluation.scoring import ScoreKey, score
from quality.statistics.bootstrap import Interval, Resampling
from scenarios.schemes.model import Dimension, Label

LABELS = ("a", "b", "c", "rare")
SHARES = (0.45, 0.3, 0.2, 0.05)
RATERS, LEVEL, SPREAD = 3, 0.7, 0.25
"""Raters of an item, their chance to know its label, and its standard deviation over dialogues."""
SETS = ((24, 1, 0.0), (60, 1, 0.0), (200, 1, 0.0), (30, 3, SPREAD))
"""Dialogues, items of each, and how far dialogues differ."""
CLUSTERS = ((10, 2, 0.9), (24, 2, 0.9), (31, 6, 0.8), (24, 2, 0.97), (24, 1, 0.97))
"""Scenarios, judgements in each, and the share that is confirmed."""
DIMENSION = Dimension(
    id="d",
    level="utterance",
    question="Which?",
    labels=tuple(Label(id=label, definition="A label.") for label in LABELS),
)
KEY = ScoreKey("declared", "simulated", "zero-shot", "nobody", "d")
HOW = Resampling(resamples=1_000)
LEAST = 0.93
Codes = NDArray[np.intp]


def run(*, quick: bool = False) -> list[Row]:
    """Simulate sets of every size."""
    repeats = 20 if quick else 1_000
    goal = Goal.above(LEAST - (0.2 if quick else 0.0))
    rows = []
    for dialogues, size, spread in SETS:
        held, given = _counted(dialogues, size, spread, repeats)
        name = f"{dialogues} items" if size == 1 else f"{dialogues} dialogues of {size}"
        rows += [
            Row(f"{name}: {figure}, held of {given[figure]:,} intervals", held[figure] / some,
                goal=goal)
            for figure, some in given.items()
        ]  # fmt: skip
    for scenarios, size, share in CLUSTERS:
        held_share = _shares_held(scenarios, size, share, 2 * repeats)
        name = f"{scenarios} scenarios of {size}, {share:.0%} confirmed: share held"
        rows.append(Row(name, held_share, goal=goal))
    return rows


def _counted(
    dialogues: int, size: int, spread: float, repeats: int
) -> tuple[Counter[str], Counter[str]]:
    """Return how many intervals of each figure hold the truth, and how many there are."""
    truth, f1 = true_figures(size, spread)
    held: Counter[str] = Counter()
    given: Counter[str] = Counter()
    for number in range(repeats):
        right, said = drawn(dialogues, size, spread, np.random.default_rng([dialogues, number]))
        support = np.bincount(right.ravel(), minlength=len(LABELS))
        true = {**truth, "macro-F1": float(f1[support > 0].mean())}
        for figure, bounds in _intervals(right, said):
            if bounds is None or (figure == "macro-F1" and (support == 1).any()):
                continue
            given[figure] += 1
            held[figure] += bounds.low <= true[figure] <= bounds.high
    return held, given


def _intervals(right: Codes, said: Codes) -> Iterator[tuple[str, Interval | None]]:
    for row in dimension_agreement(DIMENSION, answers(said), how=HOW):
        yield row.statistic, row.interval
    rare = label_agreement(DIMENSION, answers(said), how=HOW)[-1]
    yield "specific agreement, rare label", rare.specific_interval
    yield "alpha of the rare label", rare.alpha_interval
    scored = [
        ScoredAnswer(f"{d}.{i}", f"{d}", f"{d}", "d", LABELS[right[d, i]], LABELS[said[d, i, 0]])
        for d in range(right.shape[0])
        for i in range(right.shape[1])
    ]
    found = score(KEY, scored, LABELS, how=HOW)
    yield "accuracy", found.accuracy.by_case
    yield "macro-F1", found.macro_f1.by_case
    yield "F1 of the rare label", found.classes[-1].f1.by_case


def drawn(
    dialogues: int, size: int, spread: float, rng: np.random.Generator
) -> tuple[Codes, Codes]:
    """Draw right labels, shape ``(dialogues, size)``, and answers, ``(dialogues, size, raters)``."""
    right = rng.choice(len(LABELS), size=(dialogues, size), p=SHARES)
    chance = np.clip(LEVEL + spread * rng.normal(size=(dialogues, 1, 1)), 0.05, 0.98)
    other = rng.choice(len(LABELS), size=(dialogues, size, RATERS), p=SHARES)
    knows = rng.random(other.shape) < chance
    return right, np.where(knows, right[:, :, None], other)


def answers(said: Codes) -> list[Answer]:
    """Return the answers of all raters in long form."""
    return [
        Answer(f"{d}#{i}", "d", f"rater {rater}", LABELS[said[d, i, rater]], f"{d}")
        for d, i, rater in np.ndindex(*said.shape)
    ]


def true_figures(size: int, spread: float) -> tuple[Mapping[str, float], NDArray[np.float64]]:
    """Return the figures of the population, and the F1 of every label, from many dialogues."""
    right, said = drawn(400_000 // size, size, spread, np.random.default_rng(0))
    first = said[:, :, 0]
    f1 = np.array([
        2 * ((right == k) & (first == k)).sum() / ((right == k).sum() + (first == k).sum())
        for k in range(len(LABELS))
    ])  # fmt: skip
    statistics = STATISTICS_BY_MEASUREMENT[DIMENSION.measurement]
    truth = {name: _population(name, said) for name in statistics}
    truth |= _rare_label(said)
    truth |= {"accuracy": float((first == right).mean()), "F1 of the rare label": float(f1[-1])}
    return truth, f1


def _rare_label(said: Codes) -> Mapping[str, float]:
    """Return the two figures of the last label of so many items that corrections vanish."""
    given = (said == len(LABELS) - 1).sum(axis=-1)
    specific = float((given * (given - 1)).sum() / (given.sum() * (RATERS - 1)))
    chance = float(given.mean()) / RATERS
    return {
        "specific agreement, rare label": specific,
        "alpha of the rare label": (specific - chance) / (1 - chance),
    }


def _population(statistic: str, said: Codes) -> float:
    """Return an agreement statistic of so many items that its corrections vanish."""
    pairs = [(0, 1), (0, 2), (1, 2)]
    observed = float(np.mean([(said[..., i] == said[..., j]).mean() for i, j in pairs]))
    if statistic == "percent agreement":
        return observed
    if statistic == "Randolph kappa":
        return (observed - 1 / len(LABELS)) / (1 - 1 / len(LABELS))
    chance = float((np.bincount(said.ravel()) ** 2).sum()) / said.size**2
    return (observed - chance) / (1 - chance)


def _shares_held(scenarios: int, size: int, share: float, repeats: int) -> float:
    held = 0
    for number in range(repeats):
        rng = np.random.default_rng([scenarios, size, number])
        chances = rng.beta(20 * share, 20 * (1 - share), scenarios)
        counts = [Count(str(i), int(rng.binomial(size, p)), size) for i, p in enumerate(chances)]
        bounds = shares({"all": counts}, HOW)["all"].interval
        held += bounds is not None and bounds.low <= share <= bounds.high
    return held / repeats
