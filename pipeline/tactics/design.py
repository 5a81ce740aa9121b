"""Fit how often each combination of labels is asked for in each context, given target shares."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from pipeline.tactics.contexts import Context
from scenarios.errors import UsageError
from scenarios.margins import Margin
from scenarios.schemes.model import Dimension, Scheme
from scenarios.schemes.spoken import spoken_dimensions
from scenarios.terms import RESPONDER, RoleKey

MAX_COMBINATIONS = 20_000
MAX_SWEEPS = 1_000
CLOSE_ENOUGH = 1e-7
SETTLED = 1e-12
"""How little a share moves in a sweep where targets cannot be met any further."""
EASED_CEILING = 2 / 3
"""The share of the turns open to a label that an eased target asks it of at most."""

Combination = tuple[str, ...]
"""One label per drawn dimension, in the scheme's order."""
RARE = 1e-3
"""The weight at first of labels that hardly go together, beside 1 of the others."""
NOT_ASKED = ""
"""In place of a label: the dimension does not concern the role, or its condition does not hold."""


@dataclass(frozen=True, slots=True)
class TargetDistribution:
    """The wanted joint distribution of one or more dimensions; what is not listed is not wanted."""

    dimensions: tuple[str, ...]
    shares: Mapping[Combination, float]
    """Non-negative weights; only their proportions count."""

    def normalised(self) -> dict[Combination, float]:
        """Return the shares scaled to sum to 1.

        Raises:
            UsageError: no weight is positive.
        """
        total = math.fsum(self.shares.values())
        if not total > 0:
            raise UsageError(f"the target for {', '.join(self.dimensions)} has no positive weight")
        return {labels: weight / total for labels, weight in self.shares.items()}


@dataclass(frozen=True, slots=True)
class Fit:
    """P(combination | context) for every context, and the margins of the mixture."""

    dimensions: tuple[str, ...]
    distributions: Mapping[Context, tuple[tuple[Combination, float], ...]]
    margins: tuple[Margin, ...]


def drawable(scheme: Scheme) -> tuple[Dimension, ...]:
    """Return the utterance dimensions with one label per utterance (nominal and ordinal)."""
    return tuple(d for d in scheme.utterance_dimensions if d.measurement in ("nominal", "ordinal"))


def why_not_drawn(scheme: Scheme, name: str) -> str:
    """Return why no label of a dimension can be asked for; nothing where there is no such dimension."""
    if name not in {d.id for d in scheme.dimensions}:
        return ""
    return (
        "asked for are labels that speakers declare of an utterance, one each (nominal or ordinal)"
    )


def allowed_combinations(
    scheme: Scheme, dimensions: Sequence[Dimension], context: Context
) -> list[Combination]:
    """List the combinations that contradict nothing and satisfy what the context requires.

    A rule that also names a dimension which is neither the goal nor drawn cannot be judged here
    and is left to the gates.

    Raises:
        UsageError: no combination is left.
    """
    names = [d.id for d in dimensions]
    decided = {scheme.assigned, *names}
    contradictions = [c.labels for c in scheme.contradictions if set(c.labels) <= decided]
    required = [scheme.requirements[index].some_turn for index in context.must]
    open_to = {d.id: d for d in spoken_dimensions(scheme, context.role)}
    required = [labels for labels in required if set(labels) <= decided & set(open_to)]
    spoken = [open_to[d.id] for d in dimensions if d.id in open_to]
    choices = [_choices(scheme, open_to.get(d.id), context) for d in dimensions]
    allowed = []
    for combination in itertools.product(*choices):
        has = dict(zip(names, combination, strict=True)) | {scheme.assigned: context.goal}
        if not all(_fits(d, has, context.role) for d in spoken):
            continue
        if any(_holds(rule, has) for rule in contradictions):
            continue
        if all(_holds(rule, has) for rule in required):
            allowed.append(combination)
    if not allowed:
        raise UsageError(
            f"no tactic is possible where the goal is {context.goal!r}",
            "the scheme's contradictions and requirements leave no combination of labels",
        )
    return allowed


def possible(
    scheme: Scheme, dimensions: Sequence[Dimension], context: Context
) -> list[Combination]:
    """List the combinations of :func:`allowed_combinations`, none where none is left."""
    try:
        return allowed_combinations(scheme, dimensions, context)
    except UsageError:
        return []


def _choices(scheme: Scheme, dimension: Dimension | None, context: Context) -> tuple[str, ...]:
    """Return the labels of a dimension that may be wanted, ``NOT_ASKED`` among them where it may be."""
    if dimension is None:  # the role's words do not carry it
        return (NOT_ASKED,)
    values = dimension.values
    if dimension.id == scheme.felicity and context.felicitous:
        values = context.felicitous
    return (*values, NOT_ASKED) if dimension.when else values


def _fits(dimension: Dimension, has: Mapping[str, str], role: RoleKey) -> bool:
    """Return whether the label of a dimension goes with the others: it is asked for, or it is not."""
    label = has[dimension.id]
    asked = all(has.get(name, values[0]) in values for name, values in dimension.when.items())
    if not asked or label == NOT_ASKED:
        return label == NOT_ASKED and not asked
    return label in {one.id for one in dimension.choices(role or RESPONDER, has)}


def goal_free(
    scheme: Scheme, dimensions: Sequence[str], targets: Sequence[TargetDistribution]
) -> tuple[int, ...]:
    """Return the places of dimensions that no rule ties to the goal, where others hardly go with them.

    Such a rule would have them tell the goal: what hardly goes with Quantity goes with Quality the
    more often. So they are drawn first, alike under every goal, and the others to go with them. None
    are where a table of combinations says what goes together.
    """
    if any(len(target.dimensions) > 1 for target in targets):
        return ()
    bound = {
        name
        for rule in scheme.contradictions
        if scheme.assigned in rule.labels
        for name in rule.labels
    }
    bound |= {name for requirement in scheme.requirements for name in requirement.some_turn}
    rare = [rule.labels.keys() for rule in scheme.rarely_together]
    if not any(bound & names and names - bound for names in rare if names <= {*dimensions}):
        return ()
    return tuple(place for place, name in enumerate(dimensions) if name not in bound)


def weight_at_first(scheme: Scheme, names: Sequence[str], combination: Combination) -> float:
    """Return what a combination weighs before any target: next to nothing where it hardly occurs."""
    has = dict(zip(names, combination, strict=True))
    rules = (rule.labels for rule in scheme.rarely_together)
    return RARE if any(r.keys() <= has.keys() and _holds(r, has) for r in rules) else 1.0


def _holds(rule: Mapping[str, Collection[str]], has: Mapping[str, str]) -> bool:
    return all(has[dimension] in labels for dimension, labels in rule.items())


def fit(
    scheme: Scheme,
    dimensions: Sequence[Dimension],
    contexts: Mapping[Context, float],
    targets: Sequence[TargetDistribution],
    *,
    eased: bool = False,
) -> Fit:
    """Fit by iterative proportional fitting, the nearest design to an even one.

    Start from an even spread over what each context allows (elsewhere structural zeros, and next
    to nothing where labels hardly go together), then scale to every target and to the shares of
    the contexts in turn until both hold. Where the targets cannot be met the contexts win, and
    :attr:`Fit.margins` says what is achieved.

    Args:
        scheme: where the rules come from.
        dimensions: the dimensions to draw.
        contexts: the share of each context among the responder turns (any positive scale).
        targets: the wanted shares, over dimensions that are drawn.
        eased: give up part of the share of a label that few contexts allow, so that those
            contexts are not filled with it; the margins still compare with what was wanted.

    Raises:
        UsageError: too many combinations, a context without any, or a target without weight.

    Source: Deming & Stephan (1940), iterative proportional fitting.
    """
    size = math.prod(len(d.labels) for d in dimensions)
    if size > MAX_COMBINATIONS:
        raise UsageError(
            f"wanted tactics over {size} combinations of labels (the limit is {MAX_COMBINATIONS})",
            "name fewer dimensions in a tactics file",
        )
    table = _Table(scheme, dimensions, contexts)
    constraints = [table.constrain(target, eased=eased) for target in targets]
    evened = goal_free(scheme, table.names, targets)
    for _ in range(MAX_SWEEPS):
        before = list(table.mass)
        off = max((constraint.scale(table.mass) for constraint in constraints), default=0.0)
        table.restore_contexts()
        if evened:
            table.even_out(evened)
            table.restore_contexts()
        moved = max(abs(now - then) for now, then in zip(table.mass, before, strict=True))
        if off < CLOSE_ENOUGH or moved < SETTLED:
            break
    names = tuple(d.id for d in dimensions)
    margins = tuple(m for constraint in constraints for m in constraint.margins(table.mass))
    return Fit(dimensions=names, distributions=table.distributions(), margins=margins)


class _Table:
    """The cells (context, combination) that are possible, with their probability mass."""

    def __init__(
        self, scheme: Scheme, dimensions: Sequence[Dimension], contexts: Mapping[Context, float]
    ) -> None:
        total = math.fsum(contexts.values())
        self.names = [d.id for d in dimensions]
        self.cells: list[Combination] = []
        self.mass: list[float] = []
        self.rows: list[tuple[Context, float, range]] = []
        for context, weight in sorted(contexts.items()):
            combinations = allowed_combinations(scheme, dimensions, context)
            start = len(self.cells)
            self.cells += combinations
            share = weight / total
            weights = [weight_at_first(scheme, self.names, c) for c in combinations]
            self.mass += [share * each / math.fsum(weights) for each in weights]
            self.rows.append((context, share, range(start, len(self.cells))))
        self._start = tuple(self.mass)

    def constrain(self, target: TargetDistribution, *, eased: bool) -> _Constraint:
        """Group the cells by the labels a target speaks of."""
        positions = [self.names.index(name) for name in target.dimensions]
        groups: dict[Combination, list[int]] = {}
        for index, cell in enumerate(self.cells):
            labels = tuple(cell[p] for p in positions)
            if NOT_ASKED not in labels:
                groups.setdefault(labels, []).append(index)
        shares = target.normalised()
        aims = _eased(shares, self._ceilings(positions)) if eased else shares
        whole = sum(map(len, groups.values())) == len(self.cells)
        return _Constraint(target.dimensions, shares, aims, groups, whole=whole)

    def _ceilings(self, positions: Sequence[int]) -> dict[Combination, float]:
        """Return the largest eased share of each group: all of the turns with no other choice."""
        ceilings: dict[Combination, float] = {}
        asked, never_asked = 0.0, False
        for _, share, row in self.rows:
            options = {tuple(self.cells[i][p] for p in positions) for i in row}
            options = {labels for labels in options if NOT_ASKED not in labels}
            asked, never_asked = asked + share * bool(options), never_asked or not options
            part = share if len(options) == 1 else share * EASED_CEILING
            for labels in options:
                ceilings[labels] = ceilings.get(labels, 0.0) + part
        if never_asked and asked > 0:  # shares are those of the turns that are asked for a label
            ceilings = {labels: ceiling / asked for labels, ceiling in ceilings.items()}
        return ceilings

    def even_out(self, places: Sequence[int]) -> None:
        """Give contexts that differ in goal or duty alone the same shares of the labels at places."""
        alike: dict[object, list[range]] = {}
        for context, _, row in self.rows:
            alike.setdefault((context.felicitous, context.role), []).append(row)
        for rows in alike.values():
            held = [self._held(row, places) for row in rows]
            total = math.fsum(mass for parts in held for mass in parts.values())
            for row, parts in zip(rows, held, strict=True):
                own = math.fsum(parts.values())
                for i in row:
                    part = tuple(self.cells[i][p] for p in places)
                    if parts[part] > 0:
                        wanted = own * math.fsum(h.get(part, 0.0) for h in held) / total
                        self.mass[i] *= wanted / parts[part]

    def _held(self, row: range, places: Sequence[int]) -> dict[Combination, float]:
        held: dict[Combination, float] = {}
        for i in row:
            part = tuple(self.cells[i][p] for p in places)
            held[part] = held.get(part, 0.0) + self.mass[i]
        return held

    def restore_contexts(self) -> None:
        """Scale every context back to its share; one that lost all its mass starts afresh."""
        for _, share, row in self.rows:
            held = math.fsum(self.mass[i] for i in row)
            for i in row:
                self.mass[i] = self.mass[i] * share / held if held > 0 else self._start[i]

    def distributions(self) -> dict[Context, tuple[tuple[Combination, float], ...]]:
        """Return each context's own distribution, without the cells that never occur."""
        result = {}
        for context, _, row in self.rows:
            held = math.fsum(self.mass[i] for i in row)
            result[context] = tuple(
                (self.cells[i], self.mass[i] / held) for i in row if self.mass[i] > 0
            )
        return result


def _eased(
    shares: Mapping[Combination, float], ceilings: Mapping[Combination, float]
) -> dict[Combination, float]:
    """Lower shares to their ceilings and let the others grow in proportion to make up for it."""
    held: dict[Combination, float] = {}
    while True:
        rest = {labels: share for labels, share in shares.items() if labels not in held}
        total = math.fsum(rest.values())
        if not total > 0:
            return held
        factor = (1 - math.fsum(held.values())) / total
        over = {
            labels: ceilings.get(labels, 0.0)
            for labels, share in rest.items()
            if share * factor > ceilings.get(labels, 0.0) + CLOSE_ENOUGH
        }
        if not over:
            return held | {labels: share * factor for labels, share in rest.items()}
        held |= over


class _Constraint:
    """One target, with the cells that count towards each of its shares."""

    def __init__(
        self,
        dimensions: tuple[str, ...],
        shares: Mapping[Combination, float],
        aims: Mapping[Combination, float],
        groups: Mapping[Combination, Sequence[int]],
        *,
        whole: bool,
    ) -> None:
        self.dimensions = dimensions
        self.shares = shares
        self.aims = aims
        self.groups = groups
        self._whole = whole

    def _asked(self, mass: Sequence[float]) -> float:
        """Return the share of the turns that are asked for the dimensions at all."""
        if self._whole:
            return 1.0
        return math.fsum(mass[i] for cells in self.groups.values() for i in cells) or 1.0

    def scale(self, mass: list[float]) -> float:
        """Scale the mass to the aims; return how far the worst share was off."""
        worst, asked = 0.0, self._asked(mass)
        for labels, cells in self.groups.items():
            wanted = self.aims.get(labels, 0.0) * asked
            held = math.fsum(mass[i] for i in cells)
            worst = max(worst, abs(wanted - held))
            if held > 0:
                for i in cells:
                    mass[i] *= wanted / held
        return worst

    def margins(self, mass: Sequence[float]) -> list[Margin]:
        """Compare every share of the target with the mass it got."""
        asked = self._asked(mass)
        every = [*self.shares, *(labels for labels in self.groups if labels not in self.shares)]
        return [
            Margin(
                dimensions=self.dimensions,
                labels=labels,
                target=self.shares.get(labels, 0.0),
                achieved=math.fsum(mass[i] for i in self.groups.get(labels, ())) / asked,
            )
            for labels in every
        ]
