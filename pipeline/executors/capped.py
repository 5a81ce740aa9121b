"""Do fewer jobs at once than there are workers, as long as fewer results are wanted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

from pipeline.playing.runner import Executor
from pipeline.stopping.stop import Stop

J = TypeVar("J")


class CappedExecutor:
    """Begins a job only while fewer are being done than results are wanted.

    No job has to be thrown away, then, because others brought all that was wanted.
    """

    def __init__(self, executor: Executor, wanted: Callable[[], int], stop: Stop) -> None:
        """Cap another executor.

        Args:
            executor: does the jobs.
            wanted: returns how many results are still wanted; is asked before each job. Where
                it returns none it has to request the stop.
            stop: ends all waiting once it is requested.
        """
        self._executor = executor
        self._wanted = wanted
        self._stop = stop

    async def run(self, jobs: AsyncIterator[J], work: Callable[[J], Awaitable[None]]) -> None:
        """Do every job; the first error ends the others and is raised as it is."""
        ended = asyncio.Condition()
        begun = 0

        def may_begin() -> bool:
            wanted = self._wanted()
            return begun < wanted or self._stop.requested

        async def capped(job: J) -> None:
            nonlocal begun
            async with ended:
                await ended.wait_for(may_begin)
                begun += 1
            try:
                await work(job)
            finally:
                begun -= 1
                async with ended:
                    ended.notify_all()

        await self._executor.run(jobs, capped)
