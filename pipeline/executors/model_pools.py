"""Models that several workers share: each is held by processes of its own, which the workers ask.

Who starts these processes, and how a question gets there, is not known here: a :class:`Pool` brings
it to a :class:`ModelHost` (:class:`pipeline.executors.ray.RayPool` does).
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from pipeline.embeddings.embeddings import Device, Note, loading, sentence_encoder
from pipeline.processors import processors
from pipeline.providers.errors import Unreachable
from pipeline.providers.hf.prompt import model_key
from pipeline.providers.protocol import Reply, Request
from pipeline.providers.rate_limiter import Sleep
from pipeline.providers.registry import build_provider, parse_model
from pipeline.stopping.stop import UNAVAILABLE, MustStop
from scenarios.errors import HipoError, RunError

if TYPE_CHECKING:
    from pipeline.vectors import Vectors

ENCODER = "encoder"
"""The name of the pool that embeds what is voted on; others are named by their model's key."""
TOGETHER_S = 0.003
"""Seconds that a batch of texts waits for those of another worker."""
RETURN_S = 120.0
"""Seconds that whoever votes waits for an encoder whose process is started anew."""
PAUSE_S = 1.0
_GONE = "look at the log of the process for why (ray logs), then run the same command again"

Ask = Callable[..., Awaitable[Any]]
Open = Callable[[], Ask]
"""Makes what answers, in the process that is to hold the model; loads nothing yet."""


class PoolAway(RunError):
    """A process that holds a model died under a question; ``gone``: none is left to ask."""

    def __init__(self, message: str, *, gone: bool) -> None:
        """Say what is away, and whether for good."""
        super().__init__(message)
        self.gone = gone


class Pool(Protocol):
    """Processes that hold the same model."""

    async def ask(self, *question: Any) -> Any:
        """Return the answer of one of them.

        Raises:
            PoolAway: it has died.
            HipoError: what the model's own process raised.
        """


@dataclass(frozen=True, slots=True)
class PooledModel:
    """A model that is to be held by a pool."""

    label: str
    """What people call it."""
    open: Open
    takes_gpu: bool
    """Whether it is put on a GPU where there is one."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What came of a question."""

    value: Any

    def result(self) -> Any:
        """Return the answer."""
        return self.value


@dataclass(frozen=True, slots=True)
class Failed:
    """An error on its way to another process: its constructor may not take its ``args`` alone."""

    kind: type[HipoError]
    args: tuple[Any, ...]
    fields: Mapping[str, Any]

    @classmethod
    def of(cls, error: HipoError) -> Failed:
        """Take an error apart."""
        return cls(type(error), error.args, vars(error))

    def result(self) -> Any:
        """Raise the error, as it was raised there."""
        error = self.kind.__new__(self.kind, *self.args)
        vars(error).update(self.fields)
        raise error


class ModelHost:
    """Holds one model in a process and answers many questions at a time, which it batches."""

    def __init__(self, open_model: Open, hosts: int = 1) -> None:
        """Prepare to open a model; ``hosts`` such processes share the processors of a machine."""
        self._open = open_model
        self._ask: Ask | None = None
        # Ray allows a process one thread unless it takes whole processors for itself.
        os.environ["OMP_NUM_THREADS"] = str(max(1, processors() // hosts))

    async def ready(self) -> Answered | Failed:
        """Return whether what the model needs is installed here."""
        try:
            self._opened()
        except HipoError as error:
            return Failed.of(error)
        return Answered(None)

    async def ask(self, *question: Any) -> Answered | Failed:
        """Return what the model answers, or what it raised."""
        try:
            return Answered(await self._opened()(*question))
        except HipoError as error:
            return Failed.of(error)

    def _opened(self) -> Ask:
        if self._ask is None:
            self._ask = self._open()
        return self._ask


def open_encoder(model: str | None, device: Device) -> Ask:
    """Return what embeds texts with a sentence-transformers model, or scores them.

    Raises:
        UsageError: a package is missing.
    """
    encoder = sentence_encoder(model, device, linger_s=TOGETHER_S)

    async def ask(texts: Sequence[str], scored: bool) -> Vectors | list[float]:
        return await (encoder.scores(texts) if scored else encoder.encode(texts))

    return ask


def open_local_model(name: str, most_at_once: int) -> Ask:
    """Return what answers requests, as the provider of models in a process does.

    Args:
        name: with the provider, ``hf/...``.
        most_at_once: answers that are written together.

    Raises:
        UsageError: a package is missing.
    """
    return build_provider(parse_model(name), max_concurrency=most_at_once).send


class PooledEncoder:
    """Embeds texts by a pool; satisfies :class:`~pipeline.voting.Encoder`."""

    def __init__(
        self,
        pool: Pool,
        note: Note = lambda _: None,
        model: str | None = None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        """Ask ``pool``, which holds ``model``.

        ``note`` is told that it is about to be loaded, when the first text comes, and when votes wait
        for a process that died; ``sleep`` passes the time until it is back.
        """
        self._pool = pool
        self._note = note
        self._loading = loading(model)
        self._sleep = sleep

    async def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one unit-length row per text, shape ``(len(texts), dim)``.

        Raises:
            UsageError: the model cannot be loaded.
            MustStop: its processes have died, and do not come back.
        """
        vectors: Vectors = await self._asked(texts, scored=False)
        return vectors

    async def scores(self, candidates: Sequence[str]) -> list[float]:
        """Return the consistency scores of the candidates of a vote; raises what ``encode`` does."""
        scores: list[float] = await self._asked(candidates, scored=True)
        return scores

    async def _asked(self, texts: Sequence[str], *, scored: bool) -> Any:
        told, self._loading = self._loading, ""
        if told:
            self._note(told)
        waited_s = 0.0
        while True:
            try:
                answer = await self._pool.ask(tuple(texts), scored)
            except PoolAway as error:
                if error.gone or waited_s >= RETURN_S:
                    raise MustStop(str(error), UNAVAILABLE, _GONE) from error
                self._note(f"{error}; votes wait until it is started again")
                await self._sleep(PAUSE_S)
                waited_s += PAUSE_S
            else:
                return answer


class PooledProvider:
    """Asks models of ``hf/`` in their pools; satisfies :class:`~pipeline.providers.protocol.Provider`."""

    name = "hf"
    base_url: str | None = None
    samples_per_request = True

    def __init__(self, pools: Mapping[str, Pool]) -> None:
        """Ask ``pools``, by the key of their model."""
        self._pools = pools

    async def send(self, request: Request, timeout_s: float) -> Reply:
        """Send to the pool of the model; see :meth:`HfProvider.send`.

        Raises:
            ProviderError: as there; also where the process died, which is worth another try.
            UsageError: as there.
        """
        pool = self._pools[model_key(request.model, request.parameters)]
        try:
            reply: Reply = await pool.ask(request, timeout_s)
        except PoolAway as error:
            raise Unreachable(str(error)) from error
        return reply

    async def close(self) -> None:
        """Do nothing: whoever started the pools ends them."""
