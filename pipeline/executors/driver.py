"""The driver: in the process that holds the store, it gives jobs to workers anywhere.

Workers join over a stream (:mod:`pipeline.executors.frames`) and are all alike, whoever started
them: processes of this machine (:mod:`pipeline.executors.processes`) or of others. They come and go
while a run is under way. The driver alone writes the store, holds the budget and knows the rates.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pipeline.endpoints.run_link import LocalRun
from pipeline.executors.frames import MOST_BYTES, Stream, StreamBroken, encoded
from pipeline.executors.messages import FromWorker, Notice, Ready, Refused, Setup, from_worker
from pipeline.executors.worker_session import SILENT_S, SharedRun, WorkerLost, WorkerSession
from pipeline.playing.engine import Job, Player
from pipeline.playing.runner import JobFailed, JobFailure
from scenarios.case import Case
from scenarios.dialogue import Dialogue
from scenarios.errors import RunError, UsageError
from scenarios.log import logger

MOST_LOST = 3
"""So many workers may end under one job before it fails: it may be what ends them."""
WORKER_LOST = "worker_lost"
"""Code of such a job."""
FAREWELL_S = 5.0
"""Seconds that workers have to break off what is left and say what became of it."""

_log = logger("workers")


class Driver:
    """Listens for workers, and plays cases in them."""

    def __init__(
        self,
        material: Mapping[str, Any],
        notice: Callable[[str], None] = lambda _: None,
        token: str | None = None,
        *,
        silent_s: float = SILENT_S,
    ) -> None:
        """Prepare to listen.

        Args:
            material: what workers build their players of, as plain data.
            notice: is told what workers learn, the same thing once.
            token: what workers have to know; None makes one.
            silent_s: seconds of this process in which a worker that works has to say something; it
                is asked every few, and its event loop answers.

        Raises:
            UsageError: the material is more than one message holds.
        """
        self._notice = notice
        self._silent_s = silent_s
        self._told: set[str] = set()
        self.token = token or secrets.token_urlsafe(32)
        self._setup = Setup(material)
        if (size := len(encoded(self._setup))) + 2 > MOST_BYTES:
            raise UsageError(
                f"the scenarios and prompts that workers need have {size >> 20} MiB; at most"
                f" {MOST_BYTES >> 20} can be sent to them",
                "select fewer scenarios, or play in one process: leave --workers out",
            )
        self._server: asyncio.Server | None = None
        self._run: SharedRun | None = None
        self._sessions: list[WorkerSession] = []
        self._ended: Counter[str] = Counter()
        """Jobs that ended in workers that are gone, by the name of the worker."""
        self._serving: set[asyncio.Task[None]] = set()
        self._kill: dict[str, Callable[[], None]] = {}
        """Ends the process of a worker, by its name, where that is on this machine."""
        self._changed = asyncio.Event()
        self._over: RunError | UsageError | None = None
        """Why no job can be played any more."""
        self._closing = False

    async def listen(self, host: str = "127.0.0.1") -> int:
        """Let workers join at an address of this machine; return the port, which is a free one.

        Raises:
            UsageError: the address is not of this machine.
        """
        try:
            self._server = await asyncio.start_server(self._connected, host, 0)
        except OSError as error:
            raise UsageError(
                f"cannot listen for workers at {host}: {error.strerror or error}",
                "choose an address of this machine",
            ) from error
        bound: int = self._server.sockets[0].getsockname()[1]
        return bound

    async def ready(self, count: int = 1) -> None:
        """Wait until so many workers have built their players.

        Raises:
            UsageError: one of them cannot, which is a mistake of the user's.
            RunError: nobody is going to join any more.
        """
        while True:
            if self._over is not None:
                raise self._over
            if len(self._sessions) >= count:
                return
            self._changed.clear()
            await self._changed.wait()

    def players(
        self,
        arms: Iterable[str],
        link: LocalRun,
        *,
        timeout_for: Callable[[str], float],
    ) -> dict[str, Player]:
        """Return one player per arm; from now on the workers belong to this run.

        Args:
            arms: the ids.
            link: the run in this process.
            timeout_for: seconds usually allowed for a request to a provider.
        """
        self._run = SharedRun(link, timeout_for)
        link.stop.on_request(self._tell_stop)
        return {arm: RemotePlayer(self, arm) for arm in arms}

    async def play(self, case: Case, arm: str, epoch: int) -> Dialogue:
        """Play a case in the worker that has other jobs of it, else in the one with the fewest.

        Raises:
            JobFailed: it failed in the worker, or too many workers ended under it.
            Stopped: the run was asked to stop.
            RunError: there is no worker left.
        """
        lost = 0
        while True:
            session = await self._session_for(case.id)
            known = self._shared().link.known_of_case(case.id)
            try:
                return await session.play(Job(case, arm, epoch, known))
            except WorkerLost:
                lost += 1
                if lost >= MOST_LOST:
                    reason = f"{lost} workers ended while they played it"
                    raise JobFailed(JobFailure("failed", WORKER_LOST, reason)) from None

    @contextmanager
    def ended_by(self, name: str, kill: Callable[[], None]) -> Iterator[None]:
        """Have ``kill`` called, while this is open, where nobody waits for the worker of a name.

        It does not answer, or has not joined when the run is over.
        """
        self._kill[name] = kill
        if self._closing:
            kill()
        try:
            yield
        finally:
            del self._kill[name]

    def jobs_ended(self, name: str) -> int:
        """Return how many jobs have ended in the workers of a name."""
        there = sum(session.ended for session in self._sessions if session.name == name)
        return self._ended[name] + there

    @property
    def is_closing(self) -> bool:
        """Whether workers are to end."""
        return self._closing

    def give_up(self, why: RunError | UsageError) -> None:
        """Raise ``why`` to whoever wants a case played or waits for workers: none will come."""
        self._over = self._over or why
        self._changed.set()

    async def close(self) -> None:
        """Let the workers break off what is left, and listen no longer; closing twice does nothing.

        What they had sent is settled, or charged at its worst, when this returns: the store of the
        run has to be open until then.
        """
        if not self._closing:
            self._end_processes(self._kill.keys() - {one.name for one in self._sessions})
        self._closing = True
        self.give_up(RunError("the workers of this run are gone"))
        if self._server is not None:
            self._server.close()
        for session in self._sessions:
            session.dismiss()
        if self._serving:
            _, late = await asyncio.wait(self._serving, timeout=FAREWELL_S)
            self._end_processes({session.name for session in self._sessions})
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    def _end_processes(self, names: Set[str]) -> None:
        """End the processes of workers, where they are on this machine."""
        for name in names & self._kill.keys():
            self._kill[name]()

    def _shared(self) -> SharedRun:
        if self._run is None:
            raise ValueError("the run has not begun")
        return self._run

    async def _session_for(self, case: str) -> WorkerSession:
        """Return the worker for a case; waits where there is none at the moment."""
        while True:
            self._shared().link.stop.check()
            if self._sessions:
                of_case = (session for session in self._sessions if session.plays(case))
                fewest = min(self._sessions, key=lambda session: session.load)
                return next(of_case, fewest)
            if self._over is not None:
                raise self._over
            self._changed.clear()
            await self._changed.wait()

    def _tell_stop(self) -> None:
        stop = self._shared().link.stop
        for session in self._sessions:
            session.tell_stop(stop)
        self._changed.set()

    # Workers that join

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve whoever connects, until it is gone; closing waits for it."""
        task = asyncio.current_task()
        if task is None or self._closing:
            writer.close()
            return
        self._serving.add(task)
        stream = Stream(reader, writer, from_worker)
        try:
            await stream.admit(self.token)
            await self._serve(stream)
        except RunError as error:  # its stream has ended; perhaps the store is closed already
            _log.info("a worker's stream ended: %s", error)
        except asyncio.CancelledError:
            if not self._closing:
                raise
        finally:
            await stream.close()
            self._serving.discard(task)

    async def _serve(self, stream: Stream[FromWorker]) -> None:
        """Set a worker up, then serve it until its stream ends.

        Raises:
            StreamBroken: it has ended.
        """
        stream.send(self._setup)
        name = await self._name_of(stream)
        if name is None:
            return
        session = WorkerSession(stream, name, self._shared, self._tell, self._silent_s)
        self._sessions.append(session)
        if self._closing:
            session.dismiss()
        elif self._run is not None and self._run.link.stop.requested:
            session.tell_stop(self._run.link.stop)
        self._changed.set()
        try:
            await session.serve()
        finally:
            self._sessions.remove(session)
            self._ended[session.name] += session.ended
            if session.is_given_up:
                self._end_processes({session.name})
            self._changed.set()

    async def _name_of(self, stream: Stream[FromWorker]) -> str | None:
        """Wait until a worker has built its players; return its name, or None where it cannot.

        Raises:
            StreamBroken: it is gone, or says what only a worker at work can say.
        """
        while True:
            for message in await stream.receive():
                if isinstance(message, Ready):
                    return message.name
                if isinstance(message, Refused):
                    self.give_up(UsageError(message.message, message.hint))
                    return None
                if not isinstance(message, Notice):
                    raise StreamBroken(f"a worker began with a message {message.kind!r}")
                self._tell(message.text)

    def _tell(self, text: str) -> None:
        """Tell what a worker says, the same thing once: others will say it, too."""
        if text not in self._told:
            self._told.add(text)
            self._notice(text)


@dataclass(frozen=True, slots=True)
class RemotePlayer:
    """Plays the cases of one arm in workers; satisfies :class:`~pipeline.playing.engine.Player`."""

    driver: Driver
    arm: str

    async def play(self, case: Case, epoch: int) -> Dialogue:
        """Play a case; see :meth:`Driver.play`."""
        return await self.driver.play(case, self.arm, epoch)
