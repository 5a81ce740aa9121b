"""Signals: one line, exit code 3, and what is waited for; at any moment of a command's life."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import anyio
import pytest

from hipo.app.running.interrupts import in_words, interruptible
from pipeline.stopping.open_requests import OpenRequests
from pipeline.stopping.stop import Stop
from tests.forked import Forked, Program, command
from tests.hipo.cli.conftest import Hipo
from tests.processes import children, is_alive
from tests.wire.server import WireServer

ROOT = Path(__file__).resolve().parents[3]
INTERRUPTED_WHILE_IMPORTING = """
import builtins, os, signal, sys
true_import = builtins.__import__

def interrupted(name, *rest):
    if name == {module!r}:
        builtins.__import__ = true_import
        exec("os.kill(os.getpid(), signal.{number})")  # as dataclasses are made
    return true_import(name, *rest)

from hipo.__main__ import main
builtins.__import__ = interrupted
sys.argv = ["hipo", "generate", "--model", "offline/rules", "-n", "3", "-o", "run"]
main()
"""


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ROOT)}


@pytest.fixture
def hangup_not_ignored() -> Iterator[None]:
    """Let the runs started here heed a hang-up, also where the tests themselves run under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("hangup_not_ignored")
@pytest.mark.parametrize(
    ("module", "number"),
    [
        ("typer", "SIGINT"),
        ("hipo.cli.terminal.errors", "SIGTERM"),
        ("orjson", "SIGINT"),
        ("hipo.app.generation.generate", "SIGHUP"),
    ],
)
def test_a_signal_while_modules_are_imported_is_one_line(
    tmp_path: Path, module: str, number: str
) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    program = INTERRUPTED_WHILE_IMPORTING.format(module=module, number=number)
    (tmp_path / "interrupted.py").write_text(program)
    done = subprocess.run(
        [sys.executable, "-m", "interrupted"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (3, "stopped: interrupted\n")
    assert list(folder.iterdir()) == []


INTERRUPTED_WHILE_PYTHON_ENDS = """
import atexit, os, signal, sys
import hipo.cli.main
from hipo.__main__ import main

hipo.cli.main.run = lambda arguments: 3
atexit.register(os.kill, os.getpid(), signal.{number})
main()
"""


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
def test_one_more_signal_while_python_ends_changes_nothing(tmp_path: Path, number: str) -> None:
    program = INTERRUPTED_WHILE_PYTHON_ENDS.format(number=number)
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (3, "")


def under_nohup(arguments: Sequence[str]) -> None:
    """Run a command with hang-ups ignored, as nohup does."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    command(arguments)


def generating(server: WireServer, folder: Path, program: Program = command, *more: str) -> Forked:
    """Start a run of which two calls are in flight for as long as the server takes to answer."""
    arguments = (
        "generate", "--model", "compatible/m", "--base-url", server.openai_url, "--scenarios",
        "used_car", "-n", "4", "--turns", "1", "--max-concurrency", "2", "--timeout", "600", "-o", "run",
        *more,
    )  # fmt: skip
    started = Forked(program, arguments, folder, environment())
    deadline = time.monotonic() + 120
    while not server.count and started.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    assert server.count, "the run never sent anything"
    return started


@pytest.fixture
def slow() -> Iterator[WireServer]:
    with WireServer(keep=False, latency_s=1.0) as server:
        yield server


@pytest.mark.parametrize(
    ("number", "more"),
    [(signal.SIGINT, ()), (signal.SIGTERM, ()), (signal.SIGHUP, ()), (signal.SIGINT, ("-q",))],
)
def test_a_signal_lets_calls_in_flight_finish_and_says_how_long_that_may_take(
    slow: WireServer, tmp_path: Path, hipo: Hipo, number: signal.Signals, more: tuple[str, ...]
) -> None:
    process = generating(slow, tmp_path, command, *more)
    process.send_signal(number)
    _, err = process.communicate()
    assert process.returncode == 3, err
    assert "stopping: finishing " in err
    assert " in flight, the longest for " in err
    assert " s more; interrupt again to leave now" in err
    assert err.endswith("stopped: interrupted\n  go on with the same command\n")
    state = hipo("runs", "show", "run", "--format", "json").data
    assert state["state"] == "stopped:interrupted"
    assert state["calls"] == slow.count, "every call that was sent is kept"


def test_a_run_under_nohup_outlives_its_terminal(slow: WireServer, tmp_path: Path) -> None:
    slow.latency_s = 0.2
    process = generating(slow, tmp_path, under_nohup)
    process.send_signal(signal.SIGHUP)
    _, err = process.communicate()
    assert process.returncode == 0, err
    assert "stopp" not in err


def test_what_is_in_flight_is_counted_with_the_longest_and_what_may_still_come() -> None:
    now = [100.0]
    register = OpenRequests(clock=lambda: now[0])
    assert register.summary().count == 0
    first = register.begin(600.0)
    now[0] = 310.0
    second = register.begin(120.0)
    now[0] = 313.0
    assert in_words(register.summary()) == (
        "2 calls in flight, the longest for 213 s, at most 387 s more"
    )
    register.end(second)
    assert register.summary().count == 1
    register.end(first)
    assert register.summary().count == 0


@pytest.mark.anyio
async def test_what_is_still_waited_for_is_told_now_and_then_until_it_is_there() -> None:
    stop, told = Stop(), list[str]()
    twice = asyncio.Event()

    def notice(message: str) -> None:
        told.append(message)
        if len(told) == 3:
            twice.set()

    with interruptible(stop, notice, enabled=True, told_every_s=0.01):
        number = stop.in_flight.begin(60.0)
        os.kill(os.getpid(), signal.SIGINT)
        await twice.wait()
        stop.in_flight.end(number)
        count = len(told)
        await anyio.sleep(0.05)
    assert stop.code == "interrupted"
    assert told[0].startswith("stopping: finishing 1 call in flight, the longest for 0 s, at most ")
    assert told[1].startswith("still waiting for 1 call in flight, ")
    assert len(told) == count


def imports(worker: int) -> bool:
    """Whether a worker is its own program by now, and has begun to import what it needs."""
    process = Path(f"/proc/{worker}")
    program, mapped = process / "cmdline", process / "maps"
    return "hipo.app.workers.worker" in program.read_text() and "orjson" in mapped.read_text()


def test_an_interrupt_while_workers_start_is_one_line(tmp_path: Path) -> None:
    """A terminal sends it to all processes of a command, which the new ones are not yet ready for."""
    process = subprocess.Popen(
        [
            sys.executable, "-m", "hipo", "generate", "--model", "offline/rules", "-n", "9",
            "--workers", "2", "-o", "run",
        ],
        cwd=tmp_path,
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )  # fmt: skip
    while process.poll() is None and not any(map(imports, children(process.pid))):
        time.sleep(0.01)
    workers = children(process.pid)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (3, "stopped: interrupted\n")
    assert not any(is_alive(worker) for worker in workers)


@pytest.mark.anyio
async def test_after_a_run_signals_do_what_they_did_before() -> None:
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, lambda *_: None) for number in numbers]
    own = [signal.getsignal(number) for number in numbers]
    try:
        with interruptible(Stop(), lambda _: None, enabled=True):
            assert [signal.getsignal(number) for number in numbers] != own
        assert [signal.getsignal(number) for number in numbers] == own
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def test_an_interrupt_while_all_is_tidied_up_ends_the_command_as_any_other() -> None:
    async def tidy_up() -> None:
        with interruptible(Stop(), lambda _: None, enabled=True):
            for _ in range(2):
                os.kill(os.getpid(), signal.SIGINT)
                await asyncio.sleep(0)
            await asyncio.Event().wait()

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(tidy_up())
