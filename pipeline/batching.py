"""One worker thread that takes along whatever waits for it and works it off in batches."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

In = TypeVar("In")
Out = TypeVar("Out")


@dataclass(frozen=True, slots=True)
class BatchJob(Generic[In, Out]):
    """One thing that a coroutine waits for."""

    item: In
    loop: asyncio.AbstractEventLoop
    result: asyncio.Future[Out]

    @property
    def abandoned(self) -> bool:
        """Whether nobody waits any more."""
        return self.result.cancelled()


Work = Callable[[Sequence[BatchJob[In, Out]]], Sequence[Out | Exception]]
"""Works off a batch, on the worker thread: a result or an error for each of it, in order."""


class BatchThread(Generic[In, Out]):
    """Hands what many coroutines ask for to one thread, batch by batch.

    The thread waits for one item and takes along what else is there. What coroutines ask for in one
    step of their event loop arrives together, so that those whom one batch woke up are the next one.
    While a batch is worked off, the next one gathers by itself. What ``work`` raises goes to everyone in its batch,
    a panic inside a library written in Rust (tokenizers, llguidance) included, which is no ``Exception``.

    Args:
        name: of the thread.
        work: works off a batch.
        choose: picks a batch from all that waits, the longest waiting first: at least the first,
            by ascending index.
        linger_s: how many seconds to wait for more than what waits; every arrival asks it anew.
    """

    def __init__(
        self,
        name: str,
        work: Work[In, Out],
        choose: Callable[[Sequence[In]], Sequence[int]],
        linger_s: Callable[[Sequence[In]], float] = lambda _: 0.0,
    ) -> None:
        self._name = name
        self._work = work
        self._choose = choose
        self._linger_s = linger_s
        self._queue: SimpleQueue[list[BatchJob[In, Out]] | None] = SimpleQueue()
        self._asked: dict[asyncio.AbstractEventLoop, list[BatchJob[In, Out]]] = {}
        self._waiting: list[BatchJob[In, Out]] = []
        self._ended = False
        self._thread: threading.Thread | None = None
        self._closed = False

    async def ask(self, item: In) -> Out:
        """Return what ``work`` makes of an item.

        Raises:
            RuntimeError: the thread has been closed.
        """
        if self._closed:
            raise RuntimeError(f"{self._name} is closed")
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()
        loop = asyncio.get_running_loop()
        job: BatchJob[In, Out] = BatchJob(item, loop, loop.create_future())
        if loop in self._asked:
            self._asked[loop].append(job)
        else:
            self._asked[loop] = [job]
            loop.call_soon(self._hand_over, loop)
        return await job.result

    def _hand_over(self, loop: asyncio.AbstractEventLoop) -> None:
        """Give the thread what was asked for on a loop since the last time."""
        if jobs := self._asked.pop(loop, None):
            self._queue.put(jobs)

    async def close(self) -> None:
        """Finish what was asked for and end the thread; closing twice does nothing."""
        if self._closed:
            return
        self._closed = True
        if self._thread is not None:
            self._hand_over(asyncio.get_running_loop())
            self._queue.put(None)
            await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        while batch := self._next_batch():
            try:
                outcomes = self._work(batch)
                _settle(zip(batch, outcomes, strict=True))
            except Exception as error:  # noqa: BLE001 - whoever waits for it gets to see it
                _settle((job, error) for job in batch)
            except BaseException as panic:  # noqa: BLE001 - nobody may wait for a thread that died
                broken = RuntimeError(f"{self._name} broke down: {panic!r}")
                broken.__cause__ = panic
                _settle((job, broken) for job in batch)

    def _next_batch(self) -> list[BatchJob[In, Out]]:
        """Return what is worked off next; nothing at the end."""
        if not self._waiting and not self._ended:
            self._take(self._queue.get())
        while not self._ended:
            try:
                self._take(self._queue.get_nowait())
            except Empty:
                pause_s = self._linger_s([job.item for job in self._waiting])
                if pause_s <= 0 or not self._take_within(pause_s):
                    break
        if not self._waiting:
            return []
        chosen = set(self._choose([job.item for job in self._waiting]))
        batch = [job for i, job in enumerate(self._waiting) if i in chosen]
        self._waiting = [job for i, job in enumerate(self._waiting) if i not in chosen]
        return batch

    def _take_within(self, seconds: float) -> bool:
        """Wait for one more; False if none came."""
        try:
            self._take(self._queue.get(timeout=seconds))
        except Empty:
            return False
        return True

    def _take(self, jobs: list[BatchJob[In, Out]] | None) -> None:
        if jobs is None:
            self._ended = True
        else:
            self._waiting += jobs


def _settle(outcomes: Iterable[tuple[BatchJob[In, Out], Out | Exception]]) -> None:
    """Resolve what was waited for on its event loops, one wake-up per loop."""
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[BatchJob[In, Out], Out | Exception]]] = {}
    for job, outcome in outcomes:
        by_loop.setdefault(job.loop, []).append((job, outcome))
    for loop, settled in by_loop.items():
        try:
            loop.call_soon_threadsafe(_resolve, settled)
        except RuntimeError:  # the loop is closed: nobody waits there any more
            continue


def _resolve(settled: Iterable[tuple[BatchJob[In, Out], Out | Exception]]) -> None:
    for job, outcome in settled:
        if job.result.done():  # cancelled meanwhile
            continue
        if isinstance(outcome, Exception):
            job.result.set_exception(outcome)
        else:
            job.result.set_result(outcome)
