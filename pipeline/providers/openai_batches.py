"""OpenAI's batch API: a file of requests is uploaded, a file of results comes back within a day."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Sequence

import orjson

from pipeline.providers.batch_api import BatchLine, BatchStatus
from pipeline.providers.batch_calls import BatchCalls, id_of
from pipeline.providers.errors import NotProcessed, ServerFault
from pipeline.providers.failures import broken_body
from pipeline.providers.openai import OpenAIProvider
from pipeline.providers.protocol import Reply, Request
from pipeline.providers.untrusted import count, identifier
from pipeline.providers.wire_openai import body_of, read_reply

ENDPOINT = "/v1/chat/completions"
METADATA = "hipo_batch"
"""The key under which a batch carries its token, by which it is found again."""
LINE_LIMIT = "token_limit_exceeded"
"""Code of a batch that is too much for what waits already."""


class OpenAIBatches:
    """The batch API through the SDK's own methods, below its response models."""

    most_requests = 50_000
    most_bytes = 200_000_000

    def __init__(self, provider: OpenAIProvider, timeout_s: float) -> None:
        """Use the client of a provider; a request may take ``timeout_s`` seconds."""
        self._provider = provider
        self._client = provider.client
        self._calls = BatchCalls(provider.mapped, timeout_s)

    def line(self, custom_id: str, request: Request) -> BatchLine:
        """Put a request into the form it has in a batch."""
        content = {
            "custom_id": custom_id,
            "method": "POST",
            "url": ENDPOINT,
            "body": body_of(request, "max_completion_tokens"),
        }
        return BatchLine(custom_id, orjson.dumps(content))

    async def upload(self, token: str, lines: Sequence[BatchLine]) -> str:
        """Upload the file of requests; return its id."""
        content = b"\n".join(line.content for line in lines) + b"\n"
        answer = await self._calls.answer(
            self._client.files.with_raw_response.create,
            bytes_sent=len(content),
            file=(f"hipo-{token}.jsonl", content),
            purpose="batch",
        )
        return id_of(answer, "the file")

    async def create(self, token: str, upload: str, lines: Sequence[BatchLine]) -> str:
        """Have the uploaded file processed."""
        answer = await self._calls.answer(
            self._client.batches.with_raw_response.create,
            completion_window="24h",
            endpoint=ENDPOINT,
            input_file_id=upload,
            metadata={METADATA: token},
        )
        return id_of(answer, "the batch")

    async def find(
        self, token: str, requests: int, since: float, known: Collection[str]
    ) -> str | None:
        """Look for a batch by its metadata, the newest first."""
        listing = self._client.batches.with_raw_response.list
        async for batch in self._calls.listed(listing, "after", since):
            metadata = batch.get("metadata")
            if isinstance(metadata, dict) and metadata.get(METADATA) == token:
                return id_of(batch, "the batch")
        return None

    async def status(self, remote: str) -> BatchStatus:
        """Ask how far a batch is."""
        answer = await self._calls.answer_about(
            self._client.batches.with_raw_response.retrieve, remote
        )
        state, counts = answer.get("status"), answer.get("request_counts")
        if not isinstance(state, str):
            raise broken_body("the batch has no status")
        done = None
        if isinstance(counts, dict) and count(counts.get("total")):
            done = (count(counts.get("completed")) or 0) + (count(counts.get("failed")) or 0)
        if state == "failed":
            return self._failed(answer.get("errors"))
        if state not in {"completed", "expired", "cancelled"}:
            return BatchStatus(done=done)
        named = (identifier(answer.get(key)) for key in ("output_file_id", "error_file_id"))
        return BatchStatus(
            outcome=state,
            done=done,
            cancelled=state == "cancelled",
            files=tuple(name for name in named if name is not None),
        )

    def _failed(self, errors: object) -> BatchStatus:
        """Return why a file of requests was not taken, and which of its lines are to blame."""
        data = errors.get("data") if isinstance(errors, dict) else None
        found = [e for e in data if isinstance(e, dict)] if isinstance(data, list) else []
        first = found[0] if found else {"message": "the batch failed, and it is not said why"}
        status = 429 if first.get("code") == LINE_LIMIT else 400
        error = self._provider.refused(status, {}, orjson.dumps({"error": first}), ())
        lines = (count(e.get("line")) for e in found)
        places = frozenset(line - 1 for line in lines if line)
        return BatchStatus("failed", refusal=error, refused=places)

    async def results(self, remote: str, status: BatchStatus) -> AsyncIterator[bytes]:
        """Download the file of answers, then that of errors."""
        for name in status.files:
            pieces = self._calls.streamed(self._client.files.with_streaming_response.content, name)
            async for piece in pieces:
                yield piece
            yield b"\n"

    def read(self, line: dict[str, object], request: Request) -> Reply:
        """Read one line of the results.

        Raises:
            ProviderError: the request was refused, or not processed.
        """
        response, error = line.get("response"), line.get("error")
        sent = body_of(request, "max_completion_tokens").keys()
        if not isinstance(response, dict):
            code = identifier(error.get("code")) if isinstance(error, dict) else None
            said = error.get("message") if isinstance(error, dict) else None
            if code in {"batch_expired", "batch_cancelled"}:
                raise NotProcessed(f"the batch ended before the turn of this request ({code})")
            raise ServerFault(
                identifier(said) or "a line of the batch has neither answer nor error"
            )
        headers = {"x-request-id": identifier(response.get("request_id")) or ""}
        status, body = count(response.get("status_code")), orjson.dumps(response.get("body"))
        if status is None or 200 <= status < 300:
            return self._provider.read(read_reply, body, headers, sent, request.messages)
        raise self._provider.refused(status, headers, body, sent, request.messages)
