"""Anthropic's message batches: requests in one call, results as a stream of lines within a day."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import aclosing

import orjson

from pipeline.providers.anthropic import AnthropicProvider
from pipeline.providers.batch_api import BatchLine, BatchStatus, BatchUnknown, StillUnknown
from pipeline.providers.batch_calls import BatchCalls, id_of
from pipeline.providers.batch_results import custom_id_of, place_of
from pipeline.providers.batch_results import lines as lines_of
from pipeline.providers.errors import NotProcessed, ServerFault
from pipeline.providers.protocol import Reply, Request
from pipeline.providers.untrusted import count, identifier
from pipeline.providers.wire_anthropic import call_of, read_reply

_STATUS_OF = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "overloaded_error": 529,
}
_ARCHIVED = "archived, which is done 29 days after a batch is made"
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
        self._calls = BatchCalls(provider.mapped, timeout_s)

    def line(self, custom_id: str, request: Request) -> BatchLine:
        """Put a request into the form it has in a batch."""
        call = self._provider.call_of(request)
        content = {"custom_id": custom_id, "params": {**call.arguments, **call.extra_body}}
        return BatchLine(custom_id, orjson.dumps(content))

    async def upload(self, token: str, lines: Sequence[BatchLine]) -> str:
        """Do nothing: the requests travel with the call that makes the batch."""
        return ""

    async def create(self, token: str, upload: str, lines: Sequence[BatchLine]) -> str:
        """Send the requests as one batch."""
        answer = await self._calls.answer(
            self._batches.with_raw_response.create,
            bytes_sent=sum(len(line.content) for line in lines),
            requests=[orjson.loads(line.content) for line in lines],
        )
        return id_of(answer, "the batch")

    async def find(
        self, token: str, requests: int, since: float, known: Collection[str]
    ) -> str | None:
        """Look through the batches of that time and size for one whose results are of these requests.

        Raises:
            StillUnknown: one of them has not ended, or its results are not kept any more.
        """
        running = unreadable = 0
        listing = self._batches.with_raw_response.list
        async for batch in self._calls.listed(listing, "after_id", since):
            if self._calls.made_before(batch, since):
                continue
            remote = id_of(batch, "the batch")
            if remote in known or _size_of(batch) != requests:
                continue
            if batch.get("processing_status") != "ended":
                running += 1
                continue
            ours = None if _is_archived(batch) else await self._is_of(remote, token)
            if ours:
                return remote
            unreadable += ours is None
        if running:
            raise StillUnknown(f"{running} of that size have not ended")
        if unreadable:
            why = (
                f"{unreadable} of that size have no results that could be read, or are {_ARCHIVED}"
            )
            raise StillUnknown(why, lasting=True)
        return None

    async def _is_of(self, remote: str, token: str) -> bool | None:
        """Return whether the results of a batch are those of ours; None where there are none yet."""
        try:
            async with aclosing(self.results(remote, BatchStatus())) as pieces:
                async for line in lines_of(pieces):
                    custom = custom_id_of(line)
                    if custom is not None:
                        return place_of(custom, token) is not None
        except BatchUnknown:  # somebody else's, and deleted
            return False
        return None

    async def status(self, remote: str) -> BatchStatus:
        """Ask how far a batch is."""
        answer = await self._calls.answer_about(self._batches.with_raw_response.retrieve, remote)
        size, counts = _size_of(answer), answer.get("request_counts")
        processing = count(counts.get("processing")) if isinstance(counts, dict) else None
        done = size - (processing or 0) if size else None
        if answer.get("processing_status") != "ended":
            return BatchStatus(done=done)
        if _is_archived(answer):
            raise BatchUnknown(f"its results are {_ARCHIVED}")
        cancelled = answer.get("cancel_initiated_at") is not None
        return BatchStatus(
            outcome="canceled" if cancelled else "ended", done=done, cancelled=cancelled
        )

    def results(self, remote: str, status: BatchStatus) -> AsyncGenerator[bytes]:
        """Stream the results."""
        return self._calls.streamed(self._batches.with_streaming_response.results, remote)

    def read(self, line: dict[str, object], request: Request) -> Reply:
        """Read one line of the results.

        Raises:
            ProviderError: the request was refused, or not processed.
        """
        result = line.get("result")
        result = result if isinstance(result, dict) else {}
        kind, sent = identifier(result.get("type")), call_of(request).fields
        if kind == "succeeded":
            return self._provider.read(
                read_reply, orjson.dumps(result.get("message")), {}, sent, request.messages
            )
        if kind in {"expired", "canceled"}:
            raise NotProcessed(f"the batch ended before the turn of this request ({kind})")
        if kind == "errored":
            envelope = result.get("error")
            inner = envelope.get("error") if isinstance(envelope, dict) else None
            name = inner.get("type") if isinstance(inner, dict) else None
            status = _STATUS_OF.get(name, 500) if isinstance(name, str) else 500
            raise self._provider.refused(status, {}, orjson.dumps(envelope), sent, request.messages)
        raise ServerFault("a line of the batch has neither answer nor error")


def _is_archived(batch: Mapping[str, object]) -> bool:
    """Return whether the results of a batch that ended are not kept any more."""
    return batch.get("archived_at") is not None and batch.get("results_url") is None


def _size_of(batch: Mapping[str, object]) -> int:
    """Return of how many requests a batch consists; the sum of its counts."""
    counts = batch.get("request_counts")
    if not isinstance(counts, dict):
        return 0
    return sum(count(counts.get(name)) or 0 for name in _COUNTED)
