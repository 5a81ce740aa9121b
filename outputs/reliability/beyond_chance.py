"""Figures that stand beside agreement: kappa, agreement by the scene alone, and runners-up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from outputs.reliability.judge_agreement import kappa
from pipeline.store.queries.report_rows import NamedCount
from quality.judges.comparison import agrees
from scenarios.schemes.model import Dimension, Scheme
from scenarios.terms import LabelValue
from scenarios.verdicts import Source

SHUFFLES: Final = 100
"""How often declared labels are shuffled, from the same seed each time."""
_SEED: Final = 42


@dataclass(frozen=True, slots=True)
class BeyondChance:
    """How far one judge finds declared labels again, beside what would come of itself."""

    source: Source
    judge: str
    dimension: str
    items: int
    same: float
    """Share of items on which the judge names the declared label."""
    kappa: float | None
    """Cohen's kappa; None for numbers, or where both gave one label throughout."""
    shuffled: float | None
    """Mean share that is the same after declared labels are shuffled among the items of the same
    scenario and goal (goals: of the same scenario): what a judge reaches who knows which labels
    are usual there, and reads nothing. What has nothing to change places with does not count: an
    item that is alone there, and a scenario that was played for one goal. None: nothing has."""
    runner_up: float | None
    """Of the items with another label and a runner-up, the share whose runner-up is the declared
    one; None: there is no such item."""


def beyond_chance(scheme: Scheme, counts: Iterable[NamedCount]) -> tuple[BeyondChance, ...]:
    """Return the figures by judge and dimension, in the order of the scheme."""
    grouped: defaultdict[tuple[Source, str, str], list[NamedCount]] = defaultdict(list)
    for count in counts:
        grouped[count.source, count.judge, count.dimension].append(count)
    known = {dimension.id: dimension for dimension in scheme.declared}
    order = [d.id for d in scheme.utterance_dimensions]
    order += [scheme.assigned] if scheme.assigned else []
    keys = sorted(
        (key for key in grouped if key[2] in order),
        key=lambda key: (key[0] != "self", key[1], order.index(key[2])),
    )
    return tuple(_figures(known[key[2]], grouped[key], *key) for key in keys)


def _figures(
    dimension: Dimension, counts: Sequence[NamedCount], source: Source, judge: str, name: str
) -> BeyondChance:
    declared = _codes(count.declared for count in counts)
    named = _codes(count.named for count in counts)
    alike = np.array([[agrees(dimension, one, two) for two in named] for one in declared])
    table = np.zeros(alike.shape)
    for count in counts:
        table[declared[count.declared], named[count.named]] += count.n
    items = int(table.sum())
    missed = [
        (agrees(dimension, count.declared, count.second), count.n)
        for count in counts
        if count.second is not None and not agrees(dimension, count.declared, count.named)
    ]
    chances = sum(n for _, n in missed)
    return BeyondChance(
        source=source,
        judge=judge,
        dimension=name,
        items=items,
        same=float(table[alike].sum() / items),
        kappa=None if dimension.measurement == "interval" else _kappa(counts),
        shuffled=_shuffled(dimension, counts, declared, named, alike),
        runner_up=sum(n for hit, n in missed if hit) / chances if chances else None,
    )


def _codes(values: Iterable[LabelValue]) -> dict[LabelValue, int]:
    return {value: code for code, value in enumerate(dict.fromkeys(values))}


def _kappa(counts: Sequence[NamedCount]) -> float | None:
    labels = _codes(value for count in counts for value in (count.declared, count.named))
    table = [[0] * len(labels) for _ in labels]
    for count in counts:
        table[labels[count.declared]][labels[count.named]] += count.n
    return kappa(table)


def _shuffled(
    dimension: Dimension,
    counts: Sequence[NamedCount],
    declared: dict[LabelValue, int],
    named: dict[LabelValue, int],
    alike: np.typing.NDArray[np.bool_],
) -> float | None:
    strata: defaultdict[tuple[str, str], list[NamedCount]] = defaultdict(list)
    for count in counts:
        # Within one goal there is one label of it: goals are shuffled within scenarios.
        goal = count.goal if dimension.level == "utterance" else ""
        strata[count.scenario, goal].append(count)
    draw = np.random.default_rng(_SEED)
    same, items = 0, 0
    for stratum in strata.values():
        each = [count.n for count in stratum]
        first = np.repeat([declared[count.declared] for count in stratum], each)
        second = np.repeat([named[count.named] for count in stratum], each)
        if len(set(first) if dimension.level == "dialogue" else first) < 2:
            continue
        items += len(first)
        shuffled = draw.permuted(np.tile(first, (SHUFFLES, 1)), axis=1)
        same += int(alike[shuffled, second].sum())
    return same / (items * SHUFFLES) if items else None
