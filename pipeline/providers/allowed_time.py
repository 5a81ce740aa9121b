"""The time that an answer may take; time in which this process did not run does not count as the end of it."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Self

LATE_S = 1.0
"""A timer that comes so much too late tells that the process stood still: its job was suspended, or
Ctrl-Z was pressed."""
GRACE_S = 5.0
"""Seconds after that in which an answer is read that came meanwhile."""


class AllowedTime:
    """An asynchronous context that may take so many seconds, like :func:`asyncio.timeout`.

    Answers that came while the process stood still wait in its sockets when it wakes, and have been
    paid for; its timers wake at the same moment.

    Raises:
        TimeoutError: on leaving it, where it took longer.
    """

    __slots__ = ("_limit", "_seconds", "_timer")

    def __init__(self, seconds: float) -> None:
        """Allow so many seconds from when it is entered."""
        self._seconds = seconds
        self._limit = asyncio.timeout(None)
        self._timer: asyncio.TimerHandle | None = None

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        await self._limit.__aenter__()
        self._timer = loop.call_at(loop.time() + self._seconds, self._end)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        await self._limit.__aexit__(kind, error, trace)

    def _end(self) -> None:
        now = asyncio.get_running_loop().time()
        due = now if self._timer is None else self._timer.when()
        self._limit.reschedule(now + GRACE_S if now - due > LATE_S else now)
