"""A scheme: the label dimensions that dialogues are generated, judged and scored with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from scenarios.fingerprint import fingerprint
from scenarios.schemes.dimension import (
    ROLE,
    Contrast,
    Dimension,
    Identifier,
    Label,
    Level,
    Measurement,
    Step,
)
from scenarios.strict import BrokenRule, Strict, refuse_broken

__all__ = [
    "Contradiction", "Contrast", "Dimension", "Identifier", "Label", "Level",
    "Measurement", "Requirement", "Scheme", "SelfContradiction", "Step",
]  # fmt: skip


class Contradiction(Strict):
    """Labels that may not, or hardly do, occur together: truthful non-disclosure and Quality."""

    labels: dict[str, tuple[str, ...]]
    """By dimension, the labels that do not go together."""
    reason: str
    """Why, for whoever is told of it."""


class Requirement(Strict):
    """What at least one utterance of a dialogue must carry when the dialogue has given labels."""

    when: dict[str, tuple[str, ...]]
    """By dimension, labels of the dialogue."""
    some_turn: dict[str, tuple[str, ...]]
    """By dimension, the labels of which some turn has one."""
    reason: str
    """Why, for whoever is told of it."""


class SelfContradiction(Strict):
    """Answers of one person to one item that hardly go together, e.g. joy and very unpleasant."""

    labels: dict[str, tuple[str, ...]]
    intervals: dict[str, tuple[float, float]] = Field(default_factory=dict)
    """Lowest and highest value, both included, per interval dimension."""
    reason: str


class Scheme(Strict):
    """A set of dimensions, the rules between them, and the vocabulary scenarios use.

    Source: HIPO, section 3 (Why-How-What) for the scheme ``hipo``.
    """

    id: Identifier
    """Its name: lower-case letters, digits and _; scenarios name it."""
    version: int = 1
    """Counted up when labels or definitions change."""
    title: str
    """A headline for lists, reports and cards."""
    description: str = ""
    """Two or three sentences: what is labelled, and what for."""
    source: str = ""
    """The paper, the manual or the people it comes from."""
    dimensions: Annotated[tuple[Dimension, ...], Field(min_length=1)]
    """The questions, in the order they are asked."""
    assigned: Identifier | Literal[""] = ""
    """The nominal dialogue dimension whose label a case assigns to who is labelled (its goal).
    Empty: nothing is assigned."""
    felicity: Identifier | None = None
    """The utterance dimension whose labels a scenario may restrict to the felicitous ones."""
    contradictions: tuple[Contradiction, ...] = ()
    rarely_together: tuple[Contradiction, ...] = ()
    """Labels of utterances that people hardly ever join in one: wanted tactics join them only where
    nothing else meets what was asked for. A speaker or a judge may."""
    requirements: tuple[Requirement, ...] = ()
    self_contradictions: tuple[SelfContradiction, ...] = ()
    """Combinations that quality control of annotations reports; generation does not read them."""
    common_labels: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Labels that rightly fill most answers: giving little else is not called straight-lining."""
    categories: tuple[str, ...] = ()
    """Categories a scenario may belong to; empty means any."""
    tags: tuple[str, ...] = ()
    """Tags a scenario may carry; empty means any."""
    terms: dict[str, str] = Field(default_factory=dict)
    """What the words mean that the procedures of several dimensions use."""
    conventions: tuple[str, ...] = ()
    """Rules that hold for whoever speaks, declares, judges or reviews, on every dimension."""
    ties: tuple[str, ...] = ()
    """Which labels go together by the procedure itself; cards of data sets print it."""

    @property
    def fingerprint(self) -> str:
        """The content hash of everything that decides dialogues and their labels."""
        return fingerprint(self.content)

    @property
    def content(self) -> dict[str, object]:
        """What decides dialogues and their labels, as plain data.

        Left out are dimensions that only readers label: asking more of judges makes no other
        dialogues. So are fields of later versions of hipo where a scheme does not use them: a
        scheme keeps the hash it was stored under.
        """
        plain: dict[str, Any] = self.model_dump(mode="json")
        plain["dimensions"] = [
            _without_defaults(dimension, _DIMENSION_DEFAULTS)
            for dimension in plain["dimensions"]
            if dimension["by"] == "declared" and dimension["derived"] is None
        ]
        for dimension in plain["dimensions"]:
            dimension["labels"] = [
                _without_defaults(x, _LABEL_DEFAULTS) for x in dimension["labels"]
            ]
            for part in (dimension, *dimension["labels"]):
                for field in _READ_BY_STATISTICS:
                    part.pop(field, None)
        return _without_defaults(plain, _SCHEME_DEFAULTS)

    @property
    def name(self) -> str:
        """Id and version, e.g. ``hipo@1``: under which labels are compared with others."""
        return f"{self.id}@{self.version}"

    @property
    def declared(self) -> tuple[Dimension, ...]:
        """The dimensions that speakers declare and people label, in order."""
        return tuple(d for d in self.dimensions if d.by == "declared" and d.derived is None)

    @property
    def goal(self) -> Dimension:
        """The assigned dialogue dimension.

        Raises:
            KeyError: nothing is assigned.
        """
        return self.dimension(self.assigned)

    @property
    def goals(self) -> tuple[str, ...]:
        """What a case can be assigned: the labels of the goal, or "" alone where there is none."""
        return self.goal.values if self.assigned else ("",)

    @property
    def utterance_dimensions(self) -> tuple[Dimension, ...]:
        """The dimensions every labelled utterance declares, in order."""
        return tuple(d for d in self.declared if d.level == "utterance")

    @property
    def derived(self) -> tuple[Dimension, ...]:
        """The dimensions that are computed from others, in order."""
        return tuple(d for d in self.dimensions if d.derived is not None)

    def read_dimensions(self, level: Level) -> tuple[Dimension, ...]:
        """Return the dimensions of a level that no speaker declares, in order: readers label them.

        Those of a span are among those of an utterance, too: one turn is the shortest run.
        """
        levels = ("utterance", "span") if level == "utterance" else (level,)
        return tuple(
            d
            for d in self.dimensions
            if d.derived is None
            and d.level in levels
            and d.id != self.assigned
            and (d.by == "reader" or d.level != "utterance")
        )

    @property
    def roles_of_words(self) -> tuple[str, ...]:
        """The roles that every dimension of words is of one of; none where one is of anybody's words."""
        words = [d for d in self.dimensions if d.level != "dialogue"]
        is_of_some = all(dimension.of for dimension in words)
        return tuple(dict.fromkeys(role for d in words for role in d.of)) if is_of_some else ()

    def labels_words_of(self, role: str) -> bool:
        """Whether any dimension is about what a role says; where all are about dialogues, any role."""
        dimensions = [d for d in self.dimensions if d.level != "dialogue"]
        return not dimensions or any(dimension.concerns(role) for dimension in dimensions)

    def people_dimensions(self, level: Level) -> tuple[Dimension, ...]:
        """Return what people who review are asked about a turn, or about a dialogue, in order.

        That is what ``by: declared`` stands at, and what readers label without a label that is
        expected of them: the latter checks dialogues, and is left to judges where there is more.
        """
        levels = ("utterance", "span") if level == "utterance" else (level,)
        asked = [d for d in self.dimensions if d.derived is None]
        people = [d for d in asked if d.by == "declared" or not d.expect]
        return tuple(d for d in people or asked if d.level in levels)

    @property
    def is_for_any_people(self) -> bool:
        """Whether it is not made for one who asks and one who answers under a goal.

        It then assigns nothing, or something in it depends on who speaks.
        """
        return not self.assigned or any(d.depends_on_role for d in self.dimensions)

    @property
    def truthful_goals(self) -> frozenset[str]:
        """The labels of the assigned dimension for which a contradiction rules some label out.

        For the scheme ``hipo`` that is truthful non-disclosure: nothing false may be said.
        """
        rules = self.contradictions
        return frozenset(label for rule in rules for label in rule.labels.get(self.assigned, ()))

    def dimension(self, dimension_id: str) -> Dimension:
        """Return one dimension.

        Raises:
            KeyError: the scheme has no such dimension.
        """
        for dimension in self.dimensions:
            if dimension.id == dimension_id:
                return dimension
        raise KeyError(dimension_id)

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        refuse_broken(
            [
                *self._broken_names(),
                *self._broken_rules(),
                *self._broken_expectations(),
                *self._broken_conditions(),
                *self._broken_intervals(),
            ]
        )
        return self

    def _broken_names(self) -> Iterator[BrokenRule]:
        by_id: dict[str, Dimension] = {}
        for index, dimension in enumerate(self.dimensions):
            if dimension.id in by_id:
                place = ("dimensions", index, "id")
                yield BrokenRule(place, "two dimensions have the same id")
            by_id.setdefault(dimension.id, dimension)
        goal = by_id.get(self.assigned)
        if self.assigned and (
            goal is None
            or goal.by != "declared"
            or goal.level != "dialogue"
            or goal.measurement not in ("nominal", "ordinal")
        ):
            message = f"assigned: {self.assigned!r} is not a dialogue dimension with labels"
            yield BrokenRule(("assigned",), message)
        if self.felicity is not None:
            restricted = by_id.get(self.felicity)
            if restricted not in self.utterance_dimensions or not restricted.labels:
                message = f"felicity: {self.felicity!r} is not an utterance dimension with labels"
                yield BrokenRule(("felicity",), message)

    def _broken_rules(self) -> Iterator[BrokenRule]:
        by_id = {d.id: d for d in self.dimensions}
        for place, rule in self._rules():
            for dimension_id, labels in rule.items():
                if dimension_id not in by_id:
                    message = f"a rule names the unknown dimension {dimension_id!r}"
                    yield BrokenRule((*place, dimension_id), message)
                    continue
                for label in labels:
                    if label not in by_id[dimension_id].values:
                        message = f"a rule names {label!r}, no label of {dimension_id!r}"
                        yield BrokenRule((*place, dimension_id), message)
        spoken = {d.id for d in self.utterance_dimensions}
        for index, rare in enumerate(self.rarely_together):
            for dimension_id in rare.labels:
                if dimension_id in by_id and dimension_id not in spoken:
                    message = f"{dimension_id!r} is no dimension that every utterance declares"
                    yield BrokenRule(("rarely_together", index, "labels", dimension_id), message)

    def _rules(self) -> Iterator[tuple[tuple[str | int, ...], Mapping[str, tuple[str, ...]]]]:
        """Yield whatever names labels by dimension, with its place."""
        for index, contradiction in enumerate(self.contradictions):
            yield ("contradictions", index, "labels"), contradiction.labels
        for index, rare in enumerate(self.rarely_together):
            yield ("rarely_together", index, "labels"), rare.labels
        for index, self_contradiction in enumerate(self.self_contradictions):
            yield ("self_contradictions", index, "labels"), self_contradiction.labels
        yield ("common_labels",), self.common_labels
        for index, requirement in enumerate(self.requirements):
            yield ("requirements", index, "when"), requirement.when
            yield ("requirements", index, "some_turn"), requirement.some_turn

    def _broken_expectations(self) -> Iterator[BrokenRule]:
        known = set(next((d.values for d in self.dimensions if d.id == self.assigned), ("",)))
        for index, dimension in enumerate(self.dimensions):
            for goal in dimension.expect:
                if goal not in known:
                    message = f"{dimension.id}: expect: {goal!r} is no {self.assigned}"
                    yield BrokenRule(("dimensions", index, "expect"), message)

    def _broken_conditions(self) -> Iterator[BrokenRule]:
        """What a label or a dimension depends on stands before it: so there is no circle."""
        before: dict[str, tuple[str, ...]] = {}
        for index, dimension in enumerate(self.dimensions):
            here = ("dimensions", index)
            conditions: list[tuple[tuple[str | int, ...], str, Mapping[str, tuple[str, ...]]]]
            conditions = [((*here, "when"), "when", dimension.when)]
            conditions += [
                ((*here, "labels", number, "for"), f"{label.id}: for", label.applies)
                for number, label in enumerate(dimension.labels)
            ]
            for place, named, condition in conditions:
                for name, values in condition.items():
                    if name == ROLE and named != "when":
                        continue
                    if name not in before:
                        message = f"{dimension.id}: {named}: no dimension {name!r} stands before it"
                        yield BrokenRule(place, message)
                    elif unknown := [value for value in values if value not in before[name]]:
                        message = f"{dimension.id}: {named}: {unknown[0]!r} is no label of {name!r}"
                        yield BrokenRule(place, message)
            before[dimension.id] = dimension.values

    def _broken_intervals(self) -> Iterator[BrokenRule]:
        numbers = {d.id for d in self.dimensions if d.measurement == "interval"}
        for index, dimension in enumerate(self.dimensions):
            if dimension.polarity_on is not None and dimension.polarity_on not in numbers:
                message = (
                    f"{dimension.id}: polarity_on: {dimension.polarity_on!r} is no interval "
                    "dimension"
                )
                yield BrokenRule(("dimensions", index, "polarity_on"), message)
        for index, contradiction in enumerate(self.self_contradictions):
            for dimension_id, (lowest, highest) in contradiction.intervals.items():
                place = ("self_contradictions", index, "intervals", dimension_id)
                if dimension_id not in numbers:
                    message = f"a rule names {dimension_id!r}, no interval dimension"
                    yield BrokenRule(place, message)
                elif lowest > highest:
                    message = f"the rule for {dimension_id!r} starts above its end"
                    yield BrokenRule(place, message)


_DIMENSION_DEFAULTS: Mapping[str, object] = {
    "by": "declared", "expect": {}, "look_at": "", "steps": [], "contrast": [], "of": [],
    "when": {}, "derived": None,
}  # fmt: skip
_LABEL_DEFAULTS: Mapping[str, object] = {"applies": {}, "group": [], "option": ""}
_READ_BY_STATISTICS = ("wheel", "polarity_on", "polarity")
"""Fields of dimensions and labels that change no dialogue and no label."""
_SCHEME_DEFAULTS: Mapping[str, object] = {
    "terms": {}, "conventions": [], "ties": [], "rarely_together": [],
}  # fmt: skip


def _without_defaults(
    plain: Mapping[str, Any], defaults: Mapping[str, object]
) -> dict[str, object]:
    return {k: v for k, v in plain.items() if k not in defaults or v != defaults[k]}
