"""A worker in another process that plays dialogues for a run it can reach only by messages.

Both ends speak pickles over a socket: the driver sends what was prepared, then jobs; the worker
asks for permits, reports its calls and how every job ended.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import socket
import subprocess
import sys
from collections.abc import Awaitable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from hipo.app.players import connected
from hipo.app.preparation import Prepared
from pipeline.engine import Job
from pipeline.run_link import CallReport, LocalRun, Permit, PermitRequest, RunLink, Settlement
from pipeline.runner import JobFailed, JobFailure, failure_of
from pipeline.stop import Stop
from pipeline.store.calls import CallLog, ChoiceRow
from scenarios.case import Case
from scenarios.dialogue import Dialogue

ROOT = Path(__file__).parents[2]


class Pickles:
    """Pickled messages over one end of a socket pair."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def over(cls, end: socket.socket) -> Pickles:
        return cls(*await asyncio.open_connection(sock=end))

    def send(self, *message: object) -> None:
        data = pickle.dumps(message)
        self._writer.write(len(data).to_bytes(4, "big") + data)

    async def receive(self) -> tuple[Any, ...]:
        size = int.from_bytes(await self._reader.readexactly(4), "big")
        message: tuple[Any, ...] = pickle.loads(await self._reader.readexactly(size))
        return message

    def close(self) -> None:
        self._writer.close()


class RemoteRun:
    """A run in another process as the clients of this one see it."""

    def __init__(self, pickles: Pickles) -> None:
        self.stop = Stop()
        self._pickles = pickles
        self._known: dict[tuple[bytes, int], dict[int, ChoiceRow]] = {}
        self._numbers = count()
        self._waiting: dict[int, asyncio.Future[Any]] = {}

    def learn(self, key: bytes, choices: Sequence[ChoiceRow]) -> None:
        for choice in choices:
            self._known.setdefault((key, choice.sample), {})[choice.epoch] = choice

    def known(self, key: bytes, samples: Sequence[int], epoch: int) -> Mapping[int, ChoiceRow]:
        rows = {}
        for sample in samples:
            by_epoch = self._known.get((key, sample), {})
            usable = [
                e for e, row in by_epoch.items() if e == epoch or (e < epoch and row.status == "ok")
            ]
            if usable:
                rows[sample] = by_epoch[max(usable)]
        return rows

    def count_hits(self, count: int) -> None:
        self._pickles.send("hits", count)

    async def permit(self, request: PermitRequest) -> Permit:
        answer = await self._ask("permit", request)
        if isinstance(answer, JobFailure):
            raise JobFailed(answer)
        assert isinstance(answer, Permit)
        return answer

    def settle(self, settlement: Settlement) -> None:
        self._pickles.send("settle", settlement)

    def record(self, report: CallReport) -> Awaitable[None]:
        acknowledged = self._ask("record", report)

        async def learn_when_durable() -> None:
            await acknowledged
            self.learn(report.key, report.choices)

        return asyncio.ensure_future(learn_when_durable())

    def answered(self, number: int, answer: object) -> None:
        self._waiting.pop(number).set_result(answer)

    def _ask(self, kind: str, message: object) -> asyncio.Future[Any]:
        number = next(self._numbers)
        self._waiting[number] = asyncio.get_running_loop().create_future()
        self._pickles.send(kind, number, message)
        return self._waiting[number]


async def work(end: socket.socket) -> None:
    """Play the jobs that come, until the driver hangs up."""
    pickles = await Pickles.over(end)
    (prepared,) = await pickles.receive()
    run = RemoteRun(pickles)
    link: RunLink = run
    async with connected(prepared) as connections, asyncio.TaskGroup() as playing:
        players = connections.players(link, lambda _: None)

        async def play(number: int, job: Job) -> None:
            try:
                ending: object = await players[job.arm].play(job.case, job.epoch)
            except Exception as error:
                ending = failure_of(error)
            pickles.send("ended", number, ending)

        while True:
            try:
                kind, *content = await pickles.receive()
            except asyncio.IncompleteReadError:
                return
            if kind == "job":
                number, job = content
                for known in job.known:
                    run.learn(known.key, [known.choice])
                playing.create_task(play(number, job))
            elif kind == "stop":
                run.stop.request(*content)
            else:
                run.answered(*content)


class Driver:
    """The end that holds the store: answers a worker's messages and gives it jobs."""

    def __init__(self, pickles: Pickles, run: LocalRun, calls: CallLog) -> None:
        self._pickles = pickles
        self._run = run
        self._calls = calls
        self._numbers = count()
        self._playing: dict[int, asyncio.Future[Dialogue | JobFailure]] = {}

    async def play(self, job: Job) -> Dialogue:
        number = next(self._numbers)
        ended: asyncio.Future[Dialogue | JobFailure] = asyncio.get_running_loop().create_future()
        self._playing[number] = ended
        self._pickles.send("job", number, job)
        ending = await ended
        if isinstance(ending, JobFailure):
            raise JobFailed(ending)
        return ending

    def close(self) -> None:
        self._pickles.close()

    async def serve(self) -> None:
        try:
            await self._serve()
        finally:
            for ended in self._playing.values():
                if not ended.done():
                    ended.set_exception(ConnectionError("the worker is gone"))

    async def _serve(self) -> None:
        async with asyncio.TaskGroup() as answering:
            while True:
                kind, *content = await self._pickles.receive()
                if kind == "settle":
                    self._run.settle(*content)
                elif kind == "hits":
                    self._run.count_hits(*content)
                elif kind == "ended":
                    number, ending = content
                    self._playing.pop(number).set_result(ending)
                elif kind == "permit":
                    answering.create_task(self._permit(*content))
                elif kind == "record":
                    answering.create_task(self._record(*content))

    async def _permit(self, number: int, request: PermitRequest) -> None:
        try:
            answer: object = await self._run.permit(request)
        except Exception as error:
            answer = failure_of(error)
        self._pickles.send("permit", number, answer)

    async def _record(self, number: int, report: CallReport) -> None:
        await self._run.record(report)
        self._pickles.send("recorded", number, None)


class RemotePlayer:
    """Plays the cases of one arm in the worker."""

    def __init__(self, driver: Driver, arm: str, calls: CallLog) -> None:
        self._driver = driver
        self._arm = arm
        self._calls = calls

    async def play(self, case: Case, epoch: int) -> Dialogue:
        known = self._calls.known_of_case(case.id)
        return await self._driver.play(Job(case, self._arm, epoch, known))


class Worker:
    """A worker process, started and given what was prepared; give it a driver's end to serve."""

    def __init__(self) -> None:
        self.end, other = socket.socketpair()
        code = f"from tests.hipo.remote_worker import main; main({other.fileno()})"
        self.process = subprocess.Popen(
            [sys.executable, "-c", code],
            pass_fds=[other.fileno()],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        other.close()

    async def driver(self, prepared: Prepared, run: LocalRun, calls: CallLog) -> Driver:
        pickles = await Pickles.over(self.end)
        pickles.send(prepared)
        return Driver(pickles, run, calls)


def main(file_descriptor: int) -> None:
    """Work for the driver at the other end of a socket."""
    asyncio.run(work(socket.socket(fileno=file_descriptor)))
