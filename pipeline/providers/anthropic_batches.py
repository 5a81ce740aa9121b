"""Anthropic's message batches: requests in one call, results as a stream of lines within a day."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

import orjson

from pipeline.providers.anthropic import AnthropicProvider
from pipeline.providers.batch_api import BatchLine, BatchStatus, BatchUnknown, StillUnknown
from pipeline.providers.batch_results import custom_id_of, loaded, place_of
from pipeline.providers.batch_results import lines as lines_of
from pipeline.providers.capped_client import sdk_timeout
from pipeline.providers.errors import NotProcessed, ProviderError, ServerFault
from pipeline.providers.failures import broken_body
from pipeline.providers.protocol import Reply, Request
from pipeline.providers.untrusted import count, identifier
from pipeline.providers.wire_anthropic import call_of, read_reply

PAGES = 50
"""Pages of a hundred batches that are looked through for one."""
SKEW_S = 3600.0
"""How far the clocks of provider and this machine may be apart."""
BYTES_PER_S = 500_000
"""A batch may take this long to be sent."""
_STATUS_OF = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}
_COUNTED = ("processing", "succeeded", "errored", "canceled", "expired")


class AnthropicBatches:
    """The batch API through the SDK's own methods, below its response models.

    A batch carries nothing by which it could be found again but the ids of its requests, and those
    are to be seen in its results alone.
    """

    most_requests = 100_000
    most_bytes = 256_000_000

    def __init__(self, provider: AnthropicProvider, timeout_s: float) -> None:
        """Use the client of a provider; a request may take ``timeout_s`` seconds."""
        self._provider = provider
        self._batches = provider.client.messages.batches
        self._timeout_s = timeout_s

    def line(self, custom_id: str, request: Request) -> BatchLine:
        """Put a request into the form it has in a batch."""
        call = call_of(request)
        content = {"custom_id": custom_id, "params": {**call.arguments, **call.extra_body}}
        return BatchLine(custom_id, orjson.dumps(content))

    async def upload(self, token: str, lines: Sequence[BatchLine]) -> str:
        """Do nothing: the requests travel with the call that makes the batch."""
        return ""

    async def create(self, token: str, upload: str, lines: Sequence[BatchLine]) -> str:
        """Send the requests as one batch."""
        answer = await self._called(
            self._batches.with_raw_response.create,
            timeout_s=self._timeout_s + sum(len(line.content) for line in lines) / BYTES_PER_S,
            requests=[orjson.loads(line.content) for line in lines],
        )
        return _id_of(answer)

    async def find(
        self, token: str, requests: int, since: float, known: Collection[str]
    ) -> str | None:
        """Look through the batches of that time and size for one whose results are of these requests.

        Raises:
            StillUnknown: one of them has not ended.
        """
        unknown = False
        async for batch in self._listed(since):
            remote = _id_of(batch)
            if remote in known or _size_of(batch) != requests:
                continue
            if batch.get("processing_status") != "ended":
                unknown = True
            elif await self._is_of(remote, token):
                return remote
        if unknown:
            raise StillUnknown
        return None

    async def _listed(self, since: float) -> AsyncIterator[dict[str, Any]]:
        """Yield the batches made since then, the newest first."""
        after: dict[str, Any] = {}
        for _ in range(PAGES):
            answer = await self._called(self._batches.with_raw_response.list, limit=100, **after)
            page = answer.get("data")
            batches = [b for b in page if isinstance(b, dict)] if isinstance(page, list) else []
            for batch in batches:
                if _moment(batch.get("created_at")) >= since - SKEW_S:
                    yield batch
            if not batches or not answer.get("has_more"):
                return
            if _moment(batches[-1].get("created_at")) < since - SKEW_S:
                return
            after = {"after_id": _id_of(batches[-1])}

    async def _is_of(self, remote: str, token: str) -> bool:
        """Return whether any result of a batch is that of a request of ours."""
        try:
            async for line in lines_of(self.results(remote, BatchStatus())):
                if place_of(custom_id_of(line), token) is not None:
                    return True
        except BatchUnknown:  # somebody else's, and deleted
            return False
        return False

    async def status(self, remote: str) -> BatchStatus:
        """Ask how far a batch is."""
        try:
            answer = await self._called(self._batches.with_raw_response.retrieve, remote)
        except ProviderError as error:
            raise _or_unknown(error) from error
        counts = answer.get("request_counts")
        processing = count(counts.get("processing")) if isinstance(counts, dict) else None
        done = _size_of(answer) - (processing or 0)
        if answer.get("processing_status") != "ended":
            return BatchStatus(done=max(0, done))
        cancelled = answer.get("cancel_initiated_at") is not None
        return BatchStatus(
            outcome="canceled" if cancelled else "ended", done=done, cancelled=cancelled
        )

    async def results(self, remote: str, status: BatchStatus) -> AsyncIterator[bytes]:
        """Stream the results."""
        try:
            async with self._batches.with_streaming_response.results(
                remote, timeout=sdk_timeout(self._timeout_s)
            ) as response:
                async for piece in response.iter_bytes():
                    yield piece
        except ProviderError:
            raise
        except Exception as failure:  # the SDK reads what is not to be trusted before we do
            raise _or_unknown(self._mapped(failure, self._timeout_s)) from failure

    def read(self, line: dict[str, object], request: Request) -> Reply:
        """Read one line of the results.

        Raises:
            ProviderError: the request was refused, or not processed.
        """
        result = line.get("result")
        result = result if isinstance(result, dict) else {}
        kind, sent = result.get("type"), call_of(request).fields
        if kind == "succeeded":
            return self._provider.read(read_reply, orjson.dumps(result.get("message")), {}, sent)
        if kind in {"expired", "canceled"}:
            raise NotProcessed(f"the batch ended before the turn of this request ({kind})")
        if kind == "errored":
            envelope = result.get("error")
            inner = envelope.get("error") if isinstance(envelope, dict) else None
            name = inner.get("type") if isinstance(inner, dict) else None
            status = _STATUS_OF.get(name, 500) if isinstance(name, str) else 500
            raise self._provider.refused(status, {}, orjson.dumps(envelope), sent)
        raise ServerFault("a line of the batch has neither answer nor error")

    async def _called(
        self, method: Any, *arguments: str, timeout_s: float | None = None, **named: Any
    ) -> dict[str, Any]:
        """Call a method of the SDK and return the JSON object that it was answered with."""
        allowed = self._timeout_s if timeout_s is None else timeout_s
        try:
            async with asyncio.timeout(allowed):
                response = await method(*arguments, timeout=sdk_timeout(allowed), **named)
                answer = loaded(await response.read())
        except ProviderError:
            raise
        except Exception as failure:  # the SDK reads what is not to be trusted before we do
            raise self._mapped(failure, allowed) from failure
        if not answer:
            raise broken_body("it is no JSON object")
        return answer

    def _mapped(self, failure: Exception, timeout_s: float) -> ProviderError:
        return self._provider.mapped(failure, frozenset(), timeout_s)


def _or_unknown(error: ProviderError) -> Exception:
    """Return what a refusal means where a batch that was there is asked for."""
    return BatchUnknown(error.message) if error.status == 404 else error


def _size_of(batch: Mapping[str, object]) -> int:
    """Return of how many requests a batch consists; the sum of its counts."""
    counts = batch.get("request_counts")
    if not isinstance(counts, dict):
        return 0
    return sum(count(counts.get(name)) or 0 for name in _COUNTED)


def _moment(value: object) -> float:
    """Return a time as Unix seconds; one that cannot be read is now or later."""
    try:
        return datetime.fromisoformat(str(value)).timestamp()
    except (ValueError, OverflowError):
        return float("inf")


def _id_of(batch: Mapping[str, object]) -> str:
    """Return the provider's name of a batch."""
    found = identifier(batch.get("id"))
    if found is None:
        raise broken_body("the batch has no id")
    return found
