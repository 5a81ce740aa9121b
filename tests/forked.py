"""Processes of their own that need not import anything: one that has done so forks them.

Each has its own number, folder, environment and streams, and can be killed. What the start of an
interpreter decides (the order of imports, streams that are closed) is tested with a new interpreter.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

ROOT = Path(__file__).resolve().parents[1]
IMPORTED = [
    "hipo.__main__",
    "hipo.app.evaluation.evaluate",
    "hipo.app.export.export",
    "hipo.app.report.report",
    "hipo.cli.evaluate.evaluate",
    "hipo.cli.export.export",
    "hipo.cli.generate.run",
    "hipo.cli.generate.towards",
    "hipo.cli.terminal.logs",
    "hipo.cli.runs.show",
    "hipo.cli.verify.run",
    "numpy.random",
    "hipo.app.workers.processes",
    "outputs.formats.trl",
    "pipeline.offline.engine",
    "pipeline.offline_judge.engine",
    "pipeline.providers.compatible",
    "pipeline.providers.offline",
    "pipeline.strategies.direct",
    "tests.forked",
    "tests.pipeline.batches.killed",
    "tests.warmed",
]
"""What most commands of the tests need."""
LONGEST_S = 300.0
Program = Callable[[Sequence[str]], None]
"""A function of a module; what it leaves with is the exit code."""
_CONTEXT = multiprocessing.get_context("forkserver")


class Forked:
    """A process that was forked, with what tests use of ``subprocess.Popen``."""

    def __init__(
        self,
        program: Program,
        arguments: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        out: str = os.devnull,
    ) -> None:
        """Call a program with arguments, in a folder, with a whole environment.

        What it prints goes to the file ``out``, its standard error is read from ``stderr``.
        """
        _start_server()
        reader, writer = _CONTEXT.Pipe(duplex=False)
        given = (program, tuple(arguments), str(folder), dict(environment), out, writer)
        self._process = _CONTEXT.Process(target=_run, args=given)
        self._process.start()
        writer.close()
        with reader:
            self.stderr = os.fdopen(os.dup(reader.fileno()), encoding="utf-8")
        assert self._process.pid is not None
        self.pid = self._process.pid

    @property
    def returncode(self) -> int | None:
        """The exit code, below 0 for a signal; None while the process runs."""
        return self._process.exitcode

    def poll(self) -> int | None:
        """Return the exit code, or None while the process runs."""
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the process has ended."""
        if self.returncode is None:
            os.kill(self.pid, number)

    def wait(self) -> int | None:
        """Wait for the end and return the exit code."""
        self._process.join(LONGEST_S)
        return self.returncode

    def communicate(self) -> tuple[None, str]:
        """Return standard error as a whole; a process that hangs is killed after five minutes."""
        timer = threading.Timer(LONGEST_S, self.send_signal, [signal.SIGKILL])
        timer.start()
        with self.stderr:
            said = self.stderr.read()
        self.wait()
        timer.cancel()
        return None, said


def forked(
    program: Program, arguments: Sequence[str], folder: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Call a program in a process of its own and wait for its end."""
    with TemporaryDirectory() as beside:
        out = Path(beside) / "out"
        out.touch()
        process = Forked(program, arguments, folder, environment, str(out))
        _, err = process.communicate()
        assert process.returncode is not None
        return subprocess.CompletedProcess(arguments, process.returncode, out.read_text(), err)


def command(arguments: Sequence[str]) -> None:
    """Run ``hipo`` with arguments, and leave."""
    from hipo.__main__ import main  # noqa: PLC0415 - in the process that forks, before its time

    sys.argv = ["hipo", *arguments]
    main()


def _start_server() -> None:
    """Start the process that forks others, if it does not run yet."""
    _CONTEXT.set_forkserver_preload(IMPORTED)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        forkserver.ensure_running()


def _run(
    program: Program,
    arguments: Sequence[str],
    folder: str,
    environment: Mapping[str, str],
    out: str,
    err: Connection,
) -> None:
    """Become a process with a folder, an environment and streams of its own."""
    # Whoever started the tests in the background may have these ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    os.chdir(folder)
    sys.path.insert(0, folder)  # as python -m does
    os.environ.clear()
    os.environ.update(environment)
    printed = os.open(out, os.O_WRONLY)
    os.dup2(printed, 1)
    os.dup2(err.fileno(), 2)
    os.close(printed)
    err.close()
    sys.stdout = sys.__stdout__ = os.fdopen(1, "w", closefd=False, encoding="utf-8")
    sys.stderr = sys.__stderr__ = os.fdopen(2, "w", 1, closefd=False, encoding="utf-8")
    program(arguments)
