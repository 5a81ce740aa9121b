"""How often the intervals of an evaluation hold the truth: ``python -m benchmarks interval_coverage``.

Answers are simulated: scenarios differ in how hard they are, cases within a scenario do, and items
of a case stand and fall together. The truth is known, so it can be counted how often an interval
that says 95 % holds it: over scenarios for the whole population, over cases for these scenarios,
and, as a warning, over items as if they were independent.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.report import Goal, Row
from quality.evaluation.answers import Grouping, ScoredAnswer
from quality.evaluation.scores import ClusteredEstimate, Scores
from quality.evaluation.scoring import ScoreKey, score
from quality.statistics.bootstrap import Resampling

LABELS = ("a", "b", "c")
SHARES = (0.6, 0.3, 0.1)
LEVELS = (0.8, 0.6, 0.5)
"""The mean chance to be right, by label."""
SPREAD = (0.12, 0.15)
"""Standard deviation of that chance between scenarios, and between the cases of one."""
CASES, ITEMS = 6, 4
"""Cases of a scenario, and items of a case."""
KEY = ScoreKey("declared", "simulated", "zero-shot", "nobody", "d")
HOW = Resampling(resamples=2_000)


@dataclass
class Held:
    """How often each kind of interval held the truth."""

    sets: int = 0
    by_scenario: int = 0
    by_case: int = 0
    by_item: int = 0
    macro_f1: int = 0


def run(*, quick: bool = False) -> list[Row]:
    """Simulate sets of 10 to 60 scenarios; the goal is on those of enough of them."""
    repeats = 20 if quick else 500
    truth = true_figures()
    rows = [
        Row("accuracy in the population", truth[0]),
        Row("macro-F1 in the population", truth[1]),
    ]
    for scenarios in (10, 20, 31, 60):
        held = Held()
        for number in range(repeats):
            count(held, scenarios, np.random.default_rng([scenarios, number]), truth)
        # 95 % less three standard errors of the count itself, and what few clusters take away.
        goal = Goal.above(0.91 - 3 * (0.05 * 0.95 / repeats) ** 0.5) if scenarios >= 20 else None
        rows += [
            Row(f"{scenarios} scenarios: over scenarios, accuracy held", held.by_scenario / repeats,
                goal=goal),
            Row(f"{scenarios} scenarios: over scenarios, macro-F1 held", held.macro_f1 / repeats),
            Row(f"{scenarios} scenarios: over cases, accuracy of these scenarios held",
                held.by_case / repeats, goal=goal),
            Row(f"{scenarios} scenarios: over items one by one, accuracy held",
                held.by_item / repeats),
        ]  # fmt: skip
    return [*rows, *full_size()]


def full_size() -> list[Row]:
    """Measure how long one table takes of as many items as the paper's corpus has, with groups."""
    rng = np.random.default_rng(0)
    answers = []
    for number in range(10_438):
        case = number * 1_131 // 10_438
        groups: dict[Grouping, str] = {
            "category": str(case % 5),
            "turn": str(number % 7),
            "goal": str(case % 2),
            "strategy": str(case % 3),
        }
        right, given = rng.choice(LABELS, size=2)
        answers.append(
            ScoredAnswer(
                f"i{number}",
                f"c{case}",
                f"s{case % 31}",
                "d",
                str(right),
                str(given),
                groups=groups,
            )
        )
    start = time.perf_counter()
    score(KEY, answers, LABELS)
    seconds = time.perf_counter() - start
    name = "10,438 items, 1,131 cases, 31 scenarios, 18 groups: one table, 10,000 resamples"
    return [Row(name, seconds, " s")]


def count(held: Held, scenarios: int, rng: np.random.Generator, truth: tuple[float, float]) -> None:
    """Simulate one set and count which of its intervals hold what is true."""
    answers, these = simulated(scenarios, rng)
    found = score(KEY, answers, LABELS, how=HOW)
    one_by_one = [replace(answer, case=answer.item, scenario=answer.item) for answer in answers]
    held.sets += 1
    held.by_scenario += holds(found, "accuracy", "by_scenario", truth[0])
    held.macro_f1 += holds(found, "macro_f1", "by_scenario", truth[1])
    held.by_case += holds(found, "accuracy", "by_case", these)
    alone = score(KEY, one_by_one, LABELS, how=HOW)
    held.by_item += holds(alone, "accuracy", "by_case", truth[0])


def holds(found: Scores, figure: str, kind: str, truth: float) -> bool:
    """Return whether an interval holds the truth."""
    estimate: ClusteredEstimate = getattr(found, figure)
    interval = getattr(estimate, kind)
    return interval is not None and interval.low <= truth <= interval.high


def simulated(scenarios: int, rng: np.random.Generator) -> tuple[list[ScoredAnswer], float]:
    """Return the answers of one set, and the accuracy in the long run on its scenarios."""
    harder = rng.normal(0, SPREAD[0], scenarios)
    true, said = drawn(harder, CASES, rng)
    answers = []
    for number, (right, given) in enumerate(zip(true.ravel(), said.ravel(), strict=True)):
        case = number // ITEMS
        answers.append(
            ScoredAnswer(
                item=f"i{number}",
                case=f"c{case}",
                scenario=f"s{case // CASES}",
                dimension="d",
                reference=LABELS[right],
                answer=LABELS[given],
            )
        )
    long_true, long_said = drawn(harder, 400, rng)
    return answers, float((long_true == long_said).mean())


def drawn(
    harder: np.typing.NDArray[np.float64], cases: int, rng: np.random.Generator
) -> tuple[np.typing.NDArray[np.intp], np.typing.NDArray[np.intp]]:
    """Draw right and given labels, shape ``(scenarios, cases, items)``."""
    shape = (len(harder), cases, ITEMS)
    true = rng.choice(len(LABELS), size=shape, p=SHARES)
    shift = harder[:, None, None] + rng.normal(0, SPREAD[1], shape[:2])[:, :, None]
    chance = np.clip(np.array(LEVELS)[true] + shift, 0.02, 0.98)
    # Whoever is wrong gives one of the two other labels.
    other = (true + rng.integers(1, len(LABELS), size=shape)) % len(LABELS)
    return true, np.where(rng.random(shape) < chance, true, other)


def true_figures() -> tuple[float, float]:
    """Return accuracy and macro-F1 of the population, from many scenarios."""
    rng = np.random.default_rng(1)
    true, said = drawn(rng.normal(0, SPREAD[0], 20_000), 25, rng)
    f1 = [
        2
        * ((true == label) & (said == label)).sum()
        / ((true == label).sum() + (said == label).sum())
        for label in range(len(LABELS))
    ]
    return float((true == said).mean()), float(np.mean(f1))
