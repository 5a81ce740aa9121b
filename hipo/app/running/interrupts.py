"""Handle signals during a run: the first asks it to stop, the second leaves at once."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pipeline.stopping.open_requests import OpenSummary
from pipeline.stopping.stop import INTERRUPTED, Stop
from scenarios.plural import plural

TOLD_EVERY_S = 15.0
"""Seconds between two lines about what is waited for."""
_LEAVE = "interrupt again to leave now"


def _signals() -> tuple[signal.Signals, ...]:
    """Return the signals that stop a run; a terminal that is closed does, but not under nohup."""
    ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return (signal.SIGINT, signal.SIGTERM) + (() if ignored else (signal.SIGHUP,))


@contextmanager
def interruptible(
    stop: Stop,
    notice: Callable[[str], None],
    *,
    enabled: bool,
    told_every_s: float = TOLD_EVERY_S,
) -> Iterator[None]:
    """Turn signals into a stop, and a repeated one into the end of the current task.

    Args:
        stop: of the run; what it waits for is told when it is asked for, and now and then after.
        notice: is told.
        enabled: whether signals are handled at all.
        told_every_s: seconds between two lines about what is waited for.

    Raises:
        KeyboardInterrupt: one more came where nothing is left to be left, while all is tidied up.
    """
    if not enabled:
        yield
        return
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    telling: asyncio.Task[None] | None = None
    received = 0

    async def tell() -> None:
        while (waited_for := stop.in_flight.summary()).count:
            await asyncio.sleep(told_every_s)
            if (waited_for := stop.in_flight.summary()).count:
                notice(f"still waiting for {in_words(waited_for)}; {_LEAVE}")

    def handle() -> None:
        nonlocal received, telling
        received += 1
        if received == 1:
            stop.request(INTERRUPTED)
            waited_for = stop.in_flight.summary()
            if waited_for.count:
                notice(f"stopping: finishing {in_words(waited_for)}; {_LEAVE}")
            else:
                notice(f"stopping: nothing is in flight; {_LEAVE}")
            telling = loop.create_task(tell())
        elif task is not None:
            task.cancel()

    numbers = _signals()
    before = {number: signal.getsignal(number) for number in numbers}
    for number in numbers:
        loop.add_signal_handler(number, handle)
    try:
        with _interrupted_if(lambda: received > 1):
            yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)
            signal.signal(number, before[number])
        if telling is not None:
            telling.cancel()


@contextmanager
def _interrupted_if(cancelled_by_signal: Callable[[], bool]) -> Iterator[None]:
    """Let a task that a signal has cancelled end as one that was interrupted."""
    try:
        yield
    except asyncio.CancelledError:
        if cancelled_by_signal():
            raise KeyboardInterrupt from None
        raise


def in_words(waited_for: OpenSummary) -> str:
    """Return e.g. ``2 calls in flight, the longest for 213 s, at most 387 s more``."""
    calls = plural(waited_for.count, "call")
    return (
        f"{calls} in flight, the longest for {waited_for.longest_s:.0f} s, "
        f"at most {waited_for.left_s:.0f} s more"
    )


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
