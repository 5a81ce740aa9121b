"""How a run is watched: a live bar on a terminal, plain lines everywhere else."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any

from hipo.app.running.watching import Silent, Spending, Watcher
from hipo.cli.terminal.console import dollars, number
from hipo.cli.terminal.errors import say
from hipo.cli.terminal.wrapping import harmless
from scenarios.durations import in_words
from scenarios.plural import plural

if TYPE_CHECKING:
    from pipeline.playing.runner import Progress

PLAIN_INTERVAL_S = 10.0
LIVE_INTERVAL_S = 0.2
FIRST_SHARE = 0.02
"""Share of the dialogues that are to be done, after which the time left can be told."""
FIRST_S, FIRST_COUNT = 30.0, 20
"""Or after so many seconds, where so many dialogues are done."""


class ProgressTally:
    """Counts what was seen, and how fast it comes while no endpoint is waited for."""

    def __init__(
        self,
        total: int,
        spending: Callable[[], Spending] = lambda: Spending(0, None),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin to count; ``spending`` says what is waited for, ``clock`` returns seconds."""
        self.total = total
        self.spending = spending
        self.done = 0
        self.failed = 0
        self.present = 0
        self._meanwhile = 0
        """Dialogues played while an endpoint was away: the others went on."""
        self._clock = clock
        self._began = clock() - spending().waited_s  # what was waited before is none of its time

    def add(self, progress: Progress) -> None:
        """Count one piece of progress."""
        setattr(self, progress.kind, getattr(self, progress.kind) + progress.count)
        if progress.kind != "present" and self.spending().waits_for is not None:
            self._meanwhile += progress.count

    @property
    def settled(self) -> int:
        """Dialogues that need nothing more."""
        return self.done + self.failed + self.present

    @property
    def rate(self) -> float:
        """Dialogues per second, of those played now while all endpoints served."""
        passed = self._served_s
        return (self.done + self.failed - self._meanwhile) / passed if passed > 0 else 0.0

    @property
    def eta_s(self) -> float | None:
        """Seconds left at this rate; None where that would be a guess: at first, and in an outage."""
        if self.spending().waits_for is not None:
            return None
        now = self.done + self.failed - self._meanwhile
        enough = now >= FIRST_SHARE * (self.total - self.present) or (
            now >= FIRST_COUNT and self._served_s >= FIRST_S
        )
        rate = self.rate
        return (self.total - self.settled) / rate if enough and rate else None

    @property
    def _served_s(self) -> float:
        return self._clock() - self._began - self.spending().waited_s

    @property
    def eta(self) -> str:
        """Time left, ``h:mm:ss``; dashes at first."""
        eta_s = self.eta_s
        if eta_s is None:
            return "-:--:--"
        left = round(eta_s)
        return f"{left // 3600}:{left // 60 % 60:02}:{left % 60:02}"


def progress_text(tally: ProgressTally) -> str:
    """Return where a command stands, on one line; tokens and cost are its own."""
    spending = tally.spending()
    wait = spending.waits_for
    if wait is None:
        goes = f"{tally.rate:.1f}/s, {tally.eta} left"
    else:
        goes = harmless(f"waiting for {in_words(wait.seconds)}: {wait.what}")
    return (
        f"{spending.doing}: {tally.settled:,}/{tally.total:,}, {tally.failed:,} failed, {goes}, "
        f"{plural(spending.calls_in_flight, 'call')} in flight, {spending_text(spending)}"
    )


def _now() -> datetime:
    return datetime.now(UTC)


def _say(name: str, message: str, now: Callable[[], datetime] = _now) -> None:
    """Write a line with the time and the run to standard error."""
    moment = now().isoformat(timespec="seconds").replace("+00:00", "Z")
    say(f"{moment} {name}{': ' if name else ''}{message}")


class OutageLines(Silent):
    """Says nothing but what the run waits for."""

    def __init__(self, name: str) -> None:
        """Write of the run ``name``."""
        self._name = name

    def warn(self, message: str) -> None:
        """Write the message."""
        _say(self._name, message)


class PlainLines:
    """Writes a line with the time to standard error every few seconds, whatever happens."""

    def __init__(
        self,
        name: str = "",
        interval_s: float = PLAIN_INTERVAL_S,
        now: Callable[[], datetime] = _now,
    ) -> None:
        """Write every ``interval_s`` seconds what becomes of the run ``name``."""
        self._name = name
        self._interval_s = interval_s
        self._now = now
        self._tally = ProgressTally(0)
        self._over = threading.Event()
        self._writing: threading.Thread | None = None

    def begin(self, total: int, spending: Callable[[], Spending]) -> None:
        """Remember the total; the first line comes after one interval."""
        self._tally = ProgressTally(total, spending)
        self._over = threading.Event()
        self._writing = threading.Thread(target=self._write, args=(self._over,), daemon=True)
        self._writing.start()

    def see(self, progress: Progress) -> None:
        """Count."""
        self._tally.add(progress)

    def note(self, message: str) -> None:
        """Write the message."""
        _say(self._name, message, self._now)

    warn = note

    def end(self) -> None:
        """Write no more lines: the summary follows."""
        self._over.set()
        if self._writing is not None:
            self._writing.join()
            self._writing = None

    def line(self) -> str:
        """Return where the run stands."""
        return progress_text(self._tally)

    def _write(self, over: threading.Event) -> None:
        while not over.wait(self._interval_s):
            self.note(self.line())


class LiveBar:
    """Draws a bar on a terminal; rich is imported when the run begins."""

    def __init__(self) -> None:
        self._tally = ProgressTally(0)
        self._bar: Any = None
        self._task: Any = None

    def begin(self, total: int, spending: Callable[[], Spending]) -> None:
        """Open the bar; it is drawn anew a few times a second, whatever happens."""
        rich_progress = import_module("rich.progress")
        console = import_module("rich.console").Console(stderr=True)
        self._tally = ProgressTally(total, spending)
        told = self

        class StateColumn(rich_progress.ProgressColumn):  # type: ignore[misc, name-defined]
            """Where the run stands at the moment the bar is drawn."""

            max_refresh = LIVE_INTERVAL_S

            def render(self, task: Any) -> Any:
                return import_module("rich.text").Text(told.line())

        self._bar = rich_progress.Progress(
            rich_progress.BarColumn(bar_width=20), StateColumn(), console=console, transient=True
        )
        self._task = self._bar.add_task("", total=total)
        self._bar.start()

    def see(self, progress: Progress) -> None:
        """Count."""
        self._tally.add(progress)
        if self._bar is not None:
            self._bar.update(self._task, completed=self._tally.settled)

    def note(self, message: str) -> None:
        """Write the message above the bar."""
        if self._bar is None:
            say(message)
        else:
            self._bar.console.print(harmless(message), markup=False, highlight=False)

    warn = note

    def end(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def line(self) -> str:
        """Return where the run stands."""
        return progress_text(self._tally)


def progress(name: str = "") -> Watcher:
    """Return a watcher that shows how far a call has come.

    It draws a bar on a terminal; elsewhere, in a notebook for instance, it writes a line to standard
    error every ten seconds, with ``name`` in it.

    Example::

        run = generate(recipe, output="runs/trial", watcher=progress())
    """
    return watcher(quiet=False, name=name)


def watcher(*, quiet: bool, name: str = "") -> Watcher:
    """Choose how to watch: for outages alone, live on a terminal, or by lines that name the run."""
    if quiet:
        return OutageLines(name)
    return LiveBar() if sys.stderr.isatty() else PlainLines(name)


def spending_text(spending: Spending) -> str:
    """Return the command's tokens and cost on one line, and what holds the run back."""
    spent = f"{number(spending.own_tokens)} tokens, {dollars(spending.own_cost_usd)}"
    if spending.requests_per_s is None:
        return spent
    return f"{spent}, limited to {spending.requests_per_s:.2g} requests/s by the endpoint"
