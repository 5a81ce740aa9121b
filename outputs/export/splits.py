"""Split into train, validation and test by scenario, fact or dialogue, none of which two share."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from outputs.contamination.kept_together import AlikeScenarios
from outputs.kinds.split_shares import SPLITS, Fractions, Split, SplitBy
from pipeline.store.queries.export import GroupTally
from scenarios.case import Case
from scenarios.errors import RunError, UsageError
from scenarios.plural import plural

_PASSES = 20
_SWAPPED = 400
"""With more groups than this, groups are moved one by one and no longer swapped as well."""
_GAIN = 1e-9
_NOTHING: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class SplitPlan:
    """Which split every scenario, fact or dialogue of a scenario belongs to."""

    by: SplitBy
    fractions: Fractions
    seed: int
    groups: Mapping[str, Split]
    """By scenario, ``scenario/fact``, or ``scenario/case``."""
    together: tuple[AlikeScenarios, ...] = ()
    """Scenarios, or dialogues, that are in one split because they are alike."""
    across: int = 0
    """Dialogues that are nearly one of another split, all the same."""
    largest: float = 0.0
    """The share of the dialogues that is in the largest group."""

    @property
    def splits(self) -> tuple[Split, ...]:
        """The splits that something belongs to, in their usual order."""
        return tuple(s for s, f in zip(SPLITS, self.fractions, strict=True) if f > 0)

    def split_of(self, case: Case) -> Split:
        """Return the split of the dialogues of a case.

        Raises:
            RunError: the run did not have this scenario, fact or case when the splits were made.
        """
        group = group_of_case(self.by, case)
        if group not in self.groups:
            raise RunError(f"{group} was added to the run while it was exported; export it again")
        return self.groups[group]


def group_of(by: SplitBy, tally: GroupTally) -> str:
    """Return the name of what stays together."""
    return tally.scenario if by == "scenario" else f"{tally.scenario}/{tally.part}"


def group_of_case(by: SplitBy, case: Case) -> str:
    """Return the name of what the dialogues of a case stay together with."""
    if by == "scenario":
        return case.scenario
    return f"{case.scenario}/{case.fact if by == 'fact' else case.id}"


def plan_splits(
    tallies: Sequence[GroupTally],
    categories: Mapping[str, str],
    *,
    situations: Mapping[str, str],
    by: SplitBy,
    fractions: Fractions,
    seed: int,
    tags: Mapping[str, str] = _NOTHING,
    imported: bool = False,
) -> SplitPlan:
    """Divide groups so that categories, goals, labels and tags are spread as the whole is.

    Where dialogues are divided one by one, their languages are, too.

    Groups are dealt out in a seeded order, each to the split whose shares it brings nearest to
    what is asked for; then single groups are moved and swapped while that helps. The distance is a
    chi-square over the counts of each of these.

    Args:
        tallies: dialogues and labels by scenario and fact, or case.
        categories: of the scenarios.
        situations: the name of what every scenario, or dialogue, stays together with, see
            :func:`outputs.contamination.kept_together.led_by`.
        by: what must not be divided.
        fractions: see :func:`checked_fractions`.
        seed: of the order; the same seed divides the same tallies in the same way.
        tags: of the scenarios, where each has just one; else nothing.
        imported: whether all dialogues are, which may be divided one by one.

    Raises:
        UsageError: there are fewer groups than splits.
    """
    names = {group_of(by, tally) for tally in tallies}
    together = {name: situations.get(name, name) for name in names}
    named = {"category": categories, **({"tag": tags} if tags else {})}
    counts = _strata(tallies, named, by, together)
    groups = sorted(counts)
    used = [i for i, fraction in enumerate(fractions) if fraction > 0]
    if not groups:  # what is wrong is told where it is known
        return SplitPlan(by, fractions, seed, {})
    if len(groups) < len(used):
        told = plural(len(together), by)
        if len(together) > len(groups):
            told += f" that tell {plural(len(groups), 'situation')}"
        raise UsageError(
            f"{told} cannot be divided into {len(used)} splits, and none may be in two",
            f"{_finer(tallies, by, len(used), imported)}take fewer splits (--splits 100,0,0)",
        )
    random.Random(seed).shuffle(groups)
    division = _Division(
        _matrix([counts[group] for group in groups]),
        np.array([fractions[i] for i in used]),
    )
    places = division.divide()
    chosen = {group: SPLITS[used[place]] for group, place in zip(groups, places, strict=True)}
    divided = {group: chosen[leader] for group, leader in sorted(together.items())}
    return SplitPlan(by, fractions, seed, divided, largest=_largest(tallies, by, together))


def _largest(tallies: Sequence[GroupTally], by: SplitBy, together: Mapping[str, str]) -> float:
    """Return the share of the dialogues that is in the largest of the groups that are divided."""
    sizes = Counter[str]()
    for tally in tallies:
        if tally.dimension is None:
            sizes[together[group_of(by, tally)]] += tally.n
    return max(sizes.values(), default=0) / max(1, sizes.total())


def _finer(tallies: Sequence[GroupTally], by: SplitBy, splits: int, imported: bool) -> str:
    """Say what else could be divided into so many splits, if there is anything."""
    if imported and by != "dialogue":
        return "divide dialogues one by one (--split-by dialogue), or "
    facts = {(tally.scenario, tally.part) for tally in tallies}
    enough = by == "scenario" and len(facts) >= splits
    return "divide by facts (--split-by fact), or " if enough else ""


def _strata(
    tallies: Sequence[GroupTally],
    named: Mapping[str, Mapping[str, str]],
    by: SplitBy,
    together: Mapping[str, str],
) -> dict[str, Counter[tuple[str, str]]]:
    """Count each group by (kind, value): goal, every dimension, and what scenarios are called by."""
    counts: dict[str, Counter[tuple[str, str]]] = {}
    for tally in tallies:
        counter = counts.setdefault(together[group_of(by, tally)], Counter())
        if tally.dimension is None:
            counter["goal", tally.label] += tally.n
            for kind, of_scenario in named.items():
                counter[kind, of_scenario.get(tally.scenario, "")] += tally.n
            if by == "dialogue":
                counter["language", tally.language] += tally.n
        else:
            counter[f"label {tally.dimension}", tally.label] += tally.n
    return counts


def _matrix(counts: Sequence[Counter[tuple[str, str]]]) -> NDArray[np.float64]:
    """Return the share of every stratum that each group holds, weighted by its root size.

    The squared distance of two rows is then a chi-square in which each kind counts once, a label
    by how common it is among its kind.
    """
    names = sorted({name for count in counts for name in count})
    table = np.array([[count[name] for name in names] for count in counts], dtype=np.float64)
    totals = table.sum(axis=0)
    kinds = [kind for kind, _ in names]
    of_kind = np.array([sum(totals[i] for i, k in enumerate(kinds) if k == kind) for kind in kinds])
    shares: NDArray[np.float64] = table / totals * np.sqrt(totals / of_kind)
    return shares


class _Division:
    """A search for the division of groups that is nearest to the fractions asked for."""

    def __init__(self, shares: NDArray[np.float64], fractions: NDArray[np.float64]) -> None:
        """Hold the weighted shares, ``(groups, strata)``, and the fractions, ``(splits,)``."""
        self._x = shares
        self._f = fractions
        self._target = fractions[:, None] * shares.sum(axis=0)[None, :]
        self._places = np.full(len(shares), -1)
        self._have = np.zeros_like(self._target)

    def divide(self) -> list[int]:
        """Return the index of the split of each group."""
        for group in range(len(self._x)):
            self._put(group, self._best_place(group))
        self._fill_empty()
        for _ in range(_PASSES):
            if not (self._move_all() or self._swap_all()):
                break
        return [int(place) for place in self._places]

    def _cost(self, place: int, added: NDArray[np.float64]) -> float:
        """Return the distance of one split from its target once ``added`` is in it."""
        off = self._have[place] + added - self._target[place]
        return float((off * off).sum() / self._f[place])

    def _put(self, group: int, place: int) -> None:
        before = self._places[group]
        if before >= 0:
            self._have[before] -= self._x[group]
        self._places[group] = place
        self._have[place] += self._x[group]

    def _gain(self, group: int, place: int) -> float:
        """Return by how much the distance falls when a group is put into a split."""
        zero, row = np.zeros_like(self._x[group]), self._x[group]
        gain = self._cost(place, zero) - self._cost(place, row)
        before = self._places[group]
        if before >= 0:
            gain += self._cost(before, zero) - self._cost(before, -row)
        return round(gain, 12)

    def _best_place(self, group: int) -> int:
        return max(range(len(self._f)), key=lambda place: (self._gain(group, place), -place))

    def _fill_empty(self) -> None:
        """Give every split at least one group."""
        for place in range(len(self._f)):
            if (self._places == place).any():
                continue
            spare = [g for g in range(len(self._x)) if self._size(self._places[g]) > 1]
            self._put(max(spare, key=lambda g: (self._gain(g, place), -g)), place)

    def _size(self, place: int) -> int:
        return int((self._places == place).sum())

    def _move_all(self) -> bool:
        moved = False
        for group in range(len(self._x)):
            if self._size(self._places[group]) == 1:
                continue
            here = self._places[group]
            gains = [(self._gain(group, p), -p) for p in range(len(self._f)) if p != here]
            gain, place = max(gains, default=(0.0, 0))
            if gain > _GAIN:
                self._put(group, -place)
                moved = True
        return moved

    def _swap_all(self) -> bool:
        if len(self._x) > _SWAPPED:
            return False
        swapped = False
        for one in range(len(self._x)):
            for other in range(one):
                a, b = self._places[one], self._places[other]
                if a == b:
                    continue
                change = self._x[other] - self._x[one]
                zero = np.zeros_like(change)
                gain = self._cost(a, zero) - self._cost(a, change)
                gain += self._cost(b, zero) - self._cost(b, -change)
                if round(gain, 12) > _GAIN:
                    self._put(one, b)
                    self._put(other, a)
                    swapped = True
        return swapped
