"""Draw items evenly over the classes of a dimension, weigh them back, and spread what is asked first."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass

from quality.evaluation.item import EvaluationItem
from scenarios.fingerprint import seed_from, text_hash


@dataclass(frozen=True, slots=True)
class EvenDraw:
    """Items drawn evenly over the classes of a dimension."""

    dimension: str
    seed: int
    classes: Mapping[str, str]
    """Item -> its class, in the order of the classes and, within one, as they were drawn."""
    shares: Mapping[str, float]
    """Class -> its share of the whole set; classes of which nothing was drawn included."""

    @property
    def items(self) -> tuple[str, ...]:
        """The items that were drawn."""
        return tuple(self.classes)


def draw_evenly(classes: Mapping[str, str], n: int, *, dimension: str, seed: int) -> EvenDraw:
    """Draw items so that every class has as many as every other, as far as it has them.

    What a class cannot give falls to the others. Who is drawn follows from hashes of seed and item
    alone: other items in the set change little, and a larger draw holds a smaller one.

    Args:
        classes: item -> its class.
        n: how many to draw; all there are if there are fewer.
        dimension: whose classes these are.
        seed: of the draw.

    Raises:
        ValueError: ``n`` is below 1.
    """
    if n < 1:
        raise ValueError(f"at least 1 item must be drawn, not {n}")
    members: defaultdict[str, list[str]] = defaultdict(list)
    for item in sorted(classes, key=lambda item: (seed_from(seed, "draw", item), item)):
        members[classes[item]].append(item)
    quota = _quotas({name: len(found) for name, found in members.items()}, n, seed)
    counts = Counter(classes.values())
    return EvenDraw(
        dimension=dimension,
        seed=seed,
        classes={
            item: name for name in sorted(members) for item in members[name][: quota.get(name, 0)]
        },
        shares={name: counts[name] / len(classes) for name in sorted(counts)},
    )


def spread(items: Iterable[EvaluationItem]) -> list[EvaluationItem]:
    """Return items in an order of which every beginning is of as many scenarios and cases as it can be.

    Scenarios take turns, and in each its cases do. Which line of a case goes first follows from a hash,
    so that what is asked first is not all of the first turn. What is asked about one line beside several
    facts stays together, and tasks ask about the same lines first.
    """
    lines: dict[tuple[str, str, int | None], list[EvaluationItem]] = {}
    for item in items:
        lines.setdefault((item.case, item.arm, item.turn), []).append(item)
    order = [
        lines[key] for key in sorted(lines, key=lambda key: text_hash("/".join(map(str, key))))
    ]
    order = _in_turn(order, lambda item: (item.scenario, item.case))
    return [item for line in _in_turn(order, lambda item: item.scenario) for item in line]


def _in_turn(
    lines: Iterable[list[EvaluationItem]], group: Callable[[EvaluationItem], Hashable]
) -> list[list[EvaluationItem]]:
    """Return first the first line of every group, then the second of each, and so on."""
    seen: Counter[Hashable] = Counter()
    rounds: defaultdict[int, list[list[EvaluationItem]]] = defaultdict(list)
    for line in lines:
        rounds[seen[group(line[0])]].append(line)
        seen[group(line[0])] += 1
    return [line for place in sorted(rounds) for line in rounds[place]]


def balancing_weights(classes: Mapping[str, str], shares: Mapping[str, float]) -> dict[str, float]:
    """Return what each item counts, so that classes have given shares; the mean is 1.

    Args:
        classes: item -> its class.
        shares: class -> its share of the whole set. Classes without items are left out, and the
            others keep their proportions.
    """
    counts = Counter(classes.values())
    covered = sum(shares.get(name, 0.0) for name in counts)
    if not covered:
        return dict.fromkeys(classes, 1.0)
    return {
        item: shares.get(name, 0.0) / covered * len(classes) / counts[name]
        for item, name in classes.items()
    }


def _quotas(sizes: Mapping[str, int], n: int, seed: int) -> dict[str, int]:
    """Return how many each class gives: one after the other takes one, until enough are there."""
    quota = dict.fromkeys(sizes, 0)
    left = min(n, sum(sizes.values()))
    order = sorted(sizes, key=lambda name: seed_from(seed, "class", name))
    while left:
        open_classes = [name for name in order if quota[name] < sizes[name]]
        step = max(1, min(left // len(open_classes), *_room(sizes, quota, open_classes)))
        for name in open_classes[:left]:
            quota[name] += step
            left -= step
    return quota


def _room(sizes: Mapping[str, int], quota: Mapping[str, int], names: list[str]) -> list[int]:
    return [sizes[name] - quota[name] for name in names]
