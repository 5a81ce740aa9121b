"""One probe on one dimension: what it reaches, and what chance and other scenarios make of that."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from outputs.audit.cross_fit import CrossFit
from outputs.audit.findings import Ceiling, ShortcutFinding
from outputs.audit.measures import ScoreKind
from outputs.audit.null_labels import NullLabels
from outputs.audit.probes import ProbeKind
from outputs.audit.significance import (
    ALPHA,
    MOST_DRAWS,
    ChanceResult,
    ScenarioSpread,
    against_chance,
    over_scenarios,
    visible,
)
from quality.statistics.bootstrap import Resampling
from quality.statistics.holm import holm

RESAMPLES = 1_000
_SHOWN_DRAWS = 40
"""Permutations of a probe that is only told: enough to say where chance lies."""


@dataclass(frozen=True, slots=True)
class ProbeReading:
    """What is guessed, for whom it counts, and what it is compared with."""

    probe: str
    about: str
    kind: ProbeKind
    dimension: str
    measure: ScoreKind
    labels: np.typing.NDArray[np.int64]
    null: NullLabels
    floor: float


@dataclass(frozen=True, slots=True)
class ReadingResult:
    """What a reading came to, before it is corrected for all the others."""

    reading: ProbeReading
    score: float
    chance: ChanceResult
    spread: ScenarioSpread


def read(reading: ProbeReading, fit: CrossFit, *, seed: int, planned: int) -> ReadingResult | None:
    """Guess the labels, and permuted ones.

    Args:
        reading: what is guessed.
        fit: the prepared features of its items.
        seed: of permutations and resamples.
        planned: how many readings are gated at most: p-values have to be fine enough for them.

    Returns:
        None where nothing can be counted, such as one goal only in every scenario.
    """
    labels = reading.labels[:, None]
    table = reading.measure.table(fit.scores(reading.measure.targets(labels)), labels)
    score = float(table.rate[0])
    if not math.isfinite(score):
        return None
    spread = over_scenarios(
        type(table)(table.hits[0], table.chances[0]), Resampling(RESAMPLES, seed)
    )
    most = _SHOWN_DRAWS
    if reading.kind == "must-not":
        most = max(MOST_DRAWS, math.ceil(1.25 * planned / ALPHA))
    chance = against_chance(fit, reading.measure, reading.null, score, seed=seed, most=most)
    return ReadingResult(reading, score, chance, spread)


def corrected(
    results: Sequence[ReadingResult], ceilings: dict[str, Ceiling]
) -> tuple[ShortcutFinding, ...]:
    """Correct what is gated for how many such readings there are."""
    gated = [result for result in results if result.reading.kind == "must-not"]
    adjusted = dict(zip(map(id, gated), holm([result.chance.p for result in gated]), strict=True))
    alpha = ALPHA / max(1, len(gated))
    return tuple(_finding(r, adjusted.get(id(r)), alpha, ceilings) for r in results)


def _finding(
    result: ReadingResult, p: float | None, alpha: float, ceilings: dict[str, Ceiling]
) -> ShortcutFinding:
    reading, spread = result.reading, result.spread
    margin = spread.margin(alpha)
    bound = max(0.0, result.score - margin) if p is not None else None
    ceiling = ceilings.get(reading.dimension)
    return ShortcutFinding(
        probe=reading.probe,
        about=reading.about,
        kind=reading.kind,
        dimension=reading.dimension,
        measure=reading.measure.name,
        items=len(reading.labels),
        scenarios=spread.scenarios,
        score=result.score,
        low=spread.interval.low if spread.interval else None,
        high=spread.interval.high if spread.interval else None,
        floor=reading.floor,
        chance=result.chance.mean,
        permutations=result.chance.draws,
        p=result.chance.p,
        p_corrected=p,
        bound=bound,
        visible=visible(result.chance, spread, alpha),
        ceiling=None if ceiling is None else ceiling.value,
        # Both: permuted labels do not get there, and neither do other scenarios.
        found=p is not None
        and p <= ALPHA
        and bound is not None
        and bound > max(result.chance.mean, reading.measure.chance),
    )
