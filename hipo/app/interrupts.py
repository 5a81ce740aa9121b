"""Handle signals during a run: the first asks it to stop, the second leaves at once."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pipeline.stop import INTERRUPTED, Stop

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def interruptible(stop: Stop, notice: Callable[[str], None], *, enabled: bool) -> Iterator[None]:
    """Turn signals into a stop, and a repeated one into the end of the current task."""
    if not enabled:
        yield
        return
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    received = 0

    def handle() -> None:
        nonlocal received
        received += 1
        if received == 1:
            stop.request(INTERRUPTED)
            notice("stopping: calls in flight are finished and kept; interrupt again to leave now")
        elif task is not None:
            task.cancel()

    for number in _SIGNALS:
        loop.add_signal_handler(number, handle)
    try:
        yield
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)


@contextmanager
def left_when_stopped(stop: Stop) -> Iterator[None]:
    """Let a repeated interrupt end what is inside, and nothing more: the rest is tidied up."""
    try:
        yield
    except asyncio.CancelledError:
        if not stop.requested:
            raise
        task = asyncio.current_task()
        if task is not None:
            task.uncancel()  # the second interrupt has done its work
