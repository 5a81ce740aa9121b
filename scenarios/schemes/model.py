"""A scheme: the label dimensions that dialogues are generated, judged and scored with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from scenarios.fingerprint import fingerprint
from scenarios.strict import Strict

Level = Literal["utterance", "dialogue"]
Measurement = Literal["nominal", "ordinal", "interval", "multi"]
Identifier = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=64)]
LabelValue = str | float | tuple[str, ...]
"""One label (nominal, ordinal), a number (interval), or several labels (multi)."""


class Label(Strict):
    """One value of a dimension, with what a person or a model needs to choose it."""

    id: Annotated[str, Field(min_length=1, max_length=64)]
    definition: Annotated[str, Field(min_length=1)]
    example: str = ""
    aliases: tuple[str, ...] = ()


class Step(Strict):
    """One step of a labelling procedure: the first step that holds gives the label."""

    when: Annotated[str, Field(min_length=1)]
    label: str


class Contrast(Strict):
    """A line that is easily given the wrong one of two labels, and what decides between them."""

    model_config = ConfigDict(populate_by_name=True)

    text: Annotated[str, Field(min_length=1)]
    label: Annotated[str, Field(alias="is")]
    rival: Annotated[str, Field(alias="not")]
    because: Annotated[str, Field(min_length=1)]


class Dimension(Strict):
    """One question asked of every utterance or of the dialogue as a whole."""

    id: Identifier
    level: Level
    measurement: Measurement = "nominal"
    title: str = ""
    question: Annotated[str, Field(min_length=1)]
    labels: tuple[Label, ...] = ()
    range: tuple[float, float] | None = None
    """Lowest and highest value of an interval dimension."""
    points: Annotated[int, Field(ge=2, le=1001)] | None = None
    """How many equally spaced values people choose from (interval only); None means any number."""
    anchors: tuple[str, ...] = ()
    """What the points are called, lowest first; empty where they are numbers only."""
    by: Literal["declared", "reader"] = "declared"
    """Who gives the label: the speaker declares it and readers check it, or readers alone."""
    expect: dict[str, str] = Field(default_factory=dict)
    """Of a reader dimension: by label of the assigned dimension, the label readers should find."""
    look_at: str = ""
    """Which part of what was said the steps are about, e.g. the whole line."""
    steps: tuple[Step, ...] = ()
    """The labelling procedure, in order: the first step that holds gives the label."""
    contrast: tuple[Contrast, ...] = ()
    """Lines that are easily mislabelled, for readers."""

    def __hash__(self) -> int:
        """Hash what is hashable of the fields; equal dimensions have equal ones."""
        return hash((self.id, self.level, self.measurement, self.labels, self.range, self.points))

    @property
    def values(self) -> tuple[str, ...]:
        """The ids of the labels, in order (for an ordinal dimension, lowest first)."""
        return tuple(label.id for label in self.labels)

    @property
    def point_values(self) -> tuple[float, ...]:
        """The values of the points, lowest first; empty where any number of the range will do."""
        if self.range is None or self.points is None:
            return ()
        lowest, highest = self.range
        last = self.points - 1
        return tuple(((last - i) * lowest + i * highest) / last for i in range(self.points))

    @model_validator(mode="after")
    def _points_fit(self) -> Self:
        if self.points is not None and self.measurement != "interval":
            raise ValueError("only an interval dimension has points")
        if self.anchors and len(self.anchors) != self.points:
            raise ValueError(f"{len(self.anchors)} anchors do not name {self.points or 0} points")
        if len({anchor.casefold() for anchor in self.anchors}) < len(self.anchors):
            raise ValueError("two points have the same name")
        return self

    @model_validator(mode="after")
    def _measurement_fits(self) -> Self:
        if self.measurement == "interval":
            if self.range is None or self.range[0] >= self.range[1]:
                raise ValueError("an interval dimension needs range: [lowest, highest]")
        elif len(self.labels) < 2:
            raise ValueError("a dimension needs at least two labels")
        seen: set[str] = set()
        for label in self.labels:
            for name in (label.id, *label.aliases):
                if name.casefold() in seen:
                    raise ValueError(f"label or alias {name!r} stands twice")
                seen.add(name.casefold())
        return self

    @model_validator(mode="after")
    def _procedure_fits(self) -> Self:
        named = [step.label for step in self.steps]
        named += [label for line in self.contrast for label in (line.label, line.rival)]
        named += self.expect.values()
        for label in named:
            if label not in self.values:
                raise ValueError(f"{label!r} is no label of {self.id!r}")
        unreached = [v for v in self.values if self.steps and v not in named[: len(self.steps)]]
        if unreached:
            raise ValueError(f"no step of {self.id!r} leads to {unreached[0]!r}")
        if self.expect and self.by != "reader":
            raise ValueError("only a dimension that readers label (by: reader) expects labels")
        return self


class Contradiction(Strict):
    """Labels that may not occur together, e.g. truthful non-disclosure with Quality."""

    labels: dict[str, tuple[str, ...]]
    reason: str


class Requirement(Strict):
    """What at least one utterance of a dialogue must carry when the dialogue has given labels."""

    when: dict[str, tuple[str, ...]]
    some_turn: dict[str, tuple[str, ...]]
    reason: str


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
    version: int = 1
    title: str
    description: str = ""
    source: str = ""
    dimensions: Annotated[tuple[Dimension, ...], Field(min_length=1)]
    assigned: Identifier
    """The nominal dialogue dimension whose label a case assigns to the responder (its goal)."""
    felicity: Identifier | None = None
    """The utterance dimension whose labels a scenario may restrict to the felicitous ones."""
    contradictions: tuple[Contradiction, ...] = ()
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
            if dimension["by"] == "declared"
        ]
        return _without_defaults(plain, _SCHEME_DEFAULTS)

    @property
    def name(self) -> str:
        """Id and version, e.g. ``hipo@1``: under which labels are compared with others."""
        return f"{self.id}@{self.version}"

    @property
    def declared(self) -> tuple[Dimension, ...]:
        """The dimensions that speakers declare and people label, in order."""
        return tuple(d for d in self.dimensions if d.by == "declared")

    @property
    def goal(self) -> Dimension:
        """The assigned dialogue dimension."""
        return self.dimension(self.assigned)

    @property
    def utterance_dimensions(self) -> tuple[Dimension, ...]:
        """The dimensions every responder utterance is labelled with, in order."""
        return tuple(d for d in self.declared if d.level == "utterance")

    def read_dimensions(self, level: Level) -> tuple[Dimension, ...]:
        """Return the dimensions of a level that readers alone label, in order."""
        return tuple(d for d in self.dimensions if d.by == "reader" and d.level == level)

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
        ids = [d.id for d in self.dimensions]
        if len(set(ids)) < len(ids):
            raise ValueError("two dimensions have the same id")
        by_id = {d.id: d for d in self.dimensions}
        goal = by_id.get(self.assigned)
        if (
            goal is None
            or goal.by != "declared"
            or goal.level != "dialogue"
            or goal.measurement not in ("nominal", "ordinal")
        ):
            raise ValueError(f"assigned: {self.assigned!r} is not a dialogue dimension with labels")
        if self.felicity is not None:
            dimension = by_id.get(self.felicity)
            if dimension not in self.utterance_dimensions or not dimension.labels:
                raise ValueError(
                    f"felicity: {self.felicity!r} is not an utterance dimension with labels"
                )
        rules = [c.labels for c in self.contradictions]
        rules += [c.labels for c in self.self_contradictions]
        rules += [self.common_labels]
        rules += [part for r in self.requirements for part in (r.when, r.some_turn)]
        for rule in rules:
            for dimension_id, labels in rule.items():
                if dimension_id not in by_id:
                    raise ValueError(f"a rule names the unknown dimension {dimension_id!r}")
                for label in labels:
                    if label not in by_id[dimension_id].values:
                        raise ValueError(f"a rule names {label!r}, no label of {dimension_id!r}")
        return self

    @model_validator(mode="after")
    def _expectations_fit(self) -> Self:
        for dimension in self.dimensions:
            unknown = [goal for goal in dimension.expect if goal not in self.goal.values]
            if unknown:
                raise ValueError(f"{dimension.id}: expect: {unknown[0]!r} is no {self.assigned}")
        return self

    @model_validator(mode="after")
    def _intervals_exist(self) -> Self:
        numbers = {d.id for d in self.dimensions if d.measurement == "interval"}
        for contradiction in self.self_contradictions:
            for dimension_id, (lowest, highest) in contradiction.intervals.items():
                if dimension_id not in numbers:
                    raise ValueError(f"a rule names {dimension_id!r}, no interval dimension")
                if lowest > highest:
                    raise ValueError(f"the rule for {dimension_id!r} starts above its end")
        return self


_DIMENSION_DEFAULTS: Mapping[str, object] = {
    "by": "declared", "expect": {}, "look_at": "", "steps": [], "contrast": [],
}  # fmt: skip
_SCHEME_DEFAULTS: Mapping[str, object] = {"terms": {}, "conventions": [], "ties": []}


def _without_defaults(
    plain: Mapping[str, Any], defaults: Mapping[str, object]
) -> dict[str, object]:
    return {k: v for k, v in plain.items() if k not in defaults or v != defaults[k]}
