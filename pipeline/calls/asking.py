"""How strategies, critics and judges ask models, and what they are given for one utterance."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from pipeline.calls.client import AnswerUnusable
from pipeline.calls.records import CallContext
from prompts.question import Question
from prompts.script_view import ScriptView
from prompts.turn_views import AnsweringView
from scenarios.case import Case
from scenarios.dialogue import History, Wanted
from scenarios.fingerprint import seed_from
from scenarios.quick_records import quickly_made
from scenarios.terms import RESPONDER, RoleKey

T = TypeVar("T")


class Asker(Protocol):
    """Asks the model of a role and returns what its answer says; one per arm."""

    @property
    def gathers(self) -> bool:
        """Whether questions wait for a batch: those that need no other's answer belong into one."""

    async def ask(self, question: Question[T], ctx: CallContext) -> T:
        """Return one readable answer.

        Raises:
            AnswerUnusable: no answer could be read, not even after repairs.
            ProviderError: the endpoint did not answer.
        """

    async def ask_many(
        self, question: Question[T], ctx: CallContext, *, k: int
    ) -> list[T | AnswerUnusable]:
        """Return ``k`` answers by sample, at least two of them readable.

        Raises:
            AnswerUnusable: fewer than two answers could be read.
            ProviderError: the endpoint did not answer.
        """


async def each(calls: Iterable[Callable[[], Awaitable[T]]], *, together: bool) -> list[T]:
    """Return what comes of several calls, none of which needs what another brings, in their order.

    Args:
        calls: what to do.
        together: whether to do all at once, as questions that wait for batches would otherwise wait
            for a batch each; one after the other each finds how the one before began in a cache.

    Raises:
        Exception: the first in the order of the calls, once all of them have ended.
    """
    if not together:
        return [await call() for call in calls]
    came = await asyncio.gather(*(call() for call in calls), return_exceptions=True)
    results: list[T] = []
    for one in came:
        if isinstance(one, BaseException):
            raise one
        results.append(one)
    return results


def call_context(case: Case, turn: int, purpose: str, *, role: str, epoch: int) -> CallContext:
    """Describe one call.

    The arm is no part of the seed: arms that ask the same share the answer.
    """
    seed = seed_from(case.seed, case.id, turn, purpose)
    return CallContext(role=role, seed=seed, epoch=epoch, case=case.id, purpose=purpose, turn=turn)


@quickly_made
@dataclass(frozen=True, slots=True)
class TurnTask:
    """One labelled utterance to be produced."""

    case: Case
    turn: int
    """The index the utterance will have in the dialogue."""
    view: AnsweringView
    history: History
    wanted: Wanted
    epoch: int = 0
    role: RoleKey = RESPONDER
    """The id of the role that speaks."""

    def context(self, purpose: str, *, role: str = "responder") -> CallContext:
        """Describe one of the calls that this utterance takes."""
        return call_context(self.case, self.turn, purpose, role=role, epoch=self.epoch)


@dataclass(frozen=True, slots=True)
class ScriptTask:
    """One dialogue to be written as a whole."""

    case: Case
    view: ScriptView
    epoch: int = 0

    def context(self, purpose: str, *, role: str = "responder") -> CallContext:
        """Describe one of the calls that the dialogue takes; it counts as its first turn's."""
        return call_context(self.case, 0, purpose, role=role, epoch=self.epoch)
