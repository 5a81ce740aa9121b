"""What a driver and its workers say to one another, as dataclasses of plain data, and back from JSON.

``orjson`` writes them as they are; pydantic reads them strictly: another type, a missing field or an
unknown kind is refused. Keys of calls are bytes and travel as hexadecimal digits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from pipeline.endpoints.outage import Admission
from pipeline.endpoints.run_link import PermitRequest
from pipeline.executors.prompt_texts import Layout, ReceivedTexts, SentTexts
from pipeline.playing.engine import Job
from pipeline.playing.runner import JobFailure
from pipeline.providers.outcome import CallOutcome
from pipeline.store.call_rows import CallReport, ChoiceRow, RequestRow
from pipeline.store.calls import KnownChoice
from pipeline.store.excess import NO_EXCESS, Excess
from scenarios.case import Case
from scenarios.dialogue import Turn

# From the driver to a worker


@dataclass(frozen=True, slots=True)
class Setup:
    """The first message: what players are built of."""

    material: Mapping[str, Any]
    kind: Literal["setup"] = "setup"


@dataclass(frozen=True, slots=True)
class Play:
    """A job to do."""

    number: int
    case: Case
    arm: str
    epoch: int
    known: tuple[tuple[str, ChoiceRow], ...]
    """Key in hexadecimal digits, and a sample that was drawn before."""
    trace: Mapping[str, str]
    """Names the span that those of the job belong under; empty where nobody looks."""
    kind: Literal["play"] = "play"

    @classmethod
    def of(cls, number: int, job: Job, trace: Mapping[str, str]) -> Play:
        """Return the message of a job, under the span of ``trace``."""
        known = tuple((one.key.hex(), one.choice) for one in job.known)
        return cls(number, job.case, job.arm, job.epoch, known, trace)

    @property
    def job(self) -> Job:
        """The job.

        Raises:
            ValueError: a key is no hexadecimal digits.
        """
        known = tuple(KnownChoice(bytes.fromhex(key), choice) for key, choice in self.known)
        return Job(self.case, self.arm, self.epoch, known)


@dataclass(frozen=True, slots=True)
class Drop:
    """Break a job off: nobody waits for it any more."""

    number: int
    kind: Literal["drop"] = "drop"


@dataclass(frozen=True, slots=True)
class Granted:
    """A lease of one place, one send token and the worst case in dollars, for one request."""

    number: int
    """Of the :class:`AskPermit` that it answers."""
    reservation: int | None
    """The durable row that holds the money back; None without a budget."""
    admission: Admission | None
    paced: bool
    """Whether the requests to its endpoint keep to a rate."""
    waited_s: float
    """Seconds from the question to the grant, by the driver's clock."""
    excess: Excess = NO_EXCESS
    kind: Literal["granted"] = "granted"


@dataclass(frozen=True, slots=True)
class Denied:
    """There will be no permit."""

    number: int
    failure: JobFailure
    kind: Literal["denied"] = "denied"


@dataclass(frozen=True, slots=True)
class Durable:
    """A report is on disk: its replies may be used."""

    number: int
    kind: Literal["durable"] = "durable"


@dataclass(frozen=True, slots=True)
class NotDurable:
    """A report could not be written."""

    number: int
    failure: JobFailure
    kind: Literal["not_durable"] = "not_durable"


@dataclass(frozen=True, slots=True)
class StopNow:
    """Send nothing new; what is in flight may finish."""

    reason: str
    code: str
    advice: str
    kind: Literal["stop"] = "stop"


@dataclass(frozen=True, slots=True)
class Ping:
    """Asks a worker whether its event loop still turns."""

    kind: Literal["ping"] = "ping"


@dataclass(frozen=True, slots=True)
class Bye:
    """Break off what is left, say what became of it, and end."""

    kind: Literal["bye"] = "bye"


# From a worker to the driver


@dataclass(frozen=True, slots=True)
class Ready:
    """The players are built."""

    name: str
    """What people call the worker."""
    kind: Literal["ready"] = "ready"


@dataclass(frozen=True, slots=True)
class Refused:
    """The players cannot be built: a mistake of the user's, which would show in every worker."""

    message: str
    hint: str
    kind: Literal["refused"] = "refused"


@dataclass(frozen=True, slots=True)
class Pong:
    """Answers a :class:`Ping`."""

    kind: Literal["pong"] = "pong"


@dataclass(frozen=True, slots=True)
class AskPermit:
    """Asks for the permission to send one request."""

    number: int
    request: PermitRequest
    kind: Literal["ask"] = "ask"


@dataclass(frozen=True, slots=True)
class GiveBack:
    """The permit is not used, whether it was granted already or not."""

    number: int
    kind: Literal["give_back"] = "give_back"


@dataclass(frozen=True, slots=True)
class Settled:
    """What the request of a permit came to."""

    number: int
    """Of the :class:`AskPermit` that the permit answered."""
    row: RequestRow
    outcome: CallOutcome
    retry_after_s: float | None
    hint: str = ""
    excess: Excess = NO_EXCESS
    kind: Literal["settled"] = "settled"


@dataclass(frozen=True, slots=True)
class Report:
    """Requests and what they brought, to be made durable."""

    number: int
    key: str
    """Hexadecimal digits."""
    texts: tuple[str, ...]
    """Sections of the prompt that did not cross the stream before."""
    layout: Layout
    settled: tuple[int, ...]
    """The numbers of the permits of the requests: their rows came with :class:`Settled` and are not
    sent again. A row is in one report."""
    choices: tuple[ChoiceRow, ...]
    kind: Literal["report"] = "report"

    @classmethod
    def of(
        cls, number: int, report: CallReport, settled: tuple[int, ...], sent: SentTexts
    ) -> Report:
        """Return the message of a report, whose requests were settled under these numbers."""
        texts, layout = sent.numbered(report.prompt)
        return cls(number, report.key.hex(), texts, layout, settled, tuple(report.choices))

    def report(self, requests: tuple[RequestRow, ...], received: ReceivedTexts) -> CallReport:
        """Return the report with the rows of its requests.

        Raises:
            ValueError: the key is no hexadecimal digits, or a section was not sent.
        """
        prompt = received.parts(self.texts, self.layout)
        return CallReport(bytes.fromhex(self.key), prompt, requests, self.choices)


@dataclass(frozen=True, slots=True)
class Hits:
    """Samples that did not have to be drawn again."""

    count: int
    kind: Literal["hits"] = "hits"


@dataclass(frozen=True, slots=True)
class Ended:
    """How a job ended: the turns of its dialogue, or why there is none."""

    number: int
    turns: tuple[Turn, ...]
    failure: JobFailure | None
    kind: Literal["ended"] = "ended"


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that people want to know."""

    text: str
    kind: Literal["notice"] = "notice"


FromDriver = Setup | Play | Drop | Granted | Denied | Durable | NotDurable | StopNow | Ping | Bye
FromWorker = (
    Ready | Refused | Pong | AskPermit | GiveBack | Settled | Report | Hits | Ended | Notice
)


@cache  # built when the first frame comes: it takes a while, and most runs have no workers
def _of_driver() -> TypeAdapter[list[FromDriver]]:
    return TypeAdapter(list[Annotated[FromDriver, Field(discriminator="kind")]])


@cache
def _of_worker() -> TypeAdapter[list[FromWorker]]:
    return TypeAdapter(list[Annotated[FromWorker, Field(discriminator="kind")]])


def from_driver(frame: bytes) -> Sequence[FromDriver]:
    """Read what a driver sent.

    Raises:
        ValueError: it is nothing that a driver says.
    """
    return _of_driver().validate_json(frame, strict=True)


def from_worker(frame: bytes) -> Sequence[FromWorker]:
    """Read what a worker sent.

    Raises:
        ValueError: it is nothing that a worker says.
    """
    return _of_worker().validate_json(frame, strict=True)
