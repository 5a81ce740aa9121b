"""Run what is asynchronous for whoever calls a function and waits."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from scenarios.errors import UsageError

T = TypeVar("T")


def waited_for(work: Coroutine[Any, Any, T]) -> T:
    """Return what a coroutine comes to.

    Raises:
        UsageError: an event loop runs in this thread, which would stand still meanwhile.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    work.close()
    raise UsageError(
        "an event loop is running in this thread, as in a notebook, and would stand still",
        "call it in a thread: run = await asyncio.to_thread(hipo.generate, recipe)",
    )
