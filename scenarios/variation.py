"""Axes of variation: personas, registers, styles of asking, opening wordings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, model_validator

from scenarios.case import AIM
from scenarios.errors import InputError, Problem, UsageError
from scenarios.fingerprint import fingerprint, seed_from
from scenarios.flow import WORDING
from scenarios.lines.model import GOLD_AXIS
from scenarios.located import Located
from scenarios.openings import HARD_QUESTION, OPENING, OPENINGS
from scenarios.openings import choices as opening_choices
from scenarios.schemes.model import Identifier
from scenarios.spec import Scenario
from scenarios.spelling import suggestion
from scenarios.strict import Strict
from scenarios.terms import INITIATOR, RESPONDER, Openings, RoleKey
from scenarios.yaml_source import read_yaml, validate_model

_SHIPPED = Path(__file__).parent / "data" / "variation.yaml"
_BOTH: tuple[RoleKey, ...] = (INITIATOR, RESPONDER)
_OPENING_PARTS = (OPENING, HARD_QUESTION)
_NO_DRAWS = (AIM, OPENINGS, GOLD_AXIS)
"""Names under which cases record what no axis draws."""


class AxisValue(Strict):
    """One value of an axis: its id, and the line the prompts show for it."""

    id: Identifier
    text: Annotated[str, Field(min_length=1, max_length=300)]


class Axis(Strict):
    """One way in which dialogues may differ."""

    heading: Annotated[str, Field(min_length=1, max_length=40, pattern=r"^[^\n:#]+$")]
    """What the prompt calls it, e.g. ``Register``."""
    roles: Annotated[tuple[Identifier, ...], Field(alias="for", min_length=1)]
    """The roles whose prompt shows it: ``initiator``, ``responder``, or roles of a flow."""
    values: tuple[AxisValue, ...] = ()
    shared: bool = False
    """Whether both roles get the same draw; otherwise an axis for both is drawn for each."""
    wordings: bool = False
    """Whether the axis has no values, and draws among a scenario's opening wordings instead."""

    @model_validator(mode="after")
    def _has_values(self) -> Self:
        if self.wordings == bool(self.values):
            raise ValueError("an axis has either values or wordings: true")
        ids = [value.id for value in self.values]
        if len(set(ids)) < len(ids):
            raise ValueError("two values have the same id")
        if len(set(self.roles)) < len(self.roles):
            raise ValueError("a role stands twice in for")
        return self

    @property
    def fingerprint(self) -> str:
        """The content hash of the axis."""
        return fingerprint(self.model_dump(mode="json"))

    def keys(self, name: str) -> dict[str, tuple[RoleKey, ...]]:
        """Return the keys that draws of this axis are recorded under, with the roles they concern.

        Shared draws concern whoever speaks in a flow, too.
        """
        if self.wordings:
            return dict.fromkeys(_OPENING_PARTS, ())
        if self.shared or len(self.roles) == 1:
            return {name: self.roles}
        return {f"{name}_{role}": (role,) for role in self.roles}

    def concerns(self, role: RoleKey, drawn_for: Iterable[RoleKey]) -> bool:
        """Whether a role is told what was drawn for some: who speaks in a flow hears what is shared."""
        return role in drawn_for or (self.shared and role not in _BOTH)

    def line(self, value_id: str) -> str:
        """Return a value as prompts show it, behind the heading.

        Raises:
            UsageError: the axis has no such value.
        """
        return f"{self.heading}: {' '.join(self.text(value_id).split())}"

    def text(self, value_id: str) -> str:
        """Return the line of one value.

        Raises:
            UsageError: the axis has no such value.
        """
        for value in self.values:
            if value.id == value_id:
                return value.text
        raise UsageError(
            f"the variation {self.heading!r} has no value {value_id!r}",
            suggestion(value_id, [value.id for value in self.values], listing="values"),
        )


class _AxisChange(Strict):
    """What a file says about an axis: all of it, or what to add to one that exists."""

    heading: str | None = None
    roles: Annotated[tuple[Identifier, ...] | None, Field(alias="for")] = None
    values: tuple[AxisValue, ...] = ()
    shared: bool | None = None
    wordings: bool = False
    replace: bool = False


class _AxesFile(Strict):
    axes: Annotated[dict[Identifier, _AxisChange], Field(min_length=1)]


def load_axes(path: Path | None = None) -> Mapping[str, Axis]:
    """Return the axes that ship, with those of a file added to them.

    Raises:
        InputError: the file is not a set of axes.
    """
    shipped = _shipped_axes()
    return shipped if path is None else _merged(shipped, read_yaml(path))


@cache
def _shipped_axes() -> Mapping[str, Axis]:
    return _merged({}, read_yaml(_SHIPPED))


def _merged(known: Mapping[str, Axis], located: Located) -> Mapping[str, Axis]:
    axes = dict(known)
    for name, change in validate_model(_AxesFile, located).axes.items():
        before = axes.get(name)
        values = {} if before is None or change.replace else {v.id: v for v in before.values}
        values.update((value.id, value) for value in change.values)
        heading = change.heading or (
            before.heading if before else name.replace("_", " ").capitalize()
        )
        shared = before is not None and before.shared if change.shared is None else change.shared
        fields = {
            "heading": heading,
            "for": change.roles or (before.roles if before else _BOTH),
            "values": [value.model_dump() for value in values.values()],
            "shared": shared,
            "wordings": change.wordings or (before.wordings if before else False),
        }
        axes[name] = _axis(name, fields, located)
        _refuse_taken(name, axes[name], located)
    return axes


def _refuse_taken(name: str, axis: Axis, located: Located) -> None:
    """Refuse an axis whose draws would be recorded under a name that says something else.

    Raises:
        InputError: they would.
    """
    taken = _NO_DRAWS if axis.wordings else (*_NO_DRAWS, *_OPENING_PARTS)
    for key in axis.keys(name):
        if key in taken or key.startswith(WORDING):
            raise InputError(
                [
                    Problem(
                        located.file, located.line(("axes", name)), f"axes.{name}",
                        f"the name {key!r}", "another name",
                        "cases record something else under it", "reserved",
                    )
                ]
            )  # fmt: skip


def _axis(name: str, fields: Mapping[str, object], located: Located) -> Axis:
    lines = {path[2:]: line for path, line in located.lines.items() if path[:2] == ("axes", name)}
    try:
        return validate_model(Axis, Located(dict(fields), located.file, lines))
    except InputError as error:
        raise InputError([_under(name, problem) for problem in error.problems]) from None


def _under(name: str, problem: Problem) -> Problem:
    field = f"axes.{name}.{problem.field}" if problem.field else f"axes.{name}"
    return Problem(
        problem.file, problem.line, field, problem.found, problem.expected, problem.hint,
        problem.code, problem.severity,
    )  # fmt: skip


def choose_axes(names: Iterable[str], known: Mapping[str, Axis]) -> dict[str, Axis]:
    """Return the named axes, in the order of ``names``.

    Raises:
        UsageError: there is no axis of that name.
    """
    chosen = {}
    for name in names:
        if name not in known:
            raise UsageError(
                f"unknown variation axis {name!r}", suggestion(name, known, listing="axes")
            )
        chosen[name] = known[name]
    return chosen


def draw_variation(
    axes: Sequence[str] | Mapping[str, Axis],
    *,
    scenario: Scenario,
    fact: str,
    turns: int,
    repetition: int,
    seed: int,
    openings: Openings = "by-goal",
) -> dict[str, str]:
    """Draw a value of every axis for one case, by its seed alone; the same for every goal.

    In a scenario with a flow, what everybody shares is drawn, axes for roles of the flow, and among
    the wordings of fixed words; axes for the two roles of question and answer do not apply.

    Args:
        axes: the axes to draw, or names of axes that ship.
        scenario: the scenario, whose opening lines the axis ``opening`` draws among.
        fact: the id of the fact.
        turns: improvised exchanges.
        repetition: which repetition of the case.
        seed: the seed of the run.
        openings: the kind of opening that the axis ``opening`` draws from.

    Returns:
        Recorded name to value id; persona has one for each role, opening the place of what a
        dialogue opens with and, where that is shared, that of the hard question's wording.

    Raises:
        UsageError: there is no axis of that name, or the scenario has no opening of this kind.
    """
    if not isinstance(axes, Mapping):
        axes = choose_axes(axes, load_axes(None))
    drawn: dict[str, str] = {}
    for name, axis in axes.items():
        for key, choices in _choices(axis, name, scenario, fact, openings).items():
            place = seed_from(seed, "vary", key, scenario.id, fact, turns, repetition)
            drawn[key] = choices[place % len(choices)]
    return drawn


def _choices(
    axis: Axis, name: str, scenario: Scenario, fact: str, openings: Openings
) -> dict[str, list[str]]:
    """Return what an axis may draw for a case, by recorded name."""
    if not axis.wordings:
        there = scenario.roles if scenario.flow else _BOTH
        keys = (
            k for k, of in axis.keys(name).items() if axis.shared or any(r in there for r in of)
        )
        return {k: [v.id for v in axis.values] for k in keys}
    if scenario.flow:
        phases = (phase for phase in scenario.flow if len(phase.text) > 1)
        return {WORDING + p.id: [str(place) for place in range(len(p.text))] for p in phases}
    places = opening_choices(scenario, fact, openings)
    return {k: [str(place) for place in places[k]] for k in axis.keys(name) if k in places}


def with_roles_there(axes: Mapping[str, Axis], scenarios: Iterable[Scenario]) -> Mapping[str, Axis]:
    """Return axes, if some scenario has every role that one of them is for.

    Raises:
        UsageError: none has; roles of a flow are called as its scenario calls them.
    """
    known = dict.fromkeys((*_BOTH, *(role for scenario in scenarios for role in scenario.roles)))
    for name, axis in axes.items():
        for role in axis.roles:
            if role not in known:
                raise UsageError(
                    f"the variation axis {name!r} is for the role {role!r}, which no scenario has",
                    suggestion(role, known, listing="roles"),
                )
    return axes


def manner_lines(
    axes: Mapping[str, Axis], variation: Mapping[str, str], role: RoleKey
) -> tuple[str, ...]:
    """Return the lines that tell one role how to speak, one for each drawn axis that concerns it.

    Raises:
        UsageError: a drawn value is not among the axes.
    """
    lines = []
    for name, axis in axes.items():
        for key, roles in axis.keys(name).items():
            if axis.concerns(role, roles) and key in variation:
                lines.append(axis.line(variation[key]))
    return tuple(lines)


def as_told(
    scenario: Scenario, axes: Mapping[str, Axis], variation: Iterable[tuple[str, str]]
) -> Scenario:
    """Return a scenario with what everybody in a dialogue was told beside it.

    What is drawn once for all of them, such as who stands above whom or how formally they talk, is no
    secret: whoever reads the dialogue is to know it as they did. It stands behind the background.

    Raises:
        UsageError: a drawn value is not among the axes.
    """
    drawn = dict(variation) if axes else {}
    lines = [
        axis.line(drawn[name])
        for name, axis in axes.items()
        if name in drawn and _is_told(axis, scenario)
    ]
    if not lines:
        return scenario
    return scenario.model_copy(update={"background": "\n".join([scenario.background, *lines])})


def told_axes(axes: Mapping[str, Axis], scenarios: Iterable[Scenario]) -> dict[str, str]:
    """Return, by name, the content hashes of the axes of which :func:`as_told` tells in any scenario."""
    there = list(scenarios)
    return {
        name: axis.fingerprint
        for name, axis in axes.items()
        if any(_is_told(axis, scenario) for scenario in there)
    }


def _is_told(axis: Axis, scenario: Scenario) -> bool:
    """Whether what an axis draws is drawn once for everybody in a scenario."""
    return axis.shared and all(axis.concerns(role, axis.roles) for role in scenario.roles)
