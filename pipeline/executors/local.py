"""Do jobs in this process: workers that pull when they are free."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

from pipeline.executors.width import ALIVE, FixedWidth, Width
from pipeline.rare_collections import rare_collections

J = TypeVar("J")


def width_for(max_concurrency: int) -> int:
    """Return how many workers keep ``max_concurrency`` requests in flight."""
    return ALIVE * max_concurrency


class LocalExecutor:
    """Workers on the event loop; a job is taken only when a worker is free to do it.

    Memory is bounded by the number of workers, however many jobs there are. Where that number
    changes, workers are added at once, and one too many ends with its job.
    """

    def __init__(self, width: int | Width) -> None:
        """Do at most ``width`` jobs at once.

        Raises:
            ValueError: fewer than one worker.
        """
        self._width = FixedWidth(width) if isinstance(width, int) else width

    async def run(self, jobs: AsyncIterator[J], work: Callable[[J], Awaitable[None]]) -> None:
        """Do every job; the first error ends the others and is raised as it is."""
        next_job = asyncio.Lock()  # an async generator serves one caller at a time
        alive, has_ended = 0, False

        async def worker() -> None:
            nonlocal alive, has_ended
            while not has_ended and alive <= self._width.now():
                async with next_job:
                    try:
                        job = await anext(jobs)
                    except StopAsyncIteration:
                        has_ended = True
                        break
                await work(job)
            alive -= 1

        def fill() -> None:
            nonlocal alive
            while not has_ended and alive < self._width.now():
                alive += 1
                group.create_task(worker())

        try:
            with rare_collections():
                async with asyncio.TaskGroup() as group:
                    fill()
                    self._width.watch(fill)
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
        finally:
            self._width.watch(None)
