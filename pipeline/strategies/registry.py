"""Strategies by name: what each declares of itself, and those that ship.

A strategy is one file: it ends with a :class:`StrategyExtension`, from which the settings of a
recipe, the roles of an arm, estimates, help texts and the player are made.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeVar

from pipeline.expected_calls import ArmParts, ExpectedCalls
from scenarios.extensions import ExtensionPoint, told_of_plugin
from scenarios.fingerprint import fingerprint
from scenarios.plugins import PointName
from scenarios.strict import Strict

if TYPE_CHECKING:  # importing a recipe reads this module: it must stay light
    from pipeline.strategies.protocol import ScriptStrategy, Strategy
    from scenarios.spec import Scenario

S = TypeVar("S", bound=Strict)


class NoStrategySettings(Strict):
    """The settings of a strategy that has none."""


def all_settings(settings: Strict) -> dict[str, object]:
    """Return every setting as plain data."""
    return settings.model_dump(mode="json")


@dataclass(frozen=True, slots=True)
class StrategyExtension(Generic[S]):
    """A strategy by its name, with the settings a recipe may give it under that name."""

    point: ClassVar[PointName] = "strategy"
    name: str
    summary: str
    """What it does with a draft, for help texts; a few words."""
    settings: type[S]
    build: Callable[[ArmParts, S], Strategy | ScriptStrategy]
    calls: Callable[[S], Sequence[ExpectedCalls]]
    """Returns what it asks for; the roles in there are those that need a model."""
    identity: Callable[[S], Mapping[str, object]] = all_settings
    """Returns the settings that can change what is said: part of the arm's id."""
    temperature: Callable[[S], float | None] = lambda _: None
    """Returns the responder's temperature, or None to leave it to the model's settings."""
    top_p: Callable[[S], float | None] = lambda _: None
    """Returns the responder's top-p, or None to leave it to the model's settings."""
    unsaid: Mapping[str, object] = field(default_factory=dict)
    """What settings were in runs that were begun before there were such settings, by name."""
    embeds: bool = False
    """Whether it needs an encoder; which one is part of the arm's id, too."""
    critics: Callable[[S], Sequence[str]] = lambda _: ()
    """Returns the names of the critics it uses."""
    knows_all: bool = False
    """Whether the responder's model writes what everybody says, knowing what each keeps back: it is
    a :class:`pipeline.strategies.protocol.ScriptStrategy`, and nobody is asked as the initiator."""
    longest_answer: int | None = None
    """Tokens of the responder's longest answer where a recipe says nothing; None: as everywhere."""
    check: Callable[[Scenario], None] = lambda _: None
    """Raises ``UsageError`` where it cannot play a scenario, before anything is sent."""

    def sampling(self, settings: S) -> dict[str, float | int | None]:
        """Return what it says of how the responder's model samples; None: the model's settings say."""
        with told_of_plugin(STRATEGIES, self.name):
            said = {"temperature": self.temperature(settings), "top_p": self.top_p(settings)}
            for name, value in said.items():
                if value is not None and not 0 <= value < math.inf:
                    raise ValueError(f"its {name} is {value}, expected a number from 0")
        return said

    def arm_settings(self, settings: S) -> Mapping[str, object]:
        """Return the settings that are part of the arm's id, as plain data."""
        with told_of_plugin(STRATEGIES, self.name):
            identity = dict(self.identity(settings))
            fingerprint(identity)
        return identity

    def criticised_by(self, settings: S) -> tuple[str, ...]:
        """Return the names of the critics it uses."""
        with told_of_plugin(STRATEGIES, self.name):
            return _names(self.critics(settings))

    def roles(self, settings: S) -> tuple[str, ...]:
        """Return the roles whose models are asked, the initiator first if it is one of them."""
        with told_of_plugin(STRATEGIES, self.name):
            asked = [calls.role for calls in self.calls(settings)]
        speaking = ("responder",) if self.knows_all else ("initiator", "responder")
        return tuple(dict.fromkeys((*speaking, *asked)))


def _names(listed: Sequence[str]) -> tuple[str, ...]:
    if isinstance(listed, str):
        raise TypeError(f"its critics are {listed!r}, expected a list of names")
    return tuple(listed)


STRATEGIES: Final[ExtensionPoint[StrategyExtension[Any]]] = ExtensionPoint(
    "strategy",
    StrategyExtension,
    {
        "direct": "pipeline.strategies.direct:STRATEGY",
        "reflective": "pipeline.strategies.reflective:STRATEGY",
        "consistency": "pipeline.strategies.consistency:STRATEGY",
        "verified": "pipeline.strategies.verified:STRATEGY",
        "screenplay": "pipeline.strategies.screenplay:STRATEGY",
    },
)
"""Every strategy by its name."""
ANY_SCENARIO: Final = tuple(
    name for name in STRATEGIES.shipped if name not in ("verified", "screenplay")
)
"""Those that ship and play any scenario; the others need data to check words by, or a flow."""
