"""Verifiers by name: programs that check what is said against data of the scenario.

A verifier has the name of the key under ``data`` in a scenario that it checks against.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Generic, Protocol, TypeVar

from prompts.environment import Templates
from prompts.question import Question
from scenarios.dialogue import CheckedUtterance
from scenarios.errors import UsageError
from scenarios.extensions import ExtensionPoint
from scenarios.plugins import PointName
from scenarios.spec import Scenario
from scenarios.terms import RoleKey

C = TypeVar("C")


class Verifier(Protocol[C]):
    """Checks the words of one role of one scenario."""

    def question(self, templates: Templates, text: str) -> Question[tuple[C, ...]]:
        """Ask a model for the claims that a text makes, as objects.

        Args:
            templates: the texts of prompts.
            text: what is to be said.
        """

    def verify(self, claims: tuple[C, ...]) -> CheckedUtterance:
        """Say of every claim whether it holds, and which labels follow."""


@dataclass(frozen=True, slots=True)
class VerifierExtension(Generic[C]):
    """A verifier by its name."""

    point: ClassVar[PointName] = "verifier"
    name: str
    """The key under ``data`` in a scenario."""
    build: Callable[[Scenario, RoleKey], Verifier[C]]
    """Returns what checks the words of one role.

    Raises:
        UsageError: what the scenario says under the key is not what the verifier needs.
    """


VERIFIERS: Final[ExtensionPoint[VerifierExtension[Any]]] = ExtensionPoint(
    "verifier",
    VerifierExtension,
    {"payoffs": "pipeline.verifiers.payoffs:VERIFIER"},
)
"""Every verifier by its name."""


def verifier_for(scenario: Scenario, role: RoleKey) -> Verifier[Any]:
    """Return what checks the words of a role, by the first key of the data that has a verifier.

    Raises:
        UsageError: there is no such key, or its data is not what the verifier needs.
    """
    for key in scenario.data:
        extension = VERIFIERS.find(key)
        if extension is not None:
            return extension.build(scenario, role)
    known = ", ".join(VERIFIERS.names())
    raise UsageError(
        f"the scenario {scenario.id!r} has no data that a program can check words against",
        f"play it with another strategy, or give it data of one of these kinds: {known}",
    )
