"""The gates that calls to endpoints wait at: for the first call, and while an outage lasts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from pipeline.endpoints.outage import Admission, Availability, OutageNews
from pipeline.endpoints.signs import CallSign
from pipeline.endpoints.wait_rules import WaitRules
from pipeline.providers.rate_limiter import ModelAddress
from pipeline.stopping.awaited import AwaitedEndpoints
from pipeline.stopping.stop import UNAVAILABLE, Stop, Stopped
from scenarios.log import logger

STOP_LOOK_S = 0.2
"""Those who wait look this often whether the run has been asked to stop."""

Clock = Callable[[], float]
_log = logger("endpoint")


@dataclass(slots=True)
class _Waiting:
    role: str
    admitted: asyncio.Future[Admission]


class EndpointGate:
    """The way to one endpoint. Who waits here holds nothing; one timer serves all of them."""

    def __init__(
        self,
        availability: Availability,
        stop: Stop,
        tell: Callable[[OutageNews], None],
        clock: Clock = time.monotonic,
    ) -> None:
        """Let calls through as ``availability`` says, and ask ``stop`` to stop when it gives up."""
        self._availability = availability
        self._stop = stop
        self._tell = tell
        self._clock = clock
        self._waiting: list[_Waiting] = []
        self._timer: asyncio.TimerHandle | None = None

    async def enter(self, role: str, *, changed: bool = False) -> Admission:
        """Wait until a call may be sent, which may be one that was refused, in a changed form.

        Raises:
            Stopped: the run was asked to stop, or the endpoint was waited for long enough.
        """
        self._stop.check()
        if not (self._waiting and self._availability.away):  # otherwise it is the turn of others
            admission = self._availability.admit(role, self._clock(), changed=changed)
            if admission is not None:
                return admission
        waiting = _Waiting(role, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        self._set_timer()
        try:
            return await waiting.admitted
        except asyncio.CancelledError:
            if waiting in self._waiting:
                self._waiting.remove(waiting)
            elif waiting.admitted.done() and waiting.admitted.exception() is None:
                self.give_back(waiting.admitted.result())
            raise

    def holds(self, admission: Admission) -> bool:
        """Return whether the call may still be sent: an outage may have begun since."""
        return self._availability.holds(admission)

    def give_back(self, admission: Admission) -> None:
        """Let somebody else go: this call is not sent after all."""
        self.settle(admission, CallSign("nothing"))

    def settle(self, admission: Admission, came: CallSign) -> None:
        """Take in what became of a call, and let those through whom that concerns."""
        before = self._availability.open_to
        now = self._clock()
        self._announce(self._availability.settled(admission, came, now))
        # Nearly every answer changes nothing: hundreds may wait for the first one of their role.
        if came.sign != "answered" or (self._waiting and self._availability.open_to != before):
            self._go_through()

    def _announce(self, news: OutageNews | None) -> None:
        if news is not None:
            self._tell(news)

    def _go_through(self) -> None:
        """Let through who may go by now, or send everybody away when the run stops."""
        now = self._clock()
        self._announce(self._availability.look(now))
        given_up = self._availability.given_up(now)
        if given_up is not None:
            self._stop.request(given_up, UNAVAILABLE)
        still_waiting = []
        for waiting in self._waiting:
            if waiting.admitted.done():  # its task was cancelled
                continue
            if self._stop.requested:
                reason = self._stop.reason or ""
                waiting.admitted.set_exception(Stopped(reason, self._stop.code))
                continue
            admission = self._availability.admit(waiting.role, now)
            if admission is None:
                still_waiting.append(waiting)
            else:
                waiting.admitted.set_result(admission)
        self._waiting = still_waiting
        self._set_timer()

    def _set_timer(self) -> None:
        """Look again when something may have changed, as long as anybody waits."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self._waiting:
            return
        change = self._availability.next_change(self._clock())
        delay = STOP_LOOK_S if change is None else min(STOP_LOOK_S, change)
        self._timer = asyncio.get_running_loop().call_later(delay, self._go_through)


@dataclass(slots=True)
class EndpointGates:
    """One gate per model and address, made when it is first asked for."""

    stop: Stop
    rules: WaitRules = field(default_factory=WaitRules)
    notice: Callable[[str], None] = lambda _: None
    """Is told of an outage once when it begins and once when it ends."""
    answered_before: Callable[[str, str], bool] = lambda _model, _role: False
    """Whether ``provider/model`` answered a role in an earlier process of the run."""
    clock: Clock = time.monotonic
    awaited: AwaitedEndpoints = field(default_factory=AwaitedEndpoints)
    """Where outages are registered."""
    _gates: dict[ModelAddress, EndpointGate] = field(default_factory=dict)
    _concerned: dict[str, set[ModelAddress]] = field(default_factory=dict)
    """By what is wrong at the moment: the models concerned; several may be behind one address."""

    def gate(self, address: ModelAddress) -> EndpointGate:
        """Return the gate that all calls to this model wait at."""
        gate = self._gates.get(address)
        if gate is None:
            name = f"{address.provider}/{address.model}"
            availability = Availability(
                name,
                address.base_url or name,
                self.rules,
                lambda role: self.answered_before(name, role),
            )
            gate = self._gates[address] = EndpointGate(
                availability, self.stop, lambda news: self._tell(address, news), self.clock
            )
        return gate

    def _tell(self, address: ModelAddress, news: OutageNews) -> None:
        """Say it once, however many models are concerned."""
        concerned = self._concerned.setdefault(news.what, set())
        before = len(concerned)
        (concerned.add if news.began else concerned.discard)(address)
        if before and concerned:
            return  # others are concerned, too: it was told already, or is not over for them
        if news.began:
            self.awaited.begin(news.what, news.seconds)
        else:
            self.awaited.end(news.what)
        fields = {"model": address.model, "seconds": round(news.seconds, 1)}
        _log.info("%s", news.message, extra={"fields": fields})
        self.notice(news.message)
