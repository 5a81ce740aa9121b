"""Reflective revision: draft, let a critic say what is wrong with it, revise where something is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import Field

from pipeline.calls.asking import Asker, TurnTask
from pipeline.critics.foreign import built_critic
from pipeline.critics.registry import CRITICS, Critic
from pipeline.expected_calls import ArmParts, ExpectedCalls, answer_calls
from pipeline.strategies.protocol import Spoken
from pipeline.strategies.registry import StrategyExtension
from prompts.actors import ActorPrompts
from scenarios.dialogue import Attempt, Critique, Draft, Trace
from scenarios.strict import Strict

REVISED = 0.5
"""Share of the drafts expected to be sent back for revision; unknown until the model is seen."""
REFLECTION = "reflection"


class ReflectiveSettings(Strict):
    """Reflection: how often a draft may be revised, and who criticises it."""

    max_revisions: Annotated[int, Field(ge=1, le=10)] = 1
    critic: str = REFLECTION
    """Name of a critic; ``reflection`` asks the model of the role ``reflector``."""


@dataclass(frozen=True, slots=True)
class Reflective:
    """A draft, and at most ``max_revisions`` rounds of criticism and revision.

    The last permitted revision is said without being criticised again: nothing could follow
    from it.

    Source: HIPO, section 4.4.1 (2).
    """

    prompts: ActorPrompts
    asker: Asker
    critic: Critic
    max_revisions: int = 1

    async def utter(self, task: TurnTask) -> Spoken:
        """Draft and revise; every attempt stays in the trace with its critiques."""
        draft = await self.asker.ask(
            self.prompts.responder(task.view, task.history, task.wanted),
            task.context("responder"),
        )
        attempts: list[Attempt] = []
        for revision in range(self.max_revisions):
            critiques = await self.critic.critique(task, draft, revision)
            attempts.append(Attempt(draft, critiques))
            if all(critique.carried for critique in critiques):
                break
            draft = await self._revise(task, draft, critiques, revision)
        else:
            attempts.append(Attempt(draft))
        trace = Trace(strategy="reflective", attempts=tuple(attempts), chosen=len(attempts) - 1)
        return Spoken(draft, trace)

    async def _revise(
        self, task: TurnTask, draft: Draft, critiques: tuple[Critique, ...], revision: int
    ) -> Draft:
        return await self.asker.ask(
            self.prompts.revise(task.view, task.history, draft, critiques, task.wanted),
            task.context(f"revise-{revision}"),
        )


def _build(parts: ArmParts, settings: ReflectiveSettings) -> Reflective:
    critic = built_critic(settings.critic, parts)
    return Reflective(parts.prompts, parts.asker, critic, settings.max_revisions)


def _calls(settings: ReflectiveSettings) -> list[ExpectedCalls]:
    """Return one answer, at least one critique, and a revision where it finds fault."""
    rounds = settings.max_revisions
    criticised = sum(REVISED**i for i in range(rounds))
    critic = [
        replace(calls, expected=calls.expected * criticised, most=calls.most * rounds)
        for calls in CRITICS.get(settings.critic).calls
    ]
    return [answer_calls(), *critic, *revise_calls(rounds)]


def revise_calls(rounds: int) -> list[ExpectedCalls]:
    """Return the revisions that are expected of at most so many; none of none."""
    if not rounds:
        return []
    return [
        ExpectedCalls(
            "revise",
            "responder",
            lambda turn: turn.prompts.revise(
                turn.view, turn.history, turn.draft, turn.critiques, turn.wanted
            ),
            answer_tokens=195,
            expected=sum(REVISED ** (i + 1) for i in range(rounds)),
            most=rounds,
        )
    ]


def _identity(settings: ReflectiveSettings) -> Mapping[str, object]:
    """Leave the model's own reflection out: arms had no critic to name when it was the only one."""
    critic = {} if settings.critic == REFLECTION else {"critic": settings.critic}
    return {"max_revisions": settings.max_revisions, **critic}


STRATEGY = StrategyExtension(
    "reflective",
    "has the answer criticised and revises it",
    ReflectiveSettings,
    build=_build,
    calls=_calls,
    identity=_identity,
    critics=lambda settings: (settings.critic,),
)
