"""A dimension: one question about words, and the labels that answer it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Final, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from scenarios.strict import BrokenRule, Strict, as_tuple, refuse_broken
from scenarios.terms import LabelValue

Level = Literal["utterance", "dialogue", "span"]
"""What is labelled: one turn, all of them, or a run of turns of one speaker or a part of a turn."""
Measurement = Literal["nominal", "ordinal", "interval", "multi"]
Identifier = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=64)]


_Names = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(min_length=1)]
Names = Annotated[_Names, BeforeValidator(as_tuple, json_schema_input_type=str | _Names)]
_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")
ROLE: Final = "role"
"""In the conditions of a label: the role whose words are labelled, in place of a dimension."""


class Label(Strict):
    """One value of a dimension, with what a person or a model needs to choose it."""

    model_config = ConfigDict(populate_by_name=True)

    id: Annotated[str, Field(min_length=1, max_length=64)]
    """Its name in tables and data sets."""
    definition: Annotated[str, Field(min_length=1)]
    """One or two sentences that decide cases."""
    example: str = ""
    """A line that it fits."""
    aliases: tuple[str, ...] = ()
    """Other spellings of models and people; each once in a dimension."""
    applies: dict[str, Names] = Field(default_factory=dict, alias="for")
    """Where it can be chosen: by ``role`` or another dimension, the values of which one holds."""
    group: Annotated[tuple[str, ...], BeforeValidator(as_tuple)] = ()
    """Groups that it is in: a task can forbid options of a group that the right one is in."""
    option: str = ""
    """How it reads as one of the options of a question, where that is not its definition;
    ``{name}`` stands for what the scenario says under that name in its data."""
    polarity: Literal["negative", "neutral", "positive"] | None = None
    """On which side of the scale of ``polarity_on`` it lies; statistics alone read it."""

    def __hash__(self) -> int:
        """Hash what tells labels apart; equal labels have equal ones."""
        return hash((self.id, self.definition, self.example, self.aliases, self.group))

    def worded(self, names: Mapping[str, str]) -> str:
        """Return how it reads as an option of a question.

        Args:
            names: what ``{name}`` stands for; where one of them is missing, it is the definition.
        """
        missing: set[str] = set()

        def name(found: re.Match[str]) -> str:
            missing.update({found[1]} - set(names))
            return names.get(found[1], "")

        text = _PLACEHOLDER.sub(name, self.option)
        return text if text and not missing else self.definition

    def fits(self, role: str, others: Mapping[str, LabelValue | None]) -> bool:
        """Return whether it can be chosen for words of a role that have other labels.

        Args:
            role: who said them.
            others: labels by dimension; a condition on a dimension that is not there holds.
        """
        return self.goes_with({ROLE: role, **others})

    def goes_with(self, known: Mapping[str, LabelValue | None]) -> bool:
        """Return whether what is known of words, by dimension or ``role``, allows for it."""
        return all(
            name not in known or _holds(known[name], values)
            for name, values in self.applies.items()
        )


def _holds(value: LabelValue | None, values: tuple[str, ...]) -> bool:
    """Whether a label, or one of several, is among those of a condition."""
    if isinstance(value, tuple):
        return not set(value).isdisjoint(values)
    return value in values


class Derived(Strict):
    """How a number follows from the labels that one annotator gave to a dialogue, in turn order."""

    model_config = ConfigDict(extra="allow")

    function: Annotated[str, Field(min_length=1, max_length=64)]
    """Name of a registered function; all other keys are its parameters."""

    @property
    def parameters(self) -> Mapping[str, object]:
        """What the function is given besides the labels."""
        return dict(self.model_extra or {})


class Step(Strict):
    """One step of a labelling procedure: the first step that holds gives the label."""

    when: Annotated[str, Field(min_length=1)]
    """A condition that a reader can check."""
    label: str
    """The label where it holds."""


class Contrast(Strict):
    """A line that is easily given the wrong one of two labels, and what decides between them."""

    model_config = ConfigDict(populate_by_name=True)

    text: Annotated[str, Field(min_length=1)]
    """The line."""
    label: Annotated[str, Field(alias="is")]
    """Its label."""
    rival: Annotated[str, Field(alias="not")]
    """The label it is easily given."""
    because: Annotated[str, Field(min_length=1)]
    """What decides between the two."""


class Dimension(Strict):
    """One question asked of every utterance or of the dialogue as a whole."""

    id: Identifier
    """Its name: lower-case letters, digits and _."""
    level: Level
    """One turn, the whole dialogue, or a run of turns of one speaker."""
    measurement: Measurement = "nominal"
    """Labels without an order, labels from low to high, a number, or several labels at once."""
    title: str = ""
    """A heading for forms and reports."""
    question: Annotated[str, Field(min_length=1)]
    """What people and judges are asked."""
    labels: tuple[Label, ...] = ()
    """What answers it, at least two; from low to high where it is ordinal. None of an interval."""
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
    of: Annotated[tuple[str, ...], BeforeValidator(as_tuple)] = ()
    """Ids of the roles whose words carry it; empty: every role that is labelled."""
    when: dict[str, Names] = Field(default_factory=dict)
    """Asked only where the same words have one of these labels, by dimension."""
    derived: Derived | None = None
    """How it is computed; nobody is asked for it. None: somebody is."""
    wheel: bool = False
    """Whether the labels stand in a circle, in this order, so that each has two neighbours, e.g.
    emotions on Plutchik's wheel; statistics of disagreement alone read it."""
    polarity_on: Identifier | None = None
    """The interval dimension on whose scale the labels have a polarity, e.g. valence."""

    def __hash__(self) -> int:
        """Hash what tells most dimensions apart; equal ones have equal hashes, made in no time."""
        return hash((self.id, self.level, self.measurement, len(self.labels), self.range))

    @property
    def values(self) -> tuple[str, ...]:
        """The ids of the labels, in order (for an ordinal dimension, lowest first)."""
        return tuple(label.id for label in self.labels)

    def admits(self, value: LabelValue) -> bool:
        """Return whether this is one of its labels, several of them, or a number where it has those."""
        if isinstance(value, str | tuple):
            return ({value} if isinstance(value, str) else {*value}) <= {*self.values}
        return self.range is not None

    def concerns(self, role: str) -> bool:
        """Return whether words of a role carry it."""
        return not self.of or role in self.of

    @property
    def depends_on_role(self) -> bool:
        """Whether who speaks decides if it is asked, or which labels can be chosen."""
        return bool(self.of) or any(ROLE in label.applies for label in self.labels)

    def limited_to(self, role: str) -> Self:
        """Return the dimension with the labels that can be chosen for words of a role.

        It is asked only beside labels that one of these goes with.
        """
        kept = self.choices(role)
        if len(kept) == len(self.labels):
            return self
        ids = {label.id for label in kept}
        when = {
            name: tuple(x for x in values if any(y.goes_with({name: x}) for y in kept)) or values
            for name, values in self.when.items()
        }
        return self.model_copy(
            update={
                "labels": kept,
                "when": when,
                "steps": tuple(step for step in self.steps if step.label in ids),
                "contrast": tuple(x for x in self.contrast if {x.label, x.rival} <= ids),
            }
        )

    def is_asked(self, others: Mapping[str, LabelValue | None]) -> bool:
        """Return whether words that have other labels are asked about, as ``when`` says.

        Where none of its labels goes with the others, there is nothing to ask.

        Args:
            others: labels by dimension, and who spoke under ``role``; one that is not there fulfils
                no condition, and rules out no label.
        """
        asked = all(_holds(others.get(name), values) for name, values in self.when.items())
        return asked and (not self.labels or any(x.goes_with(others) for x in self.labels))

    def choices(
        self, role: str, others: Mapping[str, LabelValue | None] | None = None
    ) -> tuple[Label, ...]:
        """Return the labels that can be chosen for words of a role that have other labels."""
        return tuple(label for label in self.labels if label.fits(role, others or {}))

    @property
    def point_values(self) -> tuple[float, ...]:
        """The values of the points, lowest first; empty where any number of the range will do."""
        if self.range is None or self.points is None:
            return ()
        lowest, highest = self.range
        last = self.points - 1
        return tuple(((last - i) * lowest + i * highest) / last for i in range(self.points))

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        refuse_broken(
            [
                *self._broken_points(),
                *self._broken_measurement(),
                *self._broken_labels(),
                *self._broken_statistics(),
                *self._broken_procedure(),
            ]
        )
        return self

    def _broken_points(self) -> Iterator[BrokenRule]:
        if self.points is not None and self.measurement != "interval":
            yield BrokenRule(("points",), "only an interval dimension has points")
        if self.anchors and len(self.anchors) != self.points:
            message = f"{len(self.anchors)} anchors do not name {self.points or 0} points"
            yield BrokenRule(("anchors",), message)
        if len({anchor.casefold() for anchor in self.anchors}) < len(self.anchors):
            yield BrokenRule(("anchors",), "two points have the same name")

    def _broken_measurement(self) -> Iterator[BrokenRule]:
        if self.derived is not None:
            if self.measurement != "interval" or self.labels:
                message = "a derived dimension is an interval dimension without labels"
                yield BrokenRule(("derived",), message)
        elif self.measurement == "interval":
            if self.range is None or self.range[0] >= self.range[1]:
                yield BrokenRule(("range",), "an interval dimension needs range: [lowest, highest]")
        elif len(self.labels) < 2:
            yield BrokenRule(("labels",), "a dimension needs at least two labels")

    def _broken_labels(self) -> Iterator[BrokenRule]:
        seen: set[str] = set()
        for index, label in enumerate(self.labels):
            for place, name in (("id", label.id), *(("aliases", name) for name in label.aliases)):
                if name.casefold() in seen:
                    message = f"label or alias {name!r} stands twice"
                    yield BrokenRule(("labels", index, place), message)
                seen.add(name.casefold())

    def _broken_statistics(self) -> Iterator[BrokenRule]:
        if self.wheel and (self.measurement != "nominal" or len(self.labels) < 4):
            message = "wheel: only four or more labels without an order stand in a circle"
            yield BrokenRule(("wheel",), message)
        if self.polarity_on is None and any(label.polarity for label in self.labels):
            message = "labels have a polarity: polarity_on must name the scale it is on"
            yield BrokenRule(("labels",), message)

    def _broken_procedure(self) -> Iterator[BrokenRule]:
        named: list[tuple[tuple[str | int, ...], str]] = []
        named += [(("steps", i, "label"), step.label) for i, step in enumerate(self.steps)]
        for index, line in enumerate(self.contrast):
            named += [(("contrast", index, "is"), line.label)]
            named += [(("contrast", index, "not"), line.rival)]
        named += [(("expect", goal), label) for goal, label in self.expect.items()]
        for place, label in named:
            if label not in self.values:
                yield BrokenRule(place, f"{label!r} is no label of {self.id!r}")
        reached = {step.label for step in self.steps}
        unreached = [value for value in self.values if self.steps and value not in reached]
        if unreached:
            yield BrokenRule(("steps",), f"no step of {self.id!r} leads to {unreached[0]!r}")
        if self.expect and self.by != "reader":
            message = "only a dimension that readers label (by: reader) expects labels"
            yield BrokenRule(("expect",), message)
