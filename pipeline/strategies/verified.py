"""Verified: draft, let a program check what it claims, revise while a claim fails."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import Field

from pipeline.calls.asking import Asker, TurnTask
from pipeline.critics.verifier import CLAIMS, ClaimVerification, critiques_of
from pipeline.expected_calls import ArmParts, ExpectedCalls, answer_calls
from pipeline.strategies.protocol import Spoken
from pipeline.strategies.reflective import REVISED, revise_calls
from pipeline.strategies.registry import StrategyExtension
from prompts.actors import ActorPrompts
from scenarios.dialogue import Attempt, Trace
from scenarios.strict import Strict


class VerifiedSettings(Strict):
    """Verification: how many versions of an utterance there may be."""

    max_attempts: Annotated[int, Field(ge=1, le=10)] = 5


@dataclass(frozen=True, slots=True)
class VerifiedRevision:
    """At most ``max_attempts`` versions of an utterance, each checked; the last one is said.

    What failed is told in words, with what holds instead. The last version is checked, too, so
    that whoever reads the trace knows what became of it.

    Source: the evaluation protocol for reasoning in game-theoretic dilemmas, sections 1.2 and 3.
    """

    prompts: ActorPrompts
    asker: Asker
    verification: ClaimVerification
    max_attempts: int = 5

    async def utter(self, task: TurnTask) -> Spoken:
        """Draft, check and revise; every version stays in the trace with what was found."""
        draft = await self.asker.ask(
            self.prompts.responder(task.view, task.history, task.wanted),
            task.context("responder"),
        )
        attempts: list[Attempt] = []
        while True:
            found = await self.verification.verify(task, draft, len(attempts))
            critiques = critiques_of(found)
            attempts.append(Attempt(draft, critiques, found))
            if found.holds or len(attempts) == self.max_attempts:
                break
            draft = await self.asker.ask(
                self.prompts.revise(task.view, task.history, draft, critiques, task.wanted),
                task.context(f"revise-{len(attempts) - 1}"),
            )
        trace = Trace(strategy="verified", attempts=tuple(attempts), chosen=len(attempts) - 1)
        return Spoken(draft, trace)


def _build(parts: ArmParts, settings: VerifiedSettings) -> VerifiedRevision:
    verification = ClaimVerification(parts)
    return VerifiedRevision(parts.prompts, parts.asker, verification, settings.max_attempts)


def _calls(settings: VerifiedSettings) -> list[ExpectedCalls]:
    """Return one answer, its claims, and a revision with its claims while one fails."""
    attempts = settings.max_attempts
    claims = replace(
        CLAIMS, expected=sum(REVISED**i for i in range(attempts)), most=float(attempts)
    )
    return [answer_calls(), claims, *revise_calls(attempts - 1)]


STRATEGY = StrategyExtension(
    "verified",
    "has a program check what the answer claims and revises it",
    VerifiedSettings,
    build=_build,
    calls=_calls,
    critics=lambda _: ("verifier",),
)
