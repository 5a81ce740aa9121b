"""The configuration of a run: its recipe, and what decides the dialogues that come of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

from scenarios.arms import Arm
from scenarios.errors import UsageError
from scenarios.fingerprint import fingerprint
from scenarios.margins import Margin

CANARY = "canary"
"""The setting of an arm whose dialogues are for measuring alone."""


@dataclass(frozen=True)
class RunIdentity:
    """Everything that decides what the dialogues of a run are.

    Counts, selections, limits, budgets and prices are no part of it: they say how much is made,
    not what.
    """

    dialogue_version: int
    """Raised whenever the code would make other dialogues from the same configuration."""
    scheme: str
    """Id of the scheme."""
    scheme_fingerprint: str
    templates: str
    """Fingerprint of the actors' prompt templates; empty for imported dialogues."""
    tactics: str
    """``free``, ``balanced``, ``imported``, or the fingerprint of a tactics file."""
    axes: Mapping[str, str]
    """The variation axes that are drawn from, each with the fingerprint of its values."""
    seed: int
    real_names: bool
    """Whether placeholders are filled with real names."""
    arms: Mapping[str, Arm]
    """Every arm by its id."""
    scenarios: Mapping[str, str]
    """The fingerprint of every selected scenario, by its id."""
    openings: str = "by-goal"
    """Whether dialogues open alike under all goals (``shared``), or with a statement by goal."""
    plugins: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Origin and fingerprint of the plugins that are used, by point and name of the extension."""

    @property
    def canary(self) -> str | None:
        """The string that marks lines for measuring alone; None: the run holds no such lines."""
        marks = (arm.settings.get(CANARY) for arm in self.arms.values())
        return next((str(mark) for mark in marks if mark is not None), None)

    @cached_property
    def fingerprint(self) -> str:
        """The content hash of all of it."""
        return fingerprint(self.fields())

    def fields(self) -> dict[str, Any]:
        """Return it as plain data, in the form it is stored in."""
        return {
            "dialogue_version": self.dialogue_version,
            "scheme": {"id": self.scheme, "content": self.scheme_fingerprint},
            "templates": self.templates,
            "tactics": self.tactics,
            "vary": dict(self.axes),
            "seed": self.seed,
            "real_names": self.real_names,
            "arms": {arm_id: arm.fields() for arm_id, arm in self.arms.items()},
            "scenarios": dict(self.scenarios),
            # Runs made before there was a choice have no such field, and keep their fingerprint.
            **({"openings": self.openings} if self.openings != "by-goal" else {}),
            **({"plugins": dict(self.plugins)} if self.plugins else {}),
        }

    @classmethod
    def from_fields(cls, fields: Mapping[str, Any]) -> Self:
        """Read what :meth:`fields` gave.

        Raises:
            UsageError: a field is missing or of another kind.
        """
        try:
            return cls(
                dialogue_version=int(fields["dialogue_version"]),
                scheme=fields["scheme"]["id"],
                scheme_fingerprint=fields["scheme"]["content"],
                templates=fields["templates"],
                tactics=fields["tactics"],
                axes=dict(fields["vary"]),
                seed=int(fields["seed"]),
                real_names=bool(fields["real_names"]),
                arms={arm: Arm.from_fields(its) for arm, its in fields["arms"].items()},
                scenarios=dict(fields["scenarios"]),
                openings=str(fields.get("openings", "by-goal")),
                plugins=dict(fields.get("plugins", {})),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(
                f"the configuration of the run cannot be read: {type(error).__name__} {error}",
                "it was written by another version of hipo",
            ) from None


@dataclass(frozen=True, slots=True)
class RunConfiguration:
    """What a run was begun or continued with."""

    recipe: Mapping[str, Any] = field(default_factory=dict)
    """The resolved recipe as plain data, without any secret."""
    identity: RunIdentity | None = None
    """None where a run was put together by hand, without a recipe to go on with."""
    cases: int = 0
    """How many cases are planned, for each arm."""
    unmet: tuple[Margin, ...] = ()
    """Wanted shares of tactics that the rules put out of reach."""

    @property
    def fingerprint(self) -> str:
        """The content hash of what decides the dialogues; empty where that is unknown."""
        return "" if self.identity is None else self.identity.fingerprint

    @property
    def real_names(self) -> bool:
        """Whether placeholders are filled with real names."""
        return bool(self.recipe.get("real_names"))

    def fields(self) -> dict[str, Any]:
        """Return it as plain data, in the form it is stored in."""
        identity = {} if self.identity is None else {"configuration": self.identity.fields()}
        unmet = {"unmet_tactics": [m.fields() for m in self.unmet]} if self.unmet else {}
        return {"recipe": dict(self.recipe), **identity, "cases": self.cases, **unmet}

    @classmethod
    def from_fields(cls, fields: Mapping[str, Any]) -> Self:
        """Read what :meth:`fields` gave.

        Raises:
            UsageError: it was written by a version of hipo that stored other fields.
        """
        identity = fields.get("configuration")
        return cls(
            recipe=fields.get("recipe", {}),
            identity=None if identity is None else RunIdentity.from_fields(identity),
            cases=int(fields.get("cases", 0)),
            unmet=tuple(map(Margin.from_fields, fields.get("unmet_tactics", ()))),
        )
