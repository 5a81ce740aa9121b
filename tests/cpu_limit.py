"""End what computes for far too long: it would otherwise be seen as a suite that hangs."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def cpu_limit(seconds: float) -> Iterator[None]:
    """Fail where what is inside takes more processor time; other processes do not count."""

    def end(*_: object) -> None:
        raise AssertionError(f"{seconds:g} s of processor time are used up")

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
