"""How a run is watched: a live bar on a terminal, plain lines everywhere else."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

from hipo.app.watching import Silent, Spending, Watcher
from hipo.cli.console import dollars, number
from hipo.cli.errors import say
from pipeline.runner import Progress

PLAIN_INTERVAL_S = 10.0
LIVE_INTERVAL_S = 0.2


class ProgressTally:
    """Counts what was seen, and how fast it comes."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0
        self.failed = 0
        self.present = 0
        self._began = time.monotonic()

    def add(self, progress: Progress) -> None:
        """Count one piece of progress."""
        setattr(self, progress.kind, getattr(self, progress.kind) + progress.count)

    @property
    def settled(self) -> int:
        """Dialogues that need nothing more."""
        return self.done + self.failed + self.present

    @property
    def rate(self) -> float:
        """Dialogues per second, of those played now."""
        passed = time.monotonic() - self._began
        return (self.done + self.failed) / passed if passed > 0 else 0.0

    @property
    def eta(self) -> str:
        """Time left at this rate, ``h:mm:ss``; unknown at first."""
        if not self.rate:
            return "-:--:--"
        left = round((self.total - self.settled) / self.rate)
        return f"{left // 3600}:{left // 60 % 60:02}:{left % 60:02}"


class PlainLines:
    """Writes a line to standard error now and then."""

    def __init__(self, interval_s: float = PLAIN_INTERVAL_S) -> None:
        """Write at most every ``interval_s`` seconds."""
        self._interval_s = interval_s
        self._last = time.monotonic()
        self._tally = ProgressTally(0)
        self._spending: Callable[[], Spending] = lambda: Spending(0, None)

    def begin(self, total: int, spending: Callable[[], Spending]) -> None:
        """Remember the total; the first line comes after one interval."""
        self._tally, self._spending = ProgressTally(total), spending
        self._last = time.monotonic()

    def see(self, progress: Progress) -> None:
        """Count, and write a line if it is time."""
        self._tally.add(progress)
        now = time.monotonic()
        if now - self._last >= self._interval_s:
            self._last = now
            t = self._tally
            say(
                f"{t.settled:,}/{t.total:,} done, {t.failed:,} failed, {t.rate:.1f}/s, "
                f"{t.eta} left, {spending_text(self._spending())}"
            )

    def note(self, message: str) -> None:
        """Write the message."""
        say(message)

    def end(self) -> None:
        """Write nothing: the summary follows."""


class LiveBar:
    """Draws a bar on a terminal; rich is imported when the run begins."""

    def __init__(self) -> None:
        self._tally = ProgressTally(0)
        self._spending: Callable[[], Spending] = lambda: Spending(0, None)
        self._bar: Any = None
        self._task: Any = None
        self._last = 0.0

    def begin(self, total: int, spending: Callable[[], Spending]) -> None:
        """Open the bar."""
        rich_progress = import_module("rich.progress")
        console = import_module("rich.console").Console(stderr=True)
        self._tally, self._spending = ProgressTally(total), spending
        self._bar = rich_progress.Progress(
            rich_progress.BarColumn(),
            rich_progress.TextColumn("{task.description}", markup=False),
            console=console,
            transient=True,
        )
        self._task = self._bar.add_task("", total=total)
        self._bar.start()

    def see(self, progress: Progress) -> None:
        """Count, and redraw a few times a second."""
        self._tally.add(progress)
        now = time.monotonic()
        if now - self._last >= LIVE_INTERVAL_S:
            self._last = now
            self._draw()

    def note(self, message: str) -> None:
        """Write the message above the bar."""
        if self._bar is None:
            say(message)
        else:
            self._bar.console.print(message, markup=False, highlight=False)

    def end(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _draw(self) -> None:
        t = self._tally
        self._bar.update(
            self._task,
            completed=t.settled,
            description=(
                f"{t.settled:,}/{t.total:,}  {t.failed:,} failed  {t.rate:.1f}/s  {t.eta}  "
                f"{spending_text(self._spending())}"
            ),
        )


def watcher(*, quiet: bool) -> Watcher:
    """Choose how to watch: not at all, live on a terminal, or by plain lines."""
    if quiet:
        return Silent()
    return LiveBar() if sys.stderr.isatty() else PlainLines()


def spending_text(spending: Spending) -> str:
    """Return tokens and cost on one line, and what holds the run back."""
    spent = f"{number(spending.tokens)} tokens, {dollars(spending.cost_usd)}"
    if spending.requests_per_s is None:
        return spent
    return f"{spent}, limited to {spending.requests_per_s:.2g} requests/s by the endpoint"
