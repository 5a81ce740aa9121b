"""Which dialogues a report shows: as different from each other as there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from pipeline.store.queries.report import Sample
from scenarios.spec import Scenario


def chosen(
    samples: Sequence[Sample], limit: int, scenarios: Mapping[str, Scenario]
) -> list[Sample]:
    """Choose samples one by one, always the one that resembles those before it least.

    What they may have in common is, in this order of weight: scenario, category, arm, goal,
    number of turns. The same samples give the same choice.
    """
    seen: Counter[tuple[str, object]] = Counter()
    left = list(samples)
    picked: list[Sample] = []
    while left and len(picked) < limit:
        best = min(left, key=lambda sample: _likeness(sample, scenarios, seen))
        left.remove(best)
        picked.append(best)
        seen.update(feature for feature, _ in _features(best, scenarios))
    return picked


def _likeness(
    sample: Sample, scenarios: Mapping[str, Scenario], seen: Counter[tuple[str, object]]
) -> int:
    return sum(weight * seen[feature] for feature, weight in _features(sample, scenarios))


def _features(
    sample: Sample, scenarios: Mapping[str, Scenario]
) -> tuple[tuple[tuple[str, object], int], ...]:
    known = scenarios.get(sample.scenario)
    return (
        (("scenario", sample.scenario), 20),
        (("category", known.category if known else ""), 6),
        (("arm", sample.arm), 5),
        (("goal", sample.goal), 4),
        (("turns", sample.turns), 3),
    )
