"""What a provider's batch API has to do: take requests, say how far it is, hand the results out."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from pipeline.providers.errors import ProviderError
from pipeline.providers.protocol import Reply, Request


class StillUnknown(Exception):
    """Whether a batch arrived cannot be said, at least not yet."""

    def __init__(self, why: str, *, lasting: bool = False) -> None:
        """Say why; ``lasting``: time does not mend it."""
        super().__init__(why)
        self.lasting = lasting


class BatchUnknown(Exception):
    """The provider does not know a batch by this name, or has deleted its results."""


@dataclass(frozen=True, slots=True)
class BatchStatus:
    """How far a batch is."""

    outcome: str = ""
    """How it ended, in the provider's word; empty: it has not."""
    done: int | None = None
    """Requests that are processed, as the provider counts them, each of which has a result; None: it
    does not say."""
    cancelled: bool = False
    """Whether somebody cancelled it at the provider."""
    refusal: ProviderError | None = None
    """Why the batch as a whole was not taken, so that nothing of it was processed."""
    refused: frozenset[int] = frozenset()
    """The places of the requests that this is about; empty: it is about all of them."""
    files: tuple[str, ...] = ()
    """Where the results are, where there is more than one place."""


@dataclass(frozen=True, slots=True)
class BatchLine:
    """One request as it stands in a batch."""

    custom_id: str
    content: bytes
    """JSON, without a line end."""


class BatchApi(Protocol):
    """The batch API of one provider; every method may raise a :class:`ProviderError`."""

    most_requests: int
    """In one batch."""
    most_bytes: int
    """Of all lines of one batch."""

    def line(self, custom_id: str, request: Request) -> BatchLine:
        """Put a request into the form it has in a batch."""

    async def upload(self, token: str, lines: Sequence[BatchLine]) -> str:
        """Bring the requests to the provider where that is a step of its own, and name them."""

    async def create(self, token: str, upload: str, lines: Sequence[BatchLine]) -> str:
        """Have the batch processed from now on; return what the provider calls it."""

    async def find(
        self, token: str, requests: int, since: float, known: Collection[str]
    ) -> str | None:
        """Return what the provider calls a batch that may have arrived; None: it is not there.

        Args:
            token: names it.
            requests: how many it consists of.
            since: Unix time in seconds before which it was not sent.
            known: other batches, by the provider's name.

        Raises:
            StillUnknown: it cannot be said yet.
        """

    async def status(self, remote: str) -> BatchStatus:
        """Ask how far a batch is.

        Raises:
            BatchUnknown: there is no such batch.
        """

    def results(self, remote: str, status: BatchStatus) -> AsyncIterator[bytes]:
        """Yield the results of a batch that ended, in pieces of any size, as lines of JSON.

        Raises:
            BatchUnknown: they are not there any more.
        """

    def read(self, line: dict[str, object], request: Request) -> Reply:
        """Read what came of one request.

        Raises:
            ProviderError: what became of it is no answer.
        """
