"""Models of transformers in this process: no server, no key, no price."""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING

from pipeline.batching import BatchJob, BatchThread
from pipeline.providers.errors import FieldRejected
from pipeline.providers.hf.prompt import LocalAnswer, LocalPrompt, model_key
from pipeline.providers.hf.settings import INSTALL, SCHEMA_PACKAGE, LocalSettings
from pipeline.providers.protocol import Reply, Request, Usage
from scenarios.arms import ModelSpec
from scenarios.errors import UsageError
from scenarios.extensions import imported

if TYPE_CHECKING:
    from pipeline.providers.hf.engine import LocalEngine

LINGER_S = 0.05
"""Seconds that a batch which is not full waits for another prompt: the answers to the one before
let dialogues go on that ask within moments, and a batch takes as long for one as for many."""


class HfProvider:
    """Answers in this process: what many dialogues ask at a time is computed together.

    One thread loads models, each when it is first asked, and writes the answers. Every model stays
    loaded until the end.
    """

    name = "hf"
    base_url: str | None = None
    samples_per_request = True

    def __init__(self, max_concurrency: int, **_: object) -> None:
        """Prepare; nothing is loaded yet.

        Raises:
            UsageError: torch is not installed.
        """
        if find_spec("torch") is None:
            raise UsageError("models in this process need the package 'torch'", INSTALL)
        self._most_at_once = max_concurrency
        self._closing = threading.Event()
        self._engines: dict[str, LocalEngine | UsageError] = {}
        self._thread: BatchThread[LocalPrompt, LocalAnswer] = BatchThread(
            "the model in this process", self._work, self._together, self._linger_s
        )

    async def send(self, request: Request, timeout_s: float) -> Reply:
        """Answer sample ``i`` with ``seed + i``; ``timeout_s`` does not count the wait for a turn.

        Raises:
            ProviderError: the prompt is too long, or its schema cannot be enforced.
            UsageError: the model cannot be loaded, or the memory does not suffice.
        """
        wants_schema = request.structured == "native"
        if wants_schema and find_spec(SCHEMA_PACKAGE) is None:
            raise FieldRejected(
                f"the package {SCHEMA_PACKAGE}, which holds answers to a schema, is not installed:"
                f" {INSTALL}",
                field="response_format",
            )
        spec = ModelSpec(self.name, request.model, parameters=request.parameters)
        key = model_key(request.model, request.parameters)
        settings = LocalSettings.of(spec)
        prompts = [
            LocalPrompt(
                model=request.model,
                settings=settings,
                key=key,
                messages=request.messages,
                parameters=request.parameters,
                seed=request.seed + i,
                timeout_s=timeout_s,
                schema=request.bounded_schema if wants_schema else None,
            )
            for i in range(request.n)
        ]
        answers = await asyncio.gather(*(self._thread.ask(prompt) for prompt in prompts))
        return Reply(
            choices=tuple(answer.choice for answer in answers),
            usage=Usage(
                prompt=answers[0].prompt_tokens,
                completion=sum(answer.completion_tokens for answer in answers),
                cached=answers[0].reused_tokens,
            ),
            model=request.model,
        )

    async def close(self) -> None:
        """Break off what is being written, end the thread and give the memory back."""
        self._closing.set()
        await self._thread.close()
        if self._engines:
            self._engines.clear()
            await asyncio.to_thread(_give_memory_back)

    def _work(
        self, batch: Sequence[BatchJob[LocalPrompt, LocalAnswer]]
    ) -> Sequence[LocalAnswer | Exception]:
        """Answer prompts for one model."""
        first = batch[0].item
        if first.key not in self._engines:
            self._engines[first.key] = self._opened(first)
        engine = self._engines[first.key]
        if isinstance(engine, UsageError):
            raise engine
        return engine.answer(
            [job.item for job in batch],
            [partial(self._is_abandoned, job) for job in batch],
        )

    def _is_abandoned(self, job: BatchJob[LocalPrompt, LocalAnswer]) -> bool:
        return job.abandoned or self._closing.is_set()

    def _opened(self, prompt: LocalPrompt) -> LocalEngine | UsageError:
        """Load a model, once: what is wrong with it will not go away."""
        try:
            # Here, on the thread: this imports torch and transformers, which takes seconds.
            load = imported("pipeline.providers.hf.loading:load_model")
            engine = imported("pipeline.providers.hf.engine:LocalEngine")
            opened: LocalEngine = engine(load(prompt.model, prompt.settings), self._most_at_once)
        except UsageError as error:
            return error
        return opened

    def _together(self, waiting: Sequence[LocalPrompt]) -> Sequence[int]:
        """Choose the first, and as many others for the same model as it answers together."""
        same = [i for i, prompt in enumerate(waiting) if prompt.key == waiting[0].key]
        return same[: self._batch(waiting[0].key)]

    def _linger_s(self, waiting: Sequence[LocalPrompt]) -> float:
        full = len(self._together(waiting)) >= self._batch(waiting[0].key)
        return 0.0 if full else LINGER_S

    def _batch(self, key: str) -> int:
        engine = self._engines.get(key)
        if engine is None or isinstance(engine, UsageError):
            return self._most_at_once
        return engine.batch


def _give_memory_back() -> None:
    """Collect what models leave behind, and return what CUDA keeps in store for them."""
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()
