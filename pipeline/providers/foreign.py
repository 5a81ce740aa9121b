"""A provider that a plugin brings: held to its time, and what it returns is looked at first."""

from __future__ import annotations

import asyncio
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from pipeline.providers.errors import ProviderError, Unreachable
from pipeline.providers.failures import timed_out
from pipeline.providers.protocol import Choice, Reply, Usage
from pipeline.providers.untrusted import count, identifier
from scenarios.log import logger

if TYPE_CHECKING:
    from pipeline.providers.protocol import Provider, Request


_log = logger("endpoint")
_ATTRIBUTES = {"name": str, "base_url": str | None, "samples_per_request": bool}


class ForeignProvider:
    """Sends by a provider of a plugin; satisfies :class:`~pipeline.providers.protocol.Provider`.

    Those that ship see to their own time, of which they leave out what does not count, and read
    counts of tokens with care.
    """

    def __init__(self, provider: Provider) -> None:
        """Send by ``provider``.

        Raises:
            AttributeError: it lacks something that every provider has.
            TypeError: something of it is of another type.
        """
        for attribute, kind in _ATTRIBUTES.items():
            value = getattr(provider, attribute)
            if not isinstance(value, kind):
                raise TypeError(
                    f"its {attribute} is {value!r:.100}, expected {getattr(kind, '__name__', kind)}"
                )
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
            TypeError: it returned something else than a reply.
        """
        try:
            async with asyncio.timeout(timeout_s):
                reply = await self._send(request, timeout_s)
        except TimeoutError as error:
            raise timed_out(timeout_s) from error
        except ConnectionError as error:
            raise Unreachable(f"{type(error).__name__}: {error}") from error
        except ProviderError as error:
            error.billed = error.billed or error.usage is not None
            error.usage = _counted(error.usage)
            raise
        if not _is_reply(reply):
            raise TypeError(
                f"the provider {self.name!r} returned {reply!r:.200}: not a Reply with texts"
            )
        return replace(
            reply,
            usage=_counted(reply.usage),
            model=identifier(reply.model),
            request_id=identifier(reply.request_id),
            system_fingerprint=identifier(reply.system_fingerprint),
        )

    async def close(self) -> None:
        """Release what the plugin holds; one that cannot is told of, as everything is done by then."""
        try:
            await self._close()
        except Exception as error:  # noqa: BLE001 - what was played is kept
            _log.warning("the provider %r could not be closed: %r", self.name, error)


def _is_reply(reply: object) -> bool:
    return (
        isinstance(reply, Reply)
        and isinstance(reply.choices, list | tuple)
        and isinstance(reply.body, str)
        and all(isinstance(one, Choice) and isinstance(one.text, str) for one in reply.choices)
    )


def _counted(usage: object) -> Usage | None:
    """Return counts of tokens as whole numbers; None, which is charged at its worst, where one is odd."""
    if not isinstance(usage, Usage):
        return None
    numbers = {part.name: count(getattr(usage, part.name)) for part in fields(usage)}
    return None if None in numbers.values() else type(usage)(**numbers)  # type: ignore[arg-type]
