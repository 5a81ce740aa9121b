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
    """A context in which a task may wait so many seconds, like that of :func:`asyncio.timeout`.

    Answers that came while the process stood still wait in its sockets when it wakes, and have been
    paid for; its timers wake at the same moment. Nothing is waited for on entering or leaving it,
    so that it is an ordinary context with one timer.

    Raises:
        TimeoutError: on leaving it, where it took longer.
    """

    __slots__ = ("_asked_to_end", "_is_over", "_loop", "_seconds", "_task", "_timer")

    def __init__(self, seconds: float) -> None:
        """Allow so many seconds from when it is entered."""
        self._seconds = seconds

    def __enter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        task = asyncio.current_task(self._loop)
        if task is None:
            raise RuntimeError("only a task can be told that its time is over")
        self._task = task
        self._asked_to_end = task.cancelling()  # by others, so many times before
        self._is_over = False
        self._timer = self._loop.call_later(self._seconds, self._end)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        if not self._is_over:
            return
        # Where others asked the task to end meanwhile, it ends.
        is_ours = self._task.uncancel() <= self._asked_to_end
        if is_ours and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def _end(self) -> None:
        if self._loop.time() - self._timer.when() > LATE_S:
            self._timer = self._loop.call_later(GRACE_S, self._stop)
        else:
            self._stop()

    def _stop(self) -> None:
        self._is_over = True
        self._task.cancel()
