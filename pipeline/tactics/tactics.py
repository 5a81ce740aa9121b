"""Wanted tactics: which labels the responder is asked for, turn by turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Self

from pydantic import Field

from pipeline.tactics.contexts import Context, context_at
from pipeline.tactics.design import (
    NOT_ASKED,
    Combination,
    Fit,
    TargetDistribution,
    drawable,
    fit,
    goal_free,
    possible,
    weight_at_first,
    why_not_drawn,
)
from pipeline.tactics.draws import PairedDraw, independent
from scenarios.case import Case
from scenarios.dialogue import Wanted
from scenarios.errors import InputError, Problem, UsageError
from scenarios.fingerprint import fingerprint
from scenarios.located import Located
from scenarios.margins import Margin
from scenarios.schemes.model import Identifier, Scheme
from scenarios.schemes.vocabulary import resolve_label
from scenarios.spec import Scenario
from scenarios.strict import Strict
from scenarios.terms import RoleKey
from scenarios.yaml_source import validate_model

Weight = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class WeightedCombination(Strict):
    """Labels that are wanted together, and how often compared with the others."""

    labels: Annotated[dict[Identifier, str], Field(min_length=1)]
    weight: Weight = 1.0


class TacticsFile(Strict):
    """What a tactics file holds: shares per dimension, or a table of combinations, or both.

    Dimensions that are not named stay free. Labels that are not named are not wanted.
    """

    margins: dict[Identifier, Annotated[dict[str, Weight], Field(min_length=1)]] = Field(
        default_factory=dict
    )
    combinations: tuple[WeightedCombination, ...] = ()


class TacticDesign:
    """A distribution of wanted tactics per context, drawn without any state.

    The draw is a hash of the seed, the pair of the case and the turn: the same whichever process
    plays the case, in whatever order. Cases of a pair want the same labels, except where the goal
    of one forbids what the other wants.
    """

    def __init__(
        self,
        scheme: Scheme,
        contexts: Mapping[Context, float],
        targets: Sequence[TargetDistribution],
        *,
        eased: bool = False,
    ) -> None:
        """Fit the design; see :func:`pipeline.tactics.design.fit` for what it raises."""
        named = {name for target in targets for name in target.dimensions}
        dimensions = [d for d in drawable(scheme) if d.id in named]
        self._scheme = scheme
        self._fit: Fit = fit(scheme, dimensions, contexts, targets, eased=eased)
        groups = independent(scheme, self._fit.dimensions, [t.dimensions for t in targets])
        first = goal_free(scheme, self._fit.dimensions, targets)
        known = Counter(label for dimension in dimensions for label in dimension.values)
        alike = tuple(i for i, d in enumerate(dimensions) if any(known[v] > 1 for v in d.values))
        self._draws = {
            context: PairedDraw(distribution, groups, first, alike)
            for context, distribution in self._fit.distributions.items()
        }
        self.fingerprint = fingerprint(
            [
                [
                    [list(t.dimensions), sorted([*c, w] for c, w in t.shares.items())]
                    for t in targets
                ],
                [_described(c, share) for c, share in sorted(contexts.items())],
            ]
        )
        """Content hash of the targets and the contexts: what decides every draw beside scheme and seed."""

    @classmethod
    def balanced(cls, scheme: Scheme, contexts: Mapping[Context, float]) -> Self:
        """Ask for every label of every utterance dimension equally often, where rules allow.

        A label that few scenarios allow stays below its even share rather than filling those
        scenarios: it is asked for in at most two of three turns that are open to it.

        Raises:
            UsageError: the scheme has no utterance dimension with one label per utterance.
        """
        dimensions = drawable(scheme)
        if not dimensions:
            raise UsageError(
                f"scheme {scheme.id!r} has no utterance dimension whose labels can be balanced",
                "use --tactics free",
            )
        targets = [
            TargetDistribution((d.id,), {(label,): 1.0 for label in d.values}) for d in dimensions
        ]
        return cls(scheme, contexts, targets, eased=True)

    @classmethod
    def from_file(cls, located: Located, scheme: Scheme, contexts: Mapping[Context, float]) -> Self:
        """Read the wanted shares from the data of a YAML file (:class:`TacticsFile`).

        Raises:
            InputError: the file, a dimension or a label in it is not right.
        """
        content = validate_model(TacticsFile, located)
        return cls(scheme, contexts, _targets(content, located, scheme))

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The dimensions that are drawn; the others are free."""
        return self._fit.dimensions

    @property
    def margins(self) -> tuple[Margin, ...]:
        """Every share that was asked for, with the share to expect."""
        return self._fit.margins

    @property
    def unmet(self) -> tuple[Margin, ...]:
        """The margins that the rules of the scheme and the scenarios put out of reach."""
        return tuple(margin for margin in self.margins if not margin.met)

    def wanted(self, case: Case, scenario: Scenario, turn: int, role: RoleKey = "") -> Wanted:
        """Draw the labels wanted of one labelled turn, in the scheme's order.

        Args:
            case: the case that is played.
            scenario: its scenario.
            turn: which of them, from 0 to ``case.turns - 1``.
            role: who speaks, in a scenario with a flow.

        Raises:
            UsageError: the scenario and goal were not part of the contexts of the design.
        """
        context = context_at(self._scheme, case, scenario, turn, role)
        draw = self._draws.get(context)
        if draw is None:
            raise UsageError(
                f"the tactic design does not cover scenario {scenario.id!r} "
                f"with the goal {case.goal!r}"
            )
        drawn = draw.at(case.seed, case.pair, turn)
        wanted = zip(self.dimensions, drawn, strict=True)
        return tuple((name, label) for name, label in wanted if label != NOT_ASKED)

    def aimed(
        self,
        case: Case,
        scenario: Scenario,
        turn: int,
        role: RoleKey,
        asked: Mapping[str, str],
    ) -> Wanted:
        """Draw the labels wanted of one turn where some of them are given.

        The others are drawn as often as the design has them beside the given ones, or alike where
        it never has these and they go together. Where rules allow none beside them, the given ones are wanted alone.
        """
        context = context_at(self._scheme, case, scenario, turn, role)
        dimensions = [d for d in drawable(self._scheme) if d.id in self.dimensions or d.id in asked]
        fitted = dict(self._fit.distributions.get(context, ()))
        names = [d.id for d in dimensions]
        places = [names.index(name) for name in self.dimensions]
        options = {}
        for combination in possible(self._scheme, dimensions, context):
            named = dict(zip(names, combination, strict=True))
            if all(named[name] == label for name, label in asked.items()):
                options[combination] = fitted.get(tuple(combination[i] for i in places), 0.0)
        if not options:
            return tuple(asked.items())
        if not any(options.values()):
            options = {c: weight_at_first(self._scheme, names, c) for c in options}
        shares = [(combination, share) for combination, share in options.items() if share > 0]
        whole = tuple(range(len(dimensions)))
        picked = PairedDraw(shares, (whole,)).at(case.seed, case.pair, turn)
        wanted = zip(names, picked, strict=True)
        return tuple((name, label) for name, label in wanted if label != NOT_ASKED)


def _described(context: Context, share: float) -> list[object]:
    """Return a context as it is hashed: designs that knew no roles keep their fingerprints."""
    told = [context.goal, context.felicitous, context.must, share]
    return [*told, context.role] if context.role else told


def _targets(content: TacticsFile, located: Located, scheme: Scheme) -> list[TargetDistribution]:
    """Turn the file into targets, with every label spelt as the scheme does."""
    reader = _TacticsReader(located, scheme)
    targets = []
    for name, weights in content.margins.items():
        where = ("margins", name)
        shares: dict[Combination, float] = {}
        for raw, weight in weights.items():
            label = reader.label(name, raw, (*where, raw))
            shares[(label,)] = shares.get((label,), 0.0) + weight
        targets.append(TargetDistribution((name,), shares))
    if content.combinations:
        targets.append(_joint(content, reader))
    if not targets:
        reader.refuse((), "nothing", "margins or combinations")
    reader.finish()
    return targets


def _joint(content: TacticsFile, reader: _TacticsReader) -> TargetDistribution:
    """Read the table of combinations; all of its rows name the same dimensions."""
    names = tuple(content.combinations[0].labels)
    shares: dict[Combination, float] = {}
    for index, row in enumerate(content.combinations):
        where = ("combinations", index, "labels")
        if set(row.labels) != set(names):
            expected = f"the dimensions of the first row: {', '.join(names)}"
            reader.refuse(where, ", ".join(row.labels), expected)
            continue
        labels = tuple(reader.label(name, row.labels[name], (*where, name)) for name in names)
        shares[labels] = shares.get(labels, 0.0) + row.weight
    for name in names:
        if name in content.margins:
            reader.refuse(("margins", name), name, "a dimension of combinations or of margins")
    return TargetDistribution(names, shares)


class _TacticsReader:
    """Resolves the names in a tactics file and collects what is wrong with them."""

    def __init__(self, located: Located, scheme: Scheme) -> None:
        self._located = located
        self._scheme = scheme
        self._dimensions = {d.id: d for d in drawable(scheme)}
        self._problems: list[Problem] = []

    def label(self, name: str, raw: str, where: Sequence[str | int]) -> str:
        """Return the id of a label; an unknown one is a problem (and comes back as it is)."""
        dimension = self._dimensions.get(name)
        if dimension is None:
            expected = f"a dimension that can be drawn: {', '.join(self._dimensions)}"
            self.refuse(where[:-1], name, expected, why_not_drawn(self._scheme, name))
            return raw
        resolved = resolve_label(dimension, raw)
        if resolved is None:
            self.refuse(where, repr(raw), f"one of: {', '.join(dimension.values)}")
            return raw
        return str(resolved[0])

    def refuse(self, where: Sequence[str | int], found: str, expected: str, hint: str = "") -> None:
        """Note a problem, once per place."""
        field = ".".join(str(part) for part in where)
        if all(problem.field != field for problem in self._problems):
            line = self._located.line(where)
            self._problems.append(Problem(self._located.file, line, field, found, expected, hint))

    def finish(self) -> None:
        """Raise what was noted.

        Raises:
            InputError: anything was.
        """
        if self._problems:
            raise InputError(self._problems)
