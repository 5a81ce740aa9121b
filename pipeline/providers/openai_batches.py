"""OpenAI's batch API: a file of requests is uploaded, a file of results comes back within a day."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from typing import Any

import orjson

from pipeline.providers.batch_api import BatchLine, BatchStatus, BatchUnknown
from pipeline.providers.batch_results import loaded
from pipeline.providers.capped_client import sdk_timeout
from pipeline.providers.errors import NotProcessed, ProviderError, ServerFault
from pipeline.providers.failures import broken_body
from pipeline.providers.openai import OpenAIProvider
from pipeline.providers.protocol import Reply, Request
from pipeline.providers.untrusted import count, identifier
from pipeline.providers.wire_openai import body_of, read_reply

ENDPOINT = "/v1/chat/completions"
METADATA = "hipo_batch"
"""The key under which a batch carries its token, by which it is found again."""
PAGES = 50
"""Pages of a hundred batches that are looked through for one."""
SKEW_S = 3600.0
"""How far the clocks of provider and this machine may be apart."""
BYTES_PER_S = 500_000
"""An upload may be this slow."""
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
        self._timeout_s = timeout_s

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
        answer = await self._called(
            self._client.files.with_raw_response.create,
            timeout_s=self._timeout_s + len(content) / BYTES_PER_S,
            file=(f"hipo-{token}.jsonl", content),
            purpose="batch",
        )
        return _id_of(answer, "the file")

    async def create(self, token: str, upload: str, lines: Sequence[BatchLine]) -> str:
        """Have the uploaded file processed."""
        answer = await self._called(
            self._client.batches.with_raw_response.create,
            completion_window="24h",
            endpoint=ENDPOINT,
            input_file_id=upload,
            metadata={METADATA: token},
        )
        return _id_of(answer, "the batch")

    async def find(
        self, token: str, requests: int, since: float, known: Collection[str]
    ) -> str | None:
        """Look for a batch by its metadata, the newest first."""
        after: dict[str, Any] = {}
        for _ in range(PAGES):
            answer = await self._called(
                self._client.batches.with_raw_response.list, limit=100, **after
            )
            page = answer.get("data")
            batches = [b for b in page if isinstance(b, dict)] if isinstance(page, list) else []
            for batch in batches:
                metadata = batch.get("metadata")
                if isinstance(metadata, dict) and metadata.get(METADATA) == token:
                    return _id_of(batch, "the batch")
            if not batches or not answer.get("has_more"):
                return None
            created = batches[-1].get("created_at")
            if isinstance(created, int | float) and created < since - SKEW_S:
                return None
            after = {"after": _id_of(batches[-1], "a batch")}
        return None

    async def status(self, remote: str) -> BatchStatus:
        """Ask how far a batch is."""
        try:
            answer = await self._called(self._client.batches.with_raw_response.retrieve, remote)
        except ProviderError as error:
            raise _or_unknown(error) from error
        state, counts = answer.get("status"), answer.get("request_counts")
        done = 0
        if isinstance(counts, dict):
            done = (count(counts.get("completed")) or 0) + (count(counts.get("failed")) or 0)
        if state == "failed":
            return self._failed(answer.get("errors"))
        if state not in {"completed", "expired", "cancelled"}:
            return BatchStatus(done=done)
        named = (identifier(answer.get(key)) for key in ("output_file_id", "error_file_id"))
        return BatchStatus(
            outcome=str(state),
            done=done,
            unprocessed=state != "completed",
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
        return BatchStatus("failed", unprocessed=True, refusal=error, refused=places)

    async def results(self, remote: str, status: BatchStatus) -> AsyncIterator[bytes]:
        """Download the file of answers, then that of errors."""
        for name in status.files:
            try:
                async with self._client.files.with_streaming_response.content(
                    name, timeout=sdk_timeout(self._timeout_s)
                ) as response:
                    async for piece in response.iter_bytes():
                        yield piece
            except ProviderError:
                raise
            except Exception as failure:  # the SDK reads what is not to be trusted before we do
                raise _or_unknown(self._mapped(failure)) from failure
            yield b"\n"

    def read(self, line: dict[str, object], request: Request) -> Reply:
        """Read one line of the results.

        Raises:
            ProviderError: the request was refused, or not processed.
        """
        response, error = line.get("response"), line.get("error")
        sent = body_of(request, "max_completion_tokens").keys()
        if not isinstance(response, dict):
            code = error.get("code") if isinstance(error, dict) else None
            said = error.get("message") if isinstance(error, dict) else None
            if code in {"batch_expired", "batch_cancelled"}:
                raise NotProcessed(f"the batch ended before the turn of this request ({code})")
            raise ServerFault(
                identifier(said) or "a line of the batch has neither answer nor error"
            )
        headers = {"x-request-id": identifier(response.get("request_id")) or ""}
        status, body = count(response.get("status_code")), orjson.dumps(response.get("body"))
        if status is None or 200 <= status < 300:
            return self._provider.read(read_reply, body, headers, sent)
        raise self._provider.refused(status, headers, body, sent)

    async def _called(
        self, method: Any, *arguments: str, timeout_s: float | None = None, **named: Any
    ) -> dict[str, object]:
        """Call a method of the SDK and return the JSON object that it was answered with."""
        allowed = self._timeout_s if timeout_s is None else timeout_s
        try:
            async with asyncio.timeout(allowed):
                response = await method(*arguments, timeout=sdk_timeout(allowed), **named)
                answer = loaded(response.http_response.content)
        except ProviderError:
            raise
        except Exception as failure:  # the SDK reads what is not to be trusted before we do
            raise self._mapped(failure, allowed) from failure
        if not answer:
            raise broken_body("it is no JSON object")
        return answer

    def _mapped(self, failure: Exception, timeout_s: float | None = None) -> ProviderError:
        return self._provider.mapped(failure, (), timeout_s or self._timeout_s)


def _or_unknown(error: ProviderError) -> Exception:
    """Return what a refusal means where a batch that was there is asked for."""
    return BatchUnknown(error.message) if error.status == 404 else error


def _id_of(answer: Mapping[str, object], what: str) -> str:
    """Return the provider's name of something it made."""
    found = identifier(answer.get("id"))
    if found is None:
        raise broken_body(f"{what} has no id")
    return found
