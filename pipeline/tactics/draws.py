"""Draw wanted labels so that the two goals of a case want the same wherever both may."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from pipeline.tactics.design import Combination
from scenarios.fingerprint import seed_from
from scenarios.schemes.model import Scheme

Group = tuple[int, ...]
"""Places of the drawn dimensions that depend on one another within a context."""
Shares = Mapping[Combination, float]


def independent(
    scheme: Scheme, dimensions: Sequence[str], joint: Sequence[Sequence[str]]
) -> tuple[Group, ...]:
    """Return the dimensions in groups that are independent of each other in every context.

    Args:
        scheme: its rules on what goes together tie the dimensions they name, and so do conditions;
            what hardly goes together does where all of it is drawn.
        dimensions: those that are drawn.
        joint: the dimensions of every target, which are tied as well.
    """
    group = {name: {name} for name in dimensions}
    conditions = [
        (dimension.id, *condition)
        for dimension in scheme.utterance_dimensions
        for condition in (dimension.when, *(label.applies for label in dimension.labels))
    ]
    ruled = [rule.labels for rule in scheme.contradictions]
    ruled += [rule.labels for rule in scheme.rarely_together if rule.labels.keys() <= group.keys()]
    for tied in (*joint, *ruled, *conditions):
        together: set[str] = set().union(*(group[name] for name in tied if name in group))
        group |= dict.fromkeys(together, together)
    distinct = {min(map(dimensions.index, names)): names for names in group.values()}
    return tuple(
        tuple(sorted(map(dimensions.index, names))) for _, names in sorted(distinct.items())
    )


class PairedDraw:
    """Draws of one context, which agree with those of the same pair in another context.

    Every combination of a group gets an exponential waiting time from a hash in which the goal
    has no part, divided by its share; the shortest wins, which gives each its share exactly. The
    fitted shares of two contexts are in proportion wherever both allow a combination (iterative
    fitting multiplies by one factor per label and one per context), so both have the same winner
    unless the winner of one is forbidden in the other.
    """

    def __init__(
        self,
        distribution: Sequence[tuple[Combination, float]],
        groups: Sequence[Group],
        first: Group = (),
        alike: Group = (),
    ) -> None:
        """Take the distribution of a context, and which dimensions of it belong together.

        Args:
            distribution: the combinations with their shares.
            groups: places that depend on one another.
            first: places that are drawn before the others of their group, which then have to go
                with them.
            alike: places whose labels another place has, too: without its number, what a label drew
                for one would be drawn for the other.
        """
        self._alike = alike
        self._steps: list[tuple[Group, Group, dict[Combination, Shares]]] = []
        for group in groups:
            given: Group = tuple(place for place in group if place in first)
            rest: Group = tuple(place for place in group if place not in first)
            if given:
                self._steps.append(((), given, _shares(distribution, (), given)))
            if rest:
                self._steps.append((given, rest, _shares(distribution, given, rest)))

    def at(self, seed: int, pair: str, turn: int) -> Combination:
        """Return the combination for one turn of the cases of a pair."""
        drawn: dict[int, str] = {}
        for given, group, shares in self._steps:
            numbers = tuple(str(place) for place in group if place in self._alike)
            times = {
                part: -math.log(_uniform(seed, pair, turn, numbers + part)) / share
                for part, share in shares[tuple(drawn[place] for place in given)].items()
            }
            _, soonest = min((time, part) for part, time in times.items())
            drawn |= zip(group, soonest, strict=True)
        return tuple(drawn[place] for place in sorted(drawn))


def _shares(
    distribution: Sequence[tuple[Combination, float]], given: Group, group: Group
) -> dict[Combination, Shares]:
    """Return the shares of the labels at the places of a group, by the labels at given places."""
    found: dict[Combination, dict[Combination, list[float]]] = {}
    for combination, share in distribution:
        before = found.setdefault(tuple(combination[i] for i in given), {})
        before.setdefault(tuple(combination[i] for i in group), []).append(share)
    return {
        before: {part: math.fsum(each) for part, each in parts.items()}
        for before, parts in found.items()
    }


def _uniform(seed: int, pair: str, turn: int, part: Combination) -> float:
    """Return a number between 0 and 1, both left out."""
    return (seed_from(seed, pair, turn, "wanted", *part) + 0.5) / 2**31
