"""Run what is asynchronous for whoever calls a function and waits."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import Future, wait
from contextlib import suppress
from contextvars import copy_context
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")


def waited_for(work: Coroutine[Any, Any, T]) -> T:
    """Return what a coroutine comes to; also in a notebook, where a cell runs in an event loop.

    That loop stands still meanwhile, as it does in any cell that computes something.

    Raises:
        KeyboardInterrupt: the user stopped it; what was durable by then is kept.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    return _waited_for_in_a_thread(work)


def _waited_for_in_a_thread(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in a loop of its own; a thread has one loop at a time."""
    begun: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any] | None]] = Future()
    result: Future[T] = Future()
    context = copy_context()

    async def noted() -> T:
        begun.set_result((asyncio.get_running_loop(), asyncio.current_task()))
        return await work

    def run() -> None:
        try:
            result.set_result(context.run(asyncio.run, noted()))
        except BaseException as error:  # noqa: BLE001 - whoever waits gets it, whatever it is
            result.set_exception(error)

    try:
        Thread(target=run, name="hipo").start()
        return result.result()
    except KeyboardInterrupt:  # comes to this thread alone: asyncio.run hands it on elsewhere
        loop, task = begun.result()
        with suppress(RuntimeError):  # the loop has just come to its end
            if task is not None:
                loop.call_soon_threadsafe(task.cancel)
        wait([result])
        raise
