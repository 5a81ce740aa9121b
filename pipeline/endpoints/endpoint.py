"""One model behind one address: asks for samples until it has them, within limits and budget."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pipeline.endpoints.capabilities import EndpointCapabilities, SamplesProbe, StructureProbe
from pipeline.endpoints.run_link import Permit, PermitRequest, RunLink, Settlement
from pipeline.endpoints.schema_evidence import keeps_to_schema
from pipeline.endpoints.tries import (
    Tries,
    refuse_small_context,
    refuse_unknown_model,
    refuse_wrong_address,
)
from pipeline.providers.errors import EmptyReply, ProviderError
from pipeline.providers.outcome import outcome_of
from pipeline.providers.prices import Price
from pipeline.providers.protocol import (
    Choice,
    Provider,
    Reply,
    Request,
)
from pipeline.providers.rate_limiter import ModelAddress, Sleep, pause
from pipeline.providers.retry import Backoff, RetryPolicy
from pipeline.spending.accounting import AttemptAccount, Bound, Record, bound_of
from pipeline.spending.budget import BudgetReached, Reservation
from pipeline.stopping.open_requests import OpenRequests
from pipeline.stopping.stop import Stop, Stopped
from pipeline.store.call_rows import RequestOrigin
from prompts.question import Message
from scenarios.arms import Parameters, StructuredWish
from scenarios.fingerprint import SEEDS
from scenarios.log import logger
from scenarios.quick_records import quickly_made

_log = logger("endpoint")


@quickly_made
@dataclass(frozen=True, slots=True)
class SampleRequest:
    """A prompt with its answer format, to be sent to any model for any number of samples."""

    messages: tuple[Message, ...]
    schema: Mapping[str, object]
    schema_name: str
    seed: int
    """Seed of sample 0 (of the retry epoch asked for); sample ``i`` is drawn with ``seed + i``."""
    origin: RequestOrigin
    """What it is for, as it is recorded."""
    bounds: Mapping[str, int] = field(default_factory=dict)
    """Characters each text of the answer may have, by key, for endpoints that take such bounds."""


class Sender(Protocol):
    """Brings one request to a model and its reply back; replace it to send in another way.

    A sender may, for instance, gather the requests of many dialogues into one batch.
    """

    @property
    def takes_permit(self) -> bool:
        """Whether every request waits for one of the model's concurrent places and its rates.

        A sender that gathers requests keeps to limits of its own.
        """

    def held(self, request: Request) -> Reservation | None:
        """Return what is held back for a request that was sent before and not answered yet.

        It is in a batch that an earlier process sent; whoever calls this sends the request next.
        """

    async def send(self, request: Request, reservation: Reservation) -> Reply:
        """Send once, without retrying.

        Raises:
            ProviderError: the endpoint could not or would not answer.
            Unsettled: nothing came of it that could be recorded.
        """


class Unsettled(Stopped):
    """The run stops, and a request was either not sent yet or is left at the provider."""

    def __init__(self, stop: Stop, *, sent: bool) -> None:
        """Keep why the run stops, and whether the request was sent and counts at its worst."""
        super().__init__(stop.reason or "", stop.code)
        self.sent = sent


@dataclass(frozen=True, slots=True)
class DirectSender:
    """Sends each request at once to the provider."""

    provider: Provider
    timeout_s: float = 120.0
    """Time usually allowed for one request, in seconds."""
    takes_permit: bool = True
    open_requests: OpenRequests = field(default_factory=OpenRequests)
    """Where a request is registered while it is waited for."""

    def held(self, request: Request) -> Reservation | None:
        """Return None: what is sent is waited for."""
        return None

    async def send(self, request: Request, reservation: Reservation) -> Reply:
        """Send once; see :class:`Sender`."""
        timeout_s = self.timeout_s * request.patience
        number = self.open_requests.begin(timeout_s)
        try:
            return await self.provider.send(request, timeout_s)
        finally:
            self.open_requests.end(number)


@dataclass(slots=True)
class Endpoint:
    """A model, how it is asked, and everything that asking it reliably takes.

    Retries with backoff, concurrency and rates, the budget, fields the model rejects, endpoints
    without structured output, and replies with fewer samples than asked for are all dealt with
    here; callers see samples or one error. Endpoints that talk to the same model may share one
    :class:`EndpointCapabilities`.
    """

    provider: Provider
    model: str
    parameters: Parameters
    sender: Sender
    link: RunLink
    """Permission to send: limits, budget and stop of the run."""
    price: Price | None = None
    """None: costs are unknown, never 0."""
    structured: StructuredWish = "auto"
    revision: str | None = None
    """State of the files of a model in this process."""
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    capabilities: EndpointCapabilities = field(default_factory=EndpointCapabilities)
    sleep: Sleep = asyncio.sleep
    rng: random.Random = field(default_factory=random.Random)
    address: ModelAddress = field(init=False)
    """Endpoints with one address share its limits."""
    _endless: RetryPolicy = field(init=False)
    _answered: set[str] = field(default_factory=set)
    """The roles that it has answered."""

    def __post_init__(self) -> None:
        self._endless = self.retry.endless()
        self.address = ModelAddress(self.provider.name, self.provider.base_url, self.model)
        known = self.link.excess_of(self.address)
        self.capabilities.excess = self.capabilities.excess.joined(known)

    @property
    def name(self) -> str:
        """``provider/model``."""
        return f"{self.provider.name}/{self.model}"

    def identity(self) -> dict[str, object]:
        """Return what of this endpoint decides an answer, as plain data for a fingerprint."""
        state = {} if self.revision is None else {"revision": self.revision}
        return {
            **state,
            "provider": self.provider.name,
            "base_url": self.provider.base_url,
            "model": self.model,
            "parameters": {
                "temperature": self.parameters.temperature,
                "top_p": self.parameters.top_p,
                "max_tokens": self.parameters.max_tokens,
                "extra": dict(self.parameters.extra),
            },
            "structured": self.structured,
        }

    async def ask(
        self, wanted: SampleRequest, samples: Sequence[int], record: Record
    ) -> dict[int, Choice]:
        """Draw the given samples, each exactly once.

        Args:
            wanted: what to ask.
            samples: the indices wanted, e.g. ``(0,)``, or those of K candidates not yet cached.
            record: called at once with every attempt, failed ones too. Choices that had arrived
                when another request of the same question failed are in there: they were paid.

        Returns:
            One choice per index. Its text may be empty, truncated or a refusal: see ``finish``.

        Raises:
            ProviderError: retries are exhausted or useless.
            BudgetReached: the next request could exceed the budget.
            Stopped: the run has been asked to stop; nothing in flight was broken off.
        """
        choices: dict[int, Choice] = {}
        missing = sorted(set(samples))
        while missing:
            batches = self._batches(missing)
            if len(batches) == 1:  # nearly always: no task of its own
                choices.update(await self._obtain(wanted, batches[0], record))
            else:
                # all of them finish, even if one fails: what is in flight is paid for
                results = await asyncio.gather(
                    *(self._obtain(wanted, batch, record) for batch in batches),
                    return_exceptions=True,
                )
                for result in results:
                    if isinstance(result, BaseException):
                        raise result
                    choices.update(result)
            missing = [sample for sample in missing if sample not in choices]
        return choices

    def _batches(self, samples: Sequence[int]) -> list[tuple[int, ...]]:
        """Split sorted indices into runs that one request each can ask for."""
        singly = not self.provider.samples_per_request or self.capabilities.one_by_one
        batches: list[list[int]] = []
        for sample in samples:
            if batches and not singly and batches[-1][-1] == sample - 1:
                batches[-1].append(sample)
            else:
                batches.append([sample])
        return [tuple(batch) for batch in batches]

    async def _obtain(
        self, wanted: SampleRequest, batch: tuple[int, ...], record: Record
    ) -> dict[int, Choice]:
        """Send one request until it brings at least one sample of ``batch``."""
        tries = Tries(Backoff(self.retry, self.rng), Backoff(self._endless, self.rng))
        probe = StructureProbe(self.capabilities, self.structured)
        samples = SamplesProbe(self.capabilities)
        role, wanted_batch, changed = wanted.origin.role, batch, False
        while True:
            batch = samples.fewer(wanted_batch)
            request = self._request(wanted, batch, probe, tries.patience)
            bound, permit = await self._permit(request, role, changed=changed)
            if self._is_outdated(request, probe, len(samples.fewer(batch))):
                self.link.give_back(permit)
                continue
            account = AttemptAccount(
                request,
                batch,
                origin=wanted.origin,
                price=self.price,
                bound=bound,
                reservation=permit.reservation,
            )
            try:
                choices = await self._attempt(request, account, permit, record)
            except ProviderError as error:
                before = self._has_answered(role, permit)
                serves = self._serves(permit)
                refuse_wrong_address(error, self.address, answered=serves, role_answered=before)
                refuse_small_context(error, self.name, role, answered=before)
                may_instruct = self.structured == "auto"
                changed = (
                    self.capabilities.adapts_to(request, error, may_instruct=may_instruct)
                    or samples.switches_after(error, request)
                    or probe.switches_after(error, request)
                )
                if changed:
                    continue
                delay = tries.pause_after(error, permit)
                if delay is None:
                    refuse_unknown_model(error, self.address)
                    raise
                self._log_retry(error, delay)
                await pause(delay, self.link.stop.check, self.sleep)
            else:
                self._answered.add(role)
                probe.succeeded(request)
                samples.succeeded(request, len(choices))
                return choices

    def _has_answered(self, role: str, permit: Permit) -> bool:
        """Return whether any prompt of a role was answered before, as far as is known here."""
        before = permit.admission is not None and permit.admission.role_answered
        return before or role in self._answered

    def _serves(self, permit: Permit) -> bool:
        """Return whether anything was answered in this process or, of a worker, in its driver."""
        before = permit.admission is not None and permit.admission.answered
        return before or bool(self._answered)

    def _log_retry(self, error: ProviderError, delay: float) -> None:
        fields = {
            "model": self.name,
            "code": error.code,
            "status": error.status,
            "request_id": error.request_id,
            "retry_after_s": error.retry_after_s,
            "pause_s": round(delay, 3),
        }
        level = logging.INFO if delay else logging.DEBUG  # of an outage people are told once
        _log.log(
            level, "asking again in %.1f s: %s", delay, error.message, extra={"fields": fields}
        )

    def _request(
        self, wanted: SampleRequest, batch: tuple[int, ...], probe: StructureProbe, patience: int
    ) -> Request:
        """Put a question into a request for the samples of ``batch``."""
        return Request(
            model=self.model,
            messages=wanted.messages,
            parameters=self.parameters,
            schema=wanted.schema,
            schema_name=wanted.schema_name,
            seed=(wanted.seed + batch[0]) % SEEDS,
            n=len(batch),
            structured=probe.mode(),
            omit=self.capabilities.omit,
            bounds=wanted.bounds if probe.bounds_texts() else {},
            patience=patience,
        )

    def _is_outdated(self, request: Request, probe: StructureProbe, samples: int) -> bool:
        """Whether others have learnt, while a request waited, that it is taken in another form alone."""
        form = request.structured, request.omit, bool(request.bounds) and not probe.bounds_texts()
        takes = probe.mode(), self.capabilities.omit, False
        return self.sender.takes_permit and (form != takes or request.n != samples)

    async def _permit(self, request: Request, role: str, *, changed: bool) -> tuple[Bound, Permit]:
        """Wait until limits, budget and the endpoint itself allow a request.

        What others learnt of the endpoint meanwhile may make the request dearer: it waits again.
        """
        held = self.sender.held(request)
        while True:
            excess = self.capabilities.excess
            bound = bound_of(request, self.price, excess)
            wanted = PermitRequest(
                self.address, bound.likely_tokens, bound.usd, bound.tokens, role, request.patience,
                in_batch=not self.sender.takes_permit, changed=changed,
            )  # fmt: skip
            if held is not None:
                return bound, Permit(wanted, held)
            try:
                permit = await self.link.permit(wanted)
            except BudgetReached:
                if self.capabilities.excess == excess:
                    raise
                continue  # so that what is said of the next request holds when the run goes on
            self.capabilities.excess = self.capabilities.excess.joined(permit.excess)
            if self.capabilities.excess == excess:
                return bound, permit
            self.link.give_back(permit)

    async def _attempt(
        self, request: Request, account: AttemptAccount, permit: Permit, record: Record
    ) -> dict[int, Choice]:
        """Send once and account for it.

        The permit is given back before this returns: the caller's commit does not hold it.
        """
        try:
            reply = await self.sender.send(request, permit.reservation)
        except BaseException as error:
            attempt = account.failed(error, sent=not isinstance(error, Unsettled) or error.sent)
            told = error if isinstance(error, ProviderError) else None
            retry_after_s, hint = (None, "") if told is None else (told.retry_after_s, told.hint)
            self.capabilities.counted(request, None if told is None else told.usage)
            excess = self.capabilities.excess
            self.link.settle(
                Settlement(permit, attempt.row, outcome_of(error), retry_after_s, hint, excess)
            )
            if self.sender.takes_permit or told is not None:
                record(attempt)  # else the sender has a record of what it has sent
            raise
        attempt = account.answered(reply, ignored=self._ignores_schema(request, reply))
        excess = self.capabilities.excess
        self.link.settle(Settlement(permit, attempt.row, "answered", excess=excess))
        record(attempt)
        if not attempt.choices:
            raise EmptyReply(
                "the endpoint answered without any choice", request_id=reply.request_id
            )
        return dict(attempt.choices)

    def _ignores_schema(self, request: Request, reply: Reply) -> bool:
        """Learn from a reply who answered, how long, and whether a schema that was sent is enforced.

        Returns:
            True if a sample shows that it was not.
        """
        self.capabilities.answered_by(reply)
        self.capabilities.counted(request, reply.usage)
        if request.structured != "native":
            return False
        evidence = [keeps_to_schema(choice, request.schema) for choice in reply.choices]
        self.capabilities.weigh(evidence, may_instruct=self.structured == "auto")
        return False in evidence
