"""A provider that a plugin brings: held to its time, and what it returns is looked at first."""

from __future__ import annotations

import asyncio
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from pipeline.providers.errors import Unreachable
from pipeline.providers.failures import timed_out
from pipeline.providers.untrusted import count

if TYPE_CHECKING:
    from pipeline.providers.protocol import Provider, Reply, Request, Usage


class ForeignProvider:
    """Sends by a provider of a plugin; satisfies :class:`~pipeline.providers.protocol.Provider`.

    Those that ship see to their own time, of which they leave out what does not count, and read
    counts of tokens with care.
    """

    def __init__(self, provider: Provider) -> None:
        """Send by ``provider``.

        Raises:
            AttributeError: it lacks something that every provider has.
        """
        self.provider = provider
        self._send = provider.send
        self._close = provider.close
        self.name = provider.name
        self.base_url = provider.base_url
        self.samples_per_request = provider.samples_per_request

    async def send(self, request: Request, timeout_s: float) -> Reply:
        """Send once.

        Raises:
            ProviderError: what the plugin raised, it took longer than ``timeout_s`` (TimedOut), or a
                connection did not come about or broke (Unreachable).
        """
        try:
            async with asyncio.timeout(timeout_s):
                reply = await self._send(request, timeout_s)
        except TimeoutError as error:
            raise timed_out(timeout_s) from error
        except ConnectionError as error:
            raise Unreachable(f"{type(error).__name__}: {error}") from error
        return replace(reply, usage=_counted(reply.usage))

    async def close(self) -> None:
        """Release what the plugin holds."""
        await self._close()


def _counted(usage: Usage | None) -> Usage | None:
    """Return counts of tokens as whole numbers; None, which is charged at its worst, where one is odd."""
    if usage is None:
        return None
    numbers = {part.name: count(getattr(usage, part.name)) for part in fields(usage)}
    return None if None in numbers.values() else type(usage)(**numbers)  # type: ignore[arg-type]
