"""Self-reflective revision: draft, ask whether it carries its tactic, revise where it does not."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.strategies.protocol import Asker, Spoken, TurnTask
from prompts.actors import ActorPrompts
from scenarios.dialogue import Attempt, Critique, Draft, Trace


@dataclass(frozen=True, slots=True)
class Reflective:
    """A draft, and at most ``max_revisions`` rounds of reflection and revision.

    The last permitted revision is said without being reflected on again: nothing could follow
    from what reflection would find.

    Source: HIPO, section 4.4.1 (2).
    """

    prompts: ActorPrompts
    asker: Asker
    max_revisions: int = 1

    async def utter(self, task: TurnTask) -> Spoken:
        """Draft and revise; every attempt stays in the trace with what was said about it."""
        draft = await self.asker.ask(
            self.prompts.responder(task.view, task.history, task.wanted),
            task.context("responder"),
        )
        attempts: list[Attempt] = []
        for revision in range(self.max_revisions):
            critiques = await self._reflect(task, draft, revision)
            attempts.append(Attempt(draft, critiques))
            if all(critique.carried for critique in critiques):
                break
            draft = await self._revise(task, draft, critiques, revision)
        else:
            attempts.append(Attempt(draft))
        trace = Trace(strategy="reflective", attempts=tuple(attempts), chosen=len(attempts) - 1)
        return Spoken(draft, trace)

    async def _reflect(self, task: TurnTask, draft: Draft, revision: int) -> tuple[Critique, ...]:
        return await self.asker.ask(
            self.prompts.reflect(task.view, task.history, draft, task.wanted),
            task.context(f"reflect-{revision}", role="reflector"),
        )

    async def _revise(
        self, task: TurnTask, draft: Draft, critiques: tuple[Critique, ...], revision: int
    ) -> Draft:
        return await self.asker.ask(
            self.prompts.revise(task.view, task.history, draft, critiques, task.wanted),
            task.context(f"revise-{revision}"),
        )
