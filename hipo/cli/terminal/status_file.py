"""A small JSON file that says how a run is doing, for cron jobs and monitors."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from hipo.app.running.watching import Spending, Watcher
from hipo.cli.terminal.console import moment
from hipo.cli.terminal.errors import ExitCode, exit_code_of
from hipo.cli.terminal.progress import ProgressTally
from pipeline.stopping import stop
from scenarios.atomic_files import write_text
from scenarios.errors import RunError, UsageError

if TYPE_CHECKING:
    from pipeline.playing.runner import Progress

INTERVAL_S = 5.0
"""Seconds between two writings of the file."""


class StatusFile:
    """Writes where a command stands every few seconds, and how it ended; each time as a whole."""

    def __init__(self, path: Path | None, interval_s: float = INTERVAL_S) -> None:
        """Write to ``path`` once :meth:`recording` begins; without a path write nothing."""
        self._path = path
        self._interval_s = interval_s
        self._started = time.time()
        self._state = "starting"
        self._stop_code = ""
        self._message = ""
        self._exit_code: int | None = None
        self._tally = ProgressTally(0)

    @contextmanager
    def recording(self) -> Iterator[Callable[[int], None]]:
        """Keep the file up to date meanwhile; call what is given with the exit code.

        Raises:
            UsageError: the file cannot be written at the beginning; later that ends nothing.
        """
        if self._path is not None:
            write_text(self._path, self._text())
        over = threading.Event()
        rewriting = threading.Thread(target=self._rewrite_until, args=(over,), daemon=True)
        rewriting.start()
        try:
            yield self._ended
        except BrokenPipeError:  # whoever reads the output has had enough: all is done
            self._ended(ExitCode.DONE)
            raise
        except BaseException as error:
            self._failed(error)
            raise
        finally:
            over.set()
            rewriting.join()
            self._write()

    def watched(self, watcher: Watcher) -> Watcher:
        """Return a watcher that tells ``watcher`` everything, and this file what it needs."""
        return _CountingWatcher(self, watcher)

    def begin(self, total: int, spending: Callable[[], Spending]) -> None:
        """Count from now on: so many dialogues are planned."""
        self._state, self._tally = "running", ProgressTally(total, spending)

    def see(self, progress: Progress) -> None:
        """Count what has become durable."""
        self._tally.add(progress)

    def _ended(self, code: int) -> None:
        self._exit_code = int(code)
        self._state = "finished" if code == ExitCode.DONE else "finished_with_failures"

    def _failed(self, error: BaseException) -> None:
        self._exit_code = exit_code_of(error)
        self._message = str(error).encode("utf-8", "replace").decode()
        if isinstance(error, RunError) and error.code:
            self._stop_code = error.code
        elif self._exit_code == ExitCode.INTERRUPTED:
            self._stop_code = stop.INTERRUPTED
        else:
            mine = self._exit_code == ExitCode.INTERNAL
            self._stop_code = stop.INTERNAL if mine else stop.CONFIGURATION
        self._state = f"stopped:{self._stop_code}"

    def _rewrite_until(self, over: threading.Event) -> None:
        while not over.wait(self._interval_s):
            self._write()

    def _write(self) -> None:
        if self._path is not None:
            with suppress(UsageError):  # a full disk: the run tells of it, if it is of importance
                write_text(self._path, self._text())

    def _text(self) -> str:
        tally, spending = self._tally, self._tally.spending()
        wait, eta_s = spending.waits_for, tally.eta_s
        status = {
            "state": self._state,
            "stop_code": self._stop_code,
            "message": self._message,
            "exit_code": self._exit_code,
            "planned": tally.total,
            "done": tally.done,
            "failed": tally.failed,
            "present": tally.present,
            "doing": spending.doing,
            "waits_for": None if wait is None else wait.what,
            "waits_s": None if wait is None else round(wait.seconds),
            "rate_per_s": round(tally.rate, 3),
            "eta_s": None if eta_s is None else round(eta_s),
            "calls_in_flight": spending.calls_in_flight,
            "tokens": spending.tokens,
            "cost_usd": spending.cost_usd,
            "pid": os.getpid(),
            "started": moment(self._started),
            "updated": moment(time.time()),
        }
        return orjson.dumps(status, option=orjson.OPT_INDENT_2).decode() + "\n"


class _CountingWatcher:
    """A watcher between a run and another watcher."""

    def __init__(self, file: StatusFile, watcher: Watcher) -> None:
        self._file = file
        self._watcher = watcher
        self.note = watcher.note
        self.warn = watcher.warn
        self.end = watcher.end

    def begin(self, total: int, spending: Callable[[], Spending]) -> None:
        """Tell both that the run starts."""
        self._file.begin(total, spending)
        self._watcher.begin(total, spending)

    def see(self, progress: Progress) -> None:
        """Tell both of the progress."""
        self._file.see(progress)
        self._watcher.see(progress)
