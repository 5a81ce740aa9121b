"""Run jobs in this process: a fixed number of workers that pull when they are free."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

from pipeline.executors.garbage import rare_collections

J = TypeVar("J")

OVERLAP = 1.25
"""Dialogues alive per request allowed in flight: the rest wait for a commit or an embedding."""


def width_for(max_concurrency: int) -> int:
    """Return how many workers keep ``max_concurrency`` requests in flight."""
    return max(1, round(max_concurrency * OVERLAP))


class LocalExecutor:
    """Workers on the event loop; a job is taken only when somebody is free to do it.

    Memory is bounded by the number of workers, however many jobs there are.
    """

    def __init__(self, width: int) -> None:
        """Do at most ``width`` jobs at once.

        Raises:
            ValueError: fewer than one worker.
        """
        if width < 1:
            raise ValueError(f"an executor needs at least 1 worker, got {width}")
        self.width = width

    async def run(self, jobs: AsyncIterator[J], work: Callable[[J], Awaitable[None]]) -> None:
        """Do every job; the first error ends the others and is raised as it is."""
        turn = asyncio.Lock()  # an async generator is asked by one at a time

        async def worker() -> None:
            while True:
                async with turn:
                    try:
                        job = await anext(jobs)
                    except StopAsyncIteration:
                        return
                await work(job)

        try:
            with rare_collections():
                async with asyncio.TaskGroup() as group:
                    for _ in range(self.width):
                        group.create_task(worker())
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
