"""The record of one request: what was asked, what came of it, what it cost."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import orjson

from pipeline.budget import Reservation
from pipeline.providers.errors import EmptyReply, ProviderError
from pipeline.providers.failures import was_surely_free
from pipeline.providers.prices import Price
from pipeline.providers.protocol import Choice, Reply, Request, Structured, Usage


@dataclass(frozen=True, slots=True)
class RequestAttempt:
    """One request that was sent, whatever came of it."""

    code: str
    """``ok``, the code of a :class:`ProviderError`, or ``cancelled``."""
    status: int | None
    """HTTP status of a failure where there was one; None for success."""
    message: str
    """What the endpoint said of a failure; empty for success."""
    usage: Usage | None
    """None where the endpoint did not say."""
    cost_usd: float | None
    """What it cost; None where usage or price is unknown, 0.0 where surely nothing was billed."""
    charged_usd: float | None
    """What was charged to the budget: the cost, or the worst case where it is unknown; None
    without a price."""
    charged_tokens: int
    """Tokens charged to the budget: those used, or the most possible where that is unknown."""
    latency_s: float
    request_id: str | None
    omitted: tuple[str, ...]
    """Body fields left out because the endpoint had rejected them, sorted."""
    structured: Structured
    """Whether the schema was sent along (``native``) or only described in the prompt."""
    samples: tuple[int, ...]
    """Sample indices asked for, consecutive."""
    choices: Mapping[int, Choice]
    """What came back, by sample index; may be fewer than asked for."""
    sent_at: float
    """Unix time in seconds."""
    reservation_id: int | None = None
    """The durable budget reservation that this attempt's record replaces, if any."""

    @property
    def n_asked(self) -> int:
        """Number of samples asked for."""
        return len(self.samples)

    @property
    def n_got(self) -> int:
        """Number of samples that came back."""
        return len(self.choices)


Record = Callable[[RequestAttempt], None]
"""Takes note of an attempt at once; it must not fail."""


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


def bound_of(request: Request, price: Price | None) -> Bound:
    """Bound what a request can use: no tokenizer makes more tokens than there are bytes."""
    prompt = sum(len(message.content.encode()) + 16 for message in request.messages)
    prompt += len(orjson.dumps(dict(request.schema)))
    each = request.parameters.max_tokens
    usd = None if price is None else price.worst(prompt, each, request.n)
    return Bound(prompt, each * request.n, usd)


class AttemptAccount:
    """Turns what came of one request into its record, and settles its budget reservation."""

    def __init__(
        self,
        request: Request,
        samples: tuple[int, ...],
        *,
        price: Price | None,
        bound: Bound,
        reservation: Reservation | None,
    ) -> None:
        """Start the clock: the request is about to be sent for ``samples``."""
        self._request = request
        self._samples = samples
        self._price = price
        self._bound = bound
        self._reservation = reservation
        self._sent_at = time.time()
        self._started = time.perf_counter()

    def answered(self, reply: Reply) -> RequestAttempt:
        """Record an answer; choices beyond those asked for are ignored."""
        choices = dict(zip(self._samples, reply.choices, strict=False))
        cost = None
        if reply.usage is None:
            charged, tokens = self._bound.usd, self._bound.tokens
        else:
            tokens = reply.usage.prompt + reply.usage.completion
            cost = None if self._price is None else self._price.cost(reply.usage)
            charged = cost
        self._settle(charged, tokens)
        return self._record(
            code="ok" if choices else EmptyReply.code,
            usage=reply.usage,
            cost_usd=cost,
            charged_usd=charged,
            charged_tokens=tokens,
            request_id=reply.request_id,
            choices=choices,
        )

    def failed(self, error: BaseException) -> RequestAttempt:
        """Record a failure; unless it surely cost nothing it is charged at its worst."""
        free = isinstance(error, ProviderError) and was_surely_free(error)
        charged, tokens = (0.0, 0) if free else (self._bound.usd, self._bound.tokens)
        self._settle(charged, tokens)
        charged_usd = None if self._price is None else charged
        if not isinstance(error, ProviderError):
            return self._record(
                code="cancelled", cost_usd=None, charged_usd=charged_usd, charged_tokens=tokens
            )
        return self._record(
            code=error.code,
            status=error.status,
            message=error.message,
            request_id=error.request_id,
            cost_usd=0.0 if free else None,
            charged_usd=charged_usd,
            charged_tokens=tokens,
        )

    def _settle(self, usd: float | None, tokens: int) -> None:
        """Replace the reservation by what was used."""
        if self._reservation is not None:
            self._reservation.settle(usd, tokens)

    def _record(
        self,
        *,
        code: str,
        status: int | None = None,
        message: str = "",
        usage: Usage | None = None,
        cost_usd: float | None,
        charged_usd: float | None,
        charged_tokens: int,
        request_id: str | None = None,
        choices: Mapping[int, Choice] | None = None,
    ) -> RequestAttempt:
        """Complete a record with what was asked and when."""
        return RequestAttempt(
            code=code,
            status=status,
            message=message,
            usage=usage,
            cost_usd=cost_usd,
            charged_usd=charged_usd,
            charged_tokens=charged_tokens,
            latency_s=time.perf_counter() - self._started,
            request_id=request_id,
            omitted=tuple(sorted(self._request.omit)),
            structured=self._request.structured,
            samples=self._samples,
            choices=choices or {},
            sent_at=self._sent_at,
            reservation_id=None if self._reservation is None else self._reservation.id,
        )
