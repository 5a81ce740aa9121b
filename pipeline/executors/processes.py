"""Workers as processes of this machine: started with the interpreter of this one, and kept going."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import orjson

from pipeline.executors.driver import Driver
from pipeline.executors.places import kept_going
from pipeline.processors import processors
from pipeline.search_path import module_path

_STDERR = 2


@asynccontextmanager
async def worker_processes(
    driver: Driver,
    port: int,
    command: Sequence[str],
    *,
    count: int,
    notice: Callable[[str], None],
    leave_s: float,
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
        leave_s: seconds that a worker has to end in when the run is over; then it is killed.
    """
    places = [
        _WorkerPlace(f"{number}", driver, port, command, _environment(count), leave_s)
        for number in range(1, count + 1)
    ]
    async with kept_going(driver, {place.name: place.run for place in places}, notice):
        yield


@dataclass(frozen=True, slots=True)
class _WorkerPlace:
    """Where one worker runs, and another one after it."""

    name: str
    driver: Driver
    port: int
    command: Sequence[str]
    environment: Mapping[str, str]
    leave_s: float

    async def run(self) -> int:
        """Run one worker until it ends; return its exit code, below 0 for a signal."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *self.command,
            stdin=asyncio.subprocess.PIPE,
            stdout=_STDERR,
            env=self.environment,
            process_group=0,  # Ctrl-C is for the driver alone, also while they still start
        )

        def kill() -> None:
            with suppress(ProcessLookupError):
                process.kill()

        joining = {"host": "127.0.0.1", "port": self.port, "token": self.driver.token}
        try:
            with self.driver.ended_by(self.name, kill):
                await process.communicate(orjson.dumps({**joining, "name": self.name}) + b"\n")
        except asyncio.CancelledError:
            # It has been told to end; nobody waits for it any longer than for that.
            try:
                await asyncio.wait_for(process.wait(), self.leave_s)
            except TimeoutError:
                kill()
                await process.wait()
            raise
        return process.returncode or 0


def _environment(count: int) -> dict[str, str]:
    """Return the environment of one of ``count`` workers.

    It finds the modules that this process finds. The processors are shared where libraries for
    numbers would take all of them for each worker.
    """
    threads = max(1, processors() // count)
    return {"OMP_NUM_THREADS": str(threads), **os.environ, "PYTHONPATH": module_path()}
