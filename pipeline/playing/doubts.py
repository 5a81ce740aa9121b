"""Failures that may be those of an endpoint that is away, kept until it is known whether they are."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Generic, TypeVar

from pipeline.stopping.awaited import AwaitedEndpoints

J = TypeVar("J")
F = TypeVar("F")


class Doubts(Generic[J, F]):
    """Jobs that failed with a fault that may pass, since another one like them was done.

    That an endpoint is away may be known only when several jobs have failed for it. Where an outage
    has ended since a job failed, the job gets a second try; otherwise its failure is confirmed.
    """

    def __init__(self, awaited: AwaitedEndpoints) -> None:
        """Doubt nothing yet; ``awaited`` says when an outage is over."""
        self._awaited = awaited
        self._doubted: list[tuple[J, F, int]] = []
        """Each with how many outages were over when it failed."""
        self._again: deque[J] = deque()
        self._second: dict[int, J] = {}
        """Jobs that had their second try, by their ``id()``; none gets a third one."""

    def take(self, job: J, failure: F) -> bool:
        """Keep a failure, unless it is that of a second try; return whether it is kept."""
        if id(job) in self._second:
            return False
        self._doubted.append((job, failure, self._awaited.over))
        return True

    def confirmed(self, concerned: Callable[[J], bool]) -> list[tuple[J, F]]:
        """Return the failures that are confirmed, of the jobs concerned; none is kept longer."""
        doubted, self._doubted = self._doubted, []
        confirmed: list[tuple[J, F]] = []
        for job, failure, over in doubted:
            if not concerned(job):
                self._doubted.append((job, failure, over))
            elif self._awaited.over > over:
                self._again.append(job)
            else:
                confirmed.append((job, failure))
        return confirmed

    async def second_tries(self) -> AsyncIterator[J]:
        """Yield the jobs that are to be done again."""
        while self._again:
            job = self._again.popleft()
            self._second[id(job)] = job
            yield job

    async def then(self, jobs: AsyncIterator[J]) -> AsyncIterator[J]:
        """Yield jobs, and as soon as there are any those that are to be done again."""
        async for job in jobs:
            async for again in self.second_tries():
                yield again
            yield job
