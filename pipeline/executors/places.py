"""Places where workers run: one that ends before its time is replaced, whoever started it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from pipeline.executors.driver import Driver
from pipeline.stopping.stop import INTERNAL, MustStop

MOST_IDLE = 3
"""So many workers in a row may end before one dialogue has ended in them, until none is started in
their place."""
LEAVE_S = 5.0
"""Seconds from the end of the stream to the end of the process, where nothing is left to be sent."""
REFUSED = 2
"""Exit code of a worker that cannot build its players, as would no other; it has said why."""
_ADVICE = "see above what the workers printed, or play in one process: leave --workers out"

Start = Callable[[], Awaitable[int]]
"""Runs a worker until it ends, and returns its exit code, below 0 for a signal."""


@asynccontextmanager
async def kept_going(
    driver: Driver, places: Mapping[str, Start], notice: Callable[[str], None]
) -> AsyncIterator[None]:
    """Keep a worker running in each place; one that ends before its time is replaced.

    Args:
        driver: that they join.
        places: what starts a worker, by the name that it joins under.
        notice: is told of a worker that ends before its time.

    Raises:
        UsageError: a worker cannot build its players.
        MustStop: workers end whenever they are started.
    """
    keeping = [
        asyncio.ensure_future(_keep(driver, name, start, notice)) for name, start in places.items()
    ]
    watching = asyncio.ensure_future(_all_given_up(driver, keeping))
    try:
        await _all_ready(driver, keeping)
        yield
    finally:
        await driver.close()
        for task in (watching, *keeping):
            task.cancel()
        await asyncio.gather(watching, *keeping, return_exceptions=True)


async def _keep(driver: Driver, name: str, start: Start, notice: Callable[[str], None]) -> str:
    """Start a worker, again where it ends before its time; return why no longer."""
    idle = 0
    while True:
        before = driver.jobs_ended(name)
        try:
            code = await start()
        except Exception as error:  # noqa: BLE001 - e.g. no memory for a process; nobody waits for it
            return f"worker {name} cannot be started: {error}"
        if driver.is_closing:  # it has ended in time, and waits for the others
            return f"worker {name} has ended"
        idle = idle + 1 if driver.jobs_ended(name) == before else 0
        ended = f"worker {name} has ended ({_in_words(code)})"
        if code == REFUSED:
            return ended
        if idle >= MOST_IDLE:
            return f"{ended}, {idle} times in a row before it did anything"
        notice(
            f"{ended}: another one plays its dialogues again;"
            " what it had in flight is charged at its worst"
        )


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


def _in_words(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
