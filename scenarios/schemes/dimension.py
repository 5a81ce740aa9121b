"""A dimension: one question about words, and the labels that answer it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Final, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from scenarios.strict import Strict

Level = Literal["utterance", "dialogue", "span"]
"""What is labelled: one turn, all of them, or a run of turns of one speaker or a part of a turn."""
Measurement = Literal["nominal", "ordinal", "interval", "multi"]
Identifier = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=64)]
LabelValue = str | float | tuple[str, ...]
"""One label (nominal, ordinal), a number (interval), or several labels (multi)."""


def _as_tuple(value: object) -> object:
    """Let one name stand where a list of names is allowed."""
    return (value,) if isinstance(value, str) else value


_Names = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(min_length=1)]
Names = Annotated[_Names, BeforeValidator(_as_tuple, json_schema_input_type=str | _Names)]
_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")
ROLE: Final = "role"
"""In the conditions of a label: the role whose words are labelled, in place of a dimension."""


class Label(Strict):
    """One value of a dimension, with what a person or a model needs to choose it."""

    model_config = ConfigDict(populate_by_name=True)

    id: Annotated[str, Field(min_length=1, max_length=64)]
    definition: Annotated[str, Field(min_length=1)]
    example: str = ""
    aliases: tuple[str, ...] = ()
    applies: dict[str, Names] = Field(default_factory=dict, alias="for")
    """Where it can be chosen: by ``role`` or another dimension, the values of which one holds."""
    group: Annotated[tuple[str, ...], BeforeValidator(_as_tuple)] = ()
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
    of: Annotated[tuple[str, ...], BeforeValidator(_as_tuple)] = ()
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
        """Hash what is hashable of the fields; equal dimensions have equal ones."""
        return hash((self.id, self.level, self.measurement, self.labels, self.range, self.points))

    @property
    def values(self) -> tuple[str, ...]:
        """The ids of the labels, in order (for an ordinal dimension, lowest first)."""
        return tuple(label.id for label in self.labels)

    def concerns(self, role: str) -> bool:
        """Return whether words of a role carry it."""
        return not self.of or role in self.of

    @property
    def depends_on_role(self) -> bool:
        """Whether who speaks decides if it is asked, or which labels can be chosen."""
        return bool(self.of) or any(ROLE in label.applies for label in self.labels)

    def limited_to(self, role: str) -> Self:
        """Return the dimension with the labels that can be chosen for words of a role."""
        kept = self.choices(role)
        if len(kept) == len(self.labels):
            return self
        ids = {label.id for label in kept}
        return self.model_copy(
            update={
                "labels": kept,
                "steps": tuple(step for step in self.steps if step.label in ids),
                "contrast": tuple(x for x in self.contrast if {x.label, x.rival} <= ids),
            }
        )

    def is_asked(self, others: Mapping[str, LabelValue | None]) -> bool:
        """Return whether words that have other labels are asked about, as ``when`` says.

        Args:
            others: labels by dimension; one that is not there fulfils no condition.
        """
        return all(_holds(others.get(name), values) for name, values in self.when.items())

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
        if self.derived is not None:
            if self.measurement != "interval" or self.labels:
                raise ValueError("a derived dimension is an interval dimension without labels")
        elif self.measurement == "interval":
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
    def _statistics_fit(self) -> Self:
        if self.wheel and (self.measurement != "nominal" or len(self.labels) < 4):
            raise ValueError("wheel: only four or more labels without an order stand in a circle")
        if self.polarity_on is None and any(label.polarity for label in self.labels):
            raise ValueError("labels have a polarity: polarity_on must name the scale it is on")
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
