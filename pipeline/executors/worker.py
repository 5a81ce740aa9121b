"""A worker: plays the jobs that a driver sends it, in any process that can reach the driver.

:func:`work` is all of it: it knows neither who started the process nor where. What builds the
players is handed in, since that is put together above this package
(:func:`hipo.app.workers.worker.run_worker` does; another executor, on a cluster say, calls that).
"""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

from pipeline.calls.tracing import under_span
from pipeline.endpoints.run_link import RunLink
from pipeline.executors.frames import Stream, StreamBroken
from pipeline.executors.messages import (
    Bye,
    Drop,
    Ended,
    FromDriver,
    Notice,
    Ping,
    Play,
    Pong,
    Ready,
    Refused,
    Setup,
    StopNow,
    from_driver,
)
from pipeline.executors.remote_run import RemoteRun
from pipeline.playing.engine import Player
from pipeline.playing.runner import JobFailure, contained, failure_of
from pipeline.stopping.stop import INTERNAL
from scenarios.errors import RunError, UsageError

Players = AbstractAsyncContextManager[Mapping[str, Player]]
Build = Callable[[Mapping[str, Any], RunLink, Callable[[str], None]], Players]
"""Builds one player per arm id from the material of a :class:`Setup`, the run and whom to tell."""


async def work(host: str, port: int, token: str, build: Build, *, name: str) -> None:
    """Join a driver and play what it sends until it says that it is over.

    Nothing is sent to any model, and no reply is used, once the stream has ended.

    Args:
        host: where the driver listens.
        port: of it.
        token: proves to each that the other belongs to the run.
        build: builds the players.
        name: what people call this worker.

    Raises:
        StreamBroken: the driver is not there, does not take the token, or has gone away.
        UsageError: the players cannot be built; the driver was told.
    """
    try:
        reader, writer = await asyncio.open_connection(host, port)
    except OSError as error:
        raise StreamBroken(f"no driver listens at {host}:{port}: {error}") from error
    stream: Stream[FromDriver] = Stream(reader, writer, from_driver)
    try:
        await stream.join(token)
        await _Worker(stream).run(build, name)
    finally:
        await stream.close()


class _Worker:
    """The jobs under way, and the stream that everything goes over."""

    def __init__(self, stream: Stream[FromDriver]) -> None:
        self._stream = stream
        self._run = RemoteRun(stream)
        self._playing: dict[int, asyncio.Task[None]] = {}
        self._of_case: Counter[str] = Counter()

    async def run(self, build: Build, name: str) -> None:
        first, *others = await self._stream.receive()
        if not isinstance(first, Setup):
            raise StreamBroken(f"the driver began with a message {first.kind!r}")
        try:
            async with build(first.material, self._run, self._notice) as players:
                self._stream.send(Ready(name))
                await self._follow(players, others)
        except UsageError as error:
            where = f"on {socket.gethostname()}, where a worker runs"
            self._stream.send(Refused(f"{where}: {error.message}", error.hint))
            raise

    async def _follow(self, players: Mapping[str, Player], messages: list[FromDriver]) -> None:
        """Do what the driver says until it says that it is over, or is gone."""
        try:
            while all(self._take(players, message) for message in messages):
                messages = list(await self._stream.receive())
        except StreamBroken as error:
            self._run.end(error)
            raise
        finally:
            for task in self._playing.values():
                task.cancel()
            await asyncio.gather(*self._playing.values(), return_exceptions=True)
            self._run.end(StreamBroken("the run is over"))

    def _take(self, players: Mapping[str, Player], message: FromDriver) -> bool:
        """Do what one message says; False if it is the last one."""
        if isinstance(message, Play):
            self._begin(players, message)
        elif isinstance(message, Drop):
            if (task := self._playing.get(message.number)) is not None:
                task.cancel()
        elif isinstance(message, StopNow):
            self._run.stop.request(message.reason, message.code, message.advice)
        elif isinstance(message, Ping):
            self._stream.send(Pong())
        elif isinstance(message, Bye):
            return False
        elif isinstance(message, Setup):
            raise StreamBroken("the driver sent its setup twice")
        else:
            self._run.take(message)
        return True

    def _begin(self, players: Mapping[str, Player], message: Play) -> None:
        try:
            job = message.job
        except ValueError as error:
            raise StreamBroken("a key of a job is not written in hexadecimal digits") from error
        self._of_case[job.case.id] += 1
        self._run.begin(job.case.id, job.known)
        task = asyncio.get_running_loop().create_task(self._play(players, message))
        self._playing[message.number] = task

    async def _play(self, players: Mapping[str, Player], message: Play) -> None:
        """Play one job and say how it ended."""
        case, number = message.case, message.number
        try:
            with under_span(message.trace):
                dialogue = await contained(players[message.arm].play(case, message.epoch))
            self._stream.send(Ended(number, dialogue.turns, None))
        except Exception as error:  # noqa: BLE001 - what no failure covers ends the run, there
            self._stream.send(Ended(number, (), as_failure(error)))
        finally:
            del self._playing[number]
            self._of_case[case.id] -= 1
            if not self._of_case[case.id]:
                del self._of_case[case.id]
                self._run.forget(case.id)

    def _notice(self, text: str) -> None:
        self._stream.send(Notice(text))


def as_failure(error: Exception) -> JobFailure:
    """Return what an exception means, also where it ends the run, as data that can travel."""
    try:
        return failure_of(error)
    except RunError:
        return JobFailure("stop", INTERNAL, str(error))
