"""A program as critic: a model finds the claims in a draft, and a verifier checks each of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pipeline.calls.asking import TurnTask
from pipeline.critics.registry import CriticExtension
from pipeline.expected_calls import ArmParts, ExpectedCalls, SampleTurn
from pipeline.verifiers.registry import Verifier, verifier_for
from prompts.question import Question
from scenarios.dialogue import CheckedUtterance, Critique, Draft
from scenarios.foreign_records import check_labels, checked_record
from scenarios.spec import Scenario

ROLE = "verifier"
"""Whose model finds the claims."""
_WHO = "the verifier"


@dataclass(frozen=True, slots=True)
class ClaimVerification:
    """Finds the claims of drafts and has them checked, by the data of the scenario."""

    parts: ArmParts
    _verifiers: dict[tuple[str, str], Verifier[Any]] = field(default_factory=dict, repr=False)

    async def verify(self, task: TurnTask, draft: Draft, attempt: int) -> CheckedUtterance:
        """Return what a program says of a draft.

        Raises:
            UsageError: the scenario has nothing that words could be checked against.
            TypeError: what a verifier of a plugin returned is no such record.
            ValueError: it names a label that the scheme does not know.
            AnswerUnusable: the model's answers could not be read.
            ProviderError: the endpoint did not answer.
        """
        verifier = self._verifier(task)
        claims = await self.parts.asker.ask(
            verifier.question(self.parts.prompts.templates, draft.text),
            task.context(f"claims-{attempt}", role=ROLE),
        )
        found = checked_record(CheckedUtterance, verifier.verify(claims), _WHO)
        labels = [(label.dimension, label.value) for label in found.labels]
        check_labels(self.parts.prompts.scheme, labels, _WHO, others=True)
        return found

    async def critique(self, task: TurnTask, draft: Draft, revision: int) -> tuple[Critique, ...]:
        """Return one critique per claim."""
        return critiques_of(await self.verify(task, draft, revision))

    def _verifier(self, task: TurnTask) -> Verifier[Any]:
        key = (task.case.scenario, task.role)
        if key not in self._verifiers:
            self._verifiers[key] = verifier_for(self.parts.scenarios[task.case.scenario], task.role)
        return self._verifiers[key]


def critiques_of(found: CheckedUtterance) -> tuple[Critique, ...]:
    """Return what is said back about an utterance: every claim, and whether it holds."""
    return tuple(Critique(claim.kind, claim.holds, claim.reason) for claim in found.claims)


def _check(scenario: Scenario) -> None:
    for role in scenario.labelled_roles:
        verifier_for(scenario, role)


def _claims_of(turn: SampleTurn) -> Question[object]:
    verifier = verifier_for(turn.scenario, turn.role)
    question: Question[object] = verifier.question(turn.prompts.templates, turn.draft.text)
    return question


CLAIMS = ExpectedCalls("claims", ROLE, _claims_of, answer_tokens=260)
"""What one verification asks for."""
CRITIC = CriticExtension("verifier", ClaimVerification, calls=(CLAIMS,), check=_check)
