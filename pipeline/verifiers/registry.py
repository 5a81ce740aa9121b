"""Verifiers by name: programs that check what is said against data of the scenario.

A verifier has the name of the key under ``data`` in a scenario that it checks against.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Generic, Protocol, TypeVar

from prompts.environment import Templates
from prompts.question import Question
from scenarios.dialogue import CheckedUtterance
from scenarios.errors import Problem, UsageError
from scenarios.extensions import ExtensionPoint, told_of_plugin
from scenarios.located import Located
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
        UsageError: there is no such key, its data is not what the verifier needs, or the verifier
            is a plugin's and does not work.
    """
    for key in scenario.data:
        extension = VERIFIERS.find(key)
        if extension is not None:
            with told_of_plugin(VERIFIERS, key):
                verifier = extension.build(scenario, role)
                if not (hasattr(verifier, "question") and hasattr(verifier, "verify")):
                    raise TypeError(
                        f"it built {verifier!r:.100}, expected an object with question and verify"
                    )
            return verifier
    known = ", ".join(VERIFIERS.names())
    raise UsageError(
        f"the scenario {scenario.id!r} has no data that a program can check words against",
        f"play it with another strategy, or give it data of one of these kinds: {known}",
    )


def check_data(scenario: Scenario, located: Located) -> Iterator[Problem]:
    """Yield what of the data of a scenario its verifiers cannot use.

    Data under a name that no verifier has, or that is a text, is for something else.
    """
    for key, content in scenario.data.items():
        if isinstance(content, str) or VERIFIERS.find(key) is None:
            continue
        alone = scenario.model_copy(update={"data": {key: content}})
        for role in scenario.labelled_roles:
            try:
                verifier_for(alone, role)
            except UsageError as error:
                yield located.problem(
                    ("data", key),
                    found=error.message,
                    expected=f"what the verifier {key!r} needs",
                    hint=error.hint or "",
                    code="data",
                )
                break
