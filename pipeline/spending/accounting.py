"""The record of one request: what was asked, what came of it, what it cost."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from operator import attrgetter

from pipeline.providers.errors import EmptyReply, ProviderError
from pipeline.providers.failures import was_surely_free
from pipeline.providers.prices import Price
from pipeline.providers.protocol import CACHE_FIELD, CACHED_MINUTES, Choice, Reply, Request, Usage
from pipeline.spending.budget import Reservation
from pipeline.store.call_rows import RequestOrigin, RequestRow
from pipeline.store.excess import Excess
from scenarios.quick_records import quickly_made


@quickly_made
@dataclass(frozen=True, slots=True)
class RequestAttempt:
    """One request that was sent, whatever came of it."""

    row: RequestRow
    choices: Mapping[int, Choice]
    """What came back, by sample index; may be fewer than asked for."""


Record = Callable[[RequestAttempt], None]
"""Takes note of an attempt at once; it must not fail."""

_ORIGIN: Callable[[RequestOrigin], tuple[int, str, str, str, int, str, str]] = attrgetter(
    *(f.name for f in fields(RequestOrigin))
)


@quickly_made
@dataclass(frozen=True, slots=True)
class Bound:
    """The most that one request can use."""

    prompt_tokens: int
    completion_tokens: int
    usd: float | None
    """None without a price."""

    @property
    def tokens(self) -> int:
        """Prompt and completion together."""
        return self.prompt_tokens + self.completion_tokens

    @property
    def likely_tokens(self) -> int:
        """A guess that is less far off: text has some four bytes a token."""
        return self.prompt_tokens // 4 + self.completion_tokens


def prompt_bound(request: Request) -> int:
    """Return the most tokens of a prompt: no tokenizer makes more of it than there are bytes."""
    return sum(len(m.content.encode()) + 16 for m in request.messages) + request.schema_bytes


def bound_of(request: Request, price: Price | None, excess: Excess) -> Bound:
    """Bound what a request can use at an endpoint that is known to count so much more."""
    prompt = prompt_bound(request) + excess.prompt_tokens
    each = math.ceil(request.parameters.max_tokens * excess.answers)
    kept_long = _kept_long(request.parameters.extra.get(CACHE_FIELD))
    usd = None if price is None else price.worst(prompt, each, request.n, kept_long=kept_long)
    return Bound(prompt, each * request.n, usd)


def _kept_long(mark: object) -> bool:
    """Return whether a mark for the cache may keep a prompt for longer than the usual minutes."""
    minutes = isinstance(mark, Mapping) and mark.get("ttl", CACHED_MINUTES) == CACHED_MINUTES
    return mark is not None and not minutes


class AttemptAccount:
    """Turns what came of one request into its record."""

    def __init__(
        self,
        request: Request,
        samples: tuple[int, ...],
        *,
        origin: RequestOrigin,
        price: Price | None,
        bound: Bound,
        reservation: Reservation,
    ) -> None:
        """Start the clock: the request is about to be sent for ``samples``."""
        self._request = request
        self._samples = samples
        self._origin = origin
        self._price = price
        self._bound = bound
        self._reservation = reservation
        self._sent_at = time.time()
        self._started = time.perf_counter()

    def answered(self, reply: Reply, *, ignored: bool = False) -> RequestAttempt:
        """Record an answer; choices beyond those asked for are ignored.

        Args:
            reply: what came.
            ignored: whether it shows that the schema sent along was not enforced.
        """
        choices = dict(zip(self._samples, reply.choices, strict=False))
        cost, charged, tokens = self._charge(reply.usage)
        row = self._row(
            code="ok" if choices else EmptyReply.code,
            usage=reply.usage,
            n_got=len(choices),
            request_id=reply.request_id,
            cost_usd=cost,
            charged_usd=charged,
            charged_tokens=tokens,
            structured="ignored" if ignored else self._request.structured,
            reply_model=reply.model,
            system_fingerprint=reply.system_fingerprint,
            unread=reply.body or None,
        )
        return RequestAttempt(row, choices)

    def failed(self, error: BaseException, *, sent: bool = True) -> RequestAttempt:
        """Record a failure; unless it surely cost nothing it is charged what it used, or its worst."""
        told = error if isinstance(error, ProviderError) else None
        usage = None if told is None else told.usage
        cost, charged, tokens = self._charge(usage)
        if not sent or (told is not None and was_surely_free(told)):
            cost, charged, tokens = 0.0, None if self._price is None else 0.0, 0
        if told is None:
            row = self._row(code="cancelled", charged_usd=charged, charged_tokens=tokens)
        else:
            row = self._row(
                code=told.code,
                status=told.status,
                message=told.message,
                request_id=told.request_id,
                usage=usage,
                cost_usd=cost,
                charged_usd=charged,
                charged_tokens=tokens,
                unread=told.body or None,
            )
        return RequestAttempt(row, {})

    def _charge(self, usage: Usage | None) -> tuple[float | None, float | None, int]:
        """Return what a usage costs, and the dollars and tokens that are charged for it.

        Without one the cost is unknown, and the worst is charged.
        """
        if usage is None:
            return None, self._bound.usd, self._bound.tokens
        price = self._price
        cost = None if price is None else price.of_request(usage.prompt).cost(usage)
        return cost, cost, usage.prompt + usage.completion

    def _row(
        self,
        *,
        code: str,
        charged_usd: float | None,
        charged_tokens: int,
        status: int | None = None,
        message: str = "",
        request_id: str | None = None,
        usage: Usage | None = None,
        n_got: int = 0,
        cost_usd: float | None = None,
        structured: str = "",
        reply_model: str | None = None,
        system_fingerprint: str | None = None,
        unread: str | None = None,
    ) -> RequestRow:
        """Complete a record with what was asked, when and for what."""
        request = self._request
        return RequestRow(
            *_ORIGIN(self._origin),
            sent_at=self._sent_at,
            latency_s=time.perf_counter() - self._started,
            code=code,
            status=status,
            message=message,
            request_id=request_id,
            structured=structured or request.structured,
            omitted=" ".join(sorted(request.omit)),
            n_asked=len(self._samples),
            n_got=n_got,
            prompt_tokens=None if usage is None else usage.prompt,
            completion_tokens=None if usage is None else usage.completion,
            cached_tokens=None if usage is None else usage.cached,
            reasoning_tokens=None if usage is None else usage.reasoning,
            cost_usd=0.0 if charged_usd == 0 else cost_usd,  # the worst case of what is free
            charged_usd=charged_usd,
            charged_tokens=charged_tokens,
            reply_model=reply_model,
            system_fingerprint=system_fingerprint,
            unread=unread,
            reservation=self._reservation.id,
        )
