"""Workers as processes of this machine: started with the interpreter of this one, and kept going."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import orjson

from pipeline.executors.driver import Driver
from pipeline.stop import INTERNAL, MustStop

YOUNG_S = 60.0
"""A worker that ends within so many seconds of its start may have been ended by what it does."""
MOST_YOUNG = 3
"""So many workers in a row may end that young before none is started in their place."""
LEAVE_S = 5.0
"""Seconds from the end of the stream to the end of the process; then it is killed."""
REFUSED = 2
"""Exit code of a worker that cannot build its players, as would no other; it has said why."""
_STDERR = 2
_ADVICE = "see above what the workers printed, or play in one process: leave --workers out"


@asynccontextmanager
async def worker_processes(
    driver: Driver, port: int, command: Sequence[str], count: int, notice: Callable[[str], None]
) -> AsyncIterator[None]:
    """Keep ``count`` workers running; one that ends before its time is replaced.

    The address and the token go through the standard input of a worker: neither its command line
    nor its environment shows them. What it prints goes to standard error.

    Args:
        driver: that they join.
        port: where it listens on 127.0.0.1.
        command: starts a worker, behind the path of this interpreter.
        count: how many.
        notice: is told of a worker that ends before its time.
    """
    places = [
        _Place(f"{number}", driver, port, command, _environment(count), notice)
        for number in range(1, count + 1)
    ]
    keeping = [asyncio.ensure_future(place.keep()) for place in places]
    watching = asyncio.ensure_future(_all_given_up(driver, keeping))
    try:
        await _all_ready(driver, keeping)
        yield
    finally:
        await driver.close()
        for task in (watching, *keeping):
            task.cancel()
        await asyncio.gather(watching, *keeping, return_exceptions=True)


async def _all_ready(driver: Driver, keeping: Sequence[asyncio.Future[str]]) -> None:
    """Wait until every worker has built its players.

    Raises:
        UsageError: one of them cannot.
        MustStop: one of them ends, whenever it is started.
    """
    ready = asyncio.ensure_future(driver.ready(len(keeping)))
    try:
        either: list[asyncio.Future[Any]] = [ready, *keeping]
        ended, _ = await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if ready not in ended:  # what the worker said before it ended may still be on its way
            await asyncio.wait([ready], timeout=LEAVE_S)
        if ready.done():
            ready.result()
            return
    finally:
        ready.cancel()
    why = next(place.result() for place in keeping if place.done())
    raise MustStop(f"a worker cannot be started: {why}", INTERNAL, _ADVICE)


async def _all_given_up(driver: Driver, keeping: Sequence[asyncio.Future[str]]) -> None:
    """Say that no worker will come any more once the last one is not replaced."""
    whys = await asyncio.gather(*keeping)
    driver.give_up(MustStop(f"there is no worker left: {whys[-1]}", INTERNAL, _ADVICE))


@dataclass(frozen=True, slots=True)
class _Place:
    """Where one worker runs, and another one after it."""

    name: str
    driver: Driver
    port: int
    command: Sequence[str]
    environment: Mapping[str, str]
    notice: Callable[[str], None]

    async def keep(self) -> str:
        """Start a worker, again where it ends before its time; return why no longer."""
        young = 0
        while True:
            began = time.monotonic()
            code = await self._run()
            young = young + 1 if time.monotonic() - began < YOUNG_S else 0
            ended = f"worker {self.name} has ended ({_in_words(code)})"
            if code == REFUSED:
                return ended
            if young >= MOST_YOUNG:
                return f"{ended}, {young} times in a row"
            self.notice(f"{ended}: another one plays its dialogues again")

    async def _run(self) -> int:
        """Run one worker until it ends; return its exit code, below 0 for a signal."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *self.command,
            stdin=asyncio.subprocess.PIPE,
            stdout=_STDERR,
            env=self.environment,
        )
        joining = {"host": "127.0.0.1", "port": self.port, "token": self.driver.token}
        try:
            await process.communicate(orjson.dumps({**joining, "name": self.name}) + b"\n")
        except asyncio.CancelledError:
            # It has been told to end; nobody waits for it any longer than for that.
            try:
                await asyncio.wait_for(process.wait(), LEAVE_S)
            except TimeoutError:
                process.kill()
                await process.wait()
            raise
        return process.returncode or 0


def _environment(count: int) -> dict[str, str]:
    """Return the environment of one of ``count`` workers.

    It finds the modules that this process finds. The processors are shared where libraries for
    numbers would take all of them for each worker.
    """
    path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)  # noqa: PTH109 - as text
    threads = max(1, (os.cpu_count() or 1) // count)
    return {"OMP_NUM_THREADS": str(threads), **os.environ, "PYTHONPATH": path}


def _in_words(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
