"""Calls of a batch API through the methods of an SDK: answers, lists by page, streamed results."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any

from pipeline.providers.allowed_time import AllowedTime
from pipeline.providers.batch_api import BatchUnknown, StillUnknown
from pipeline.providers.capped_client import sdk_timeout
from pipeline.providers.errors import ProviderError
from pipeline.providers.failures import WrongPlace, broken_body
from pipeline.providers.untrusted import identifier, json_object

PAGES = 50
"""Pages of a hundred batches that are looked through for one."""
DOUBT_S = 26 * 3600.0
"""A batch is taken for an older one only where it is older by so much: the clock of this machine may
have been wrong by a zone or a day when ours was written down, and right since."""
BYTES_PER_S = 500_000
"""Requests may be sent this slowly."""


class BatchCalls:
    """Calls methods of an SDK below its response models, and maps what goes wrong."""

    def __init__(
        self, mapped: Callable[[Exception, Collection[str], float], ProviderError], timeout_s: float
    ) -> None:
        """Remember what maps the SDK's exceptions, and the seconds that a call may take."""
        self._mapped = mapped
        self._timeout_s = timeout_s
        self._ahead_s = 0.0
        """How far the clock of this machine is ahead of the provider's."""

    async def answer(
        self, method: Any, *arguments: str, bytes_sent: int = 0, **named: Any
    ) -> dict[str, Any]:
        """Call a method and return the JSON object that it was answered with.

        Args:
            method: of the SDK, with its raw response.
            arguments: of the method.
            bytes_sent: in bulk, for which more time is allowed.
            named: further arguments of the method.

        Raises:
            ProviderError: the endpoint could not or would not answer.
        """
        allowed = self._timeout_s + bytes_sent / BYTES_PER_S
        try:
            with AllowedTime(allowed):
                response = await method(
                    *arguments, timeout=sdk_timeout(allowed, whole=True), **named
                )
                answer = json_object(await response.http_response.aread())
                self._compare_clocks(response.http_response.headers.get("date", ""))
        except ProviderError:
            raise
        except Exception as failure:  # the SDK reads what is not to be trusted before we do
            raise self._mapped(failure, (), allowed) from failure
        if not answer:
            raise broken_body("it is no JSON object")
        return answer

    def _compare_clocks(self, date: str) -> None:
        """Learn from an answer how far the clock of this machine is ahead; not, where it does not say."""
        try:
            there = parsedate_to_datetime(date).timestamp()
        except (ValueError, OverflowError, OSError):
            return
        self._ahead_s = max(0.0, time.time() - there)

    def made_before(self, batch: Mapping[str, object], since: float) -> bool:
        """Return whether a batch is surely older; one whose time cannot be read is not.

        Args:
            batch: as the provider describes it.
            since: Unix time in seconds, by the clock of this machine.
        """
        created = batch.get("created_at")
        try:
            moment = (
                created
                if isinstance(created, int | float)
                else datetime.fromisoformat(str(created)).timestamp()
            )
        except (ValueError, OverflowError):
            return False
        return moment < since - self._ahead_s - DOUBT_S

    async def answer_about(self, method: Any, remote: str) -> dict[str, Any]:
        """Return what a method answers about a batch that was there.

        Raises:
            BatchUnknown: it is not there any more.
            ProviderError: the endpoint could not or would not answer.
        """
        try:
            return await self.answer(method, remote)
        except ProviderError as error:
            raise _or_unknown(error) from error

    async def listed(self, method: Any, cursor: str, since: float) -> AsyncIterator[dict[str, Any]]:
        """Yield batches, the newest first, page by page until one ends before ``since``.

        Args:
            method: of the SDK that lists, with its raw response.
            cursor: its argument for the id after which a page begins.
            since: Unix time in seconds.

        Raises:
            StillUnknown: there are more than are looked through.
            ProviderError: the endpoint could not or would not answer.
        """
        after: dict[str, Any] = {}
        for _ in range(PAGES):
            answer = await self.answer(method, limit=100, **after)
            page = answer.get("data")
            if not isinstance(page, list):
                raise broken_body("it has no list of batches")
            batches = [b for b in page if isinstance(b, dict)]
            for batch in batches:
                yield batch
            if not (batches and answer.get("has_more")) or self.made_before(batches[-1], since):
                return
            after = {cursor: id_of(batches[-1], "a batch")}
        looked = (
            f"it is not among the newest {100 * PAGES:,} batches there, and no more are looked at"
        )
        raise StillUnknown(looked, lasting=True)

    async def streamed(self, method: Any, name: str) -> AsyncGenerator[bytes]:
        """Yield what a method streams, in pieces.

        Raises:
            BatchUnknown: it is not there any more.
            ProviderError: the endpoint could not or would not answer.
        """
        try:
            async with method(name, timeout=sdk_timeout(self._timeout_s)) as response:
                async for piece in response.iter_bytes():
                    yield piece
        except ProviderError:
            raise
        except Exception as failure:  # the SDK reads what is not to be trusted before we do
            raise _or_unknown(self._mapped(failure, (), self._timeout_s)) from failure


def _or_unknown(error: ProviderError) -> Exception:
    """Return what a refusal means where a batch that was there is asked for."""
    is_gone = error.status == 404 and not isinstance(error, WrongPlace)
    return BatchUnknown(error.message) if is_gone else error


def id_of(answer: Mapping[str, object], what: str) -> str:
    """Return the provider's name of something it made.

    Raises:
        ServerFault: it has none.
    """
    found = identifier(answer.get("id"))
    if found is None:
        raise broken_body(f"{what} has no id")
    return found
