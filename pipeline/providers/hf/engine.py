"""One loaded model: prompts into answers, in batches that fit into its memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import orjson

from pipeline.providers.context_size import ContextSizes
from pipeline.providers.errors import BadRequest, ContextExceeded, ProviderError, ServerFault
from pipeline.providers.failures import timed_out
from pipeline.providers.hf.batch_size import BatchSize
from pipeline.providers.hf.generation import write_answers
from pipeline.providers.hf.loading import LoadedModel, is_out_of_memory
from pipeline.providers.hf.prompt import LocalAnswer, LocalPrompt
from pipeline.providers.hf.sampling import AnswerRow
from pipeline.providers.protocol import Choice
from scenarios.errors import UsageError

if TYPE_CHECKING:
    from pipeline.providers.hf.schema import Constraint, SchemaCompiler

CPU_BATCH = 8
"""Answers at once on a CPU, which gains little from more."""


class LocalEngine:
    """Answers prompts with one model; used by one thread only."""

    def __init__(
        self,
        loaded: LoadedModel,
        most_at_once: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Answer up to ``most_at_once`` prompts together, fewer where the memory asks for it."""
        self._loaded = loaded
        self._clock = clock
        self._schemas: SchemaCompiler | None = None
        self._size = BatchSize(
            min(most_at_once, CPU_BATCH) if loaded.device == "cpu" else most_at_once
        )

    @property
    def batch(self) -> int:
        """Answers that are written together."""
        return self._size.now

    def answer(
        self, prompts: Sequence[LocalPrompt], abandoned: Sequence[Callable[[], bool]]
    ) -> list[LocalAnswer | Exception]:
        """Return an answer to each prompt, or why there is none.

        Args:
            prompts: any number.
            abandoned: for each whether nobody waits for it any more.

        Raises:
            UsageError: the memory does not suffice for a single one.
        """
        outcomes: dict[int, LocalAnswer | Exception] = {}
        rows: dict[int, AnswerRow] = {}
        for i, tokens in enumerate(self._tokens(prompts)):
            if isinstance(tokens, ProviderError):
                outcomes[i] = tokens
                continue
            try:
                rows[i] = self._row(prompts[i], tokens, abandoned[i])
            except ProviderError as error:
                outcomes[i] = error
        waiting = sorted(rows, key=lambda i: len(rows[i].prompt))
        while waiting:
            size = self._together([rows[i] for i in waiting[: self.batch]])
            together, waiting = waiting[:size], waiting[size:]
            for i in together:
                if abandoned[i]():
                    rows[i].end = "abandoned"
            if self._written([rows[i] for i in together if rows[i].end == "open"]):
                for i in together:
                    outcomes[i] = self._outcome(rows[i], prompts[i])
            else:
                waiting = [*together, *waiting]
                for i in together:
                    rows[i] = self._row(prompts[i], rows[i].prompt, abandoned[i])
        return [outcomes[i] for i in range(len(prompts))]

    def _tokens(self, prompts: Sequence[LocalPrompt]) -> list[list[int] | ProviderError]:
        """Return the tokens of each prompt, or why chat template or tokenizer make none of it."""
        texts: dict[int, str] = {}
        found: dict[int, list[int] | ProviderError] = {}
        for i, prompt in enumerate(prompts):
            try:
                texts[i] = self._loaded.chat.text(prompt.messages)
            except ProviderError as error:
                found[i] = error
        found |= zip(texts, self._loaded.chat.tokens(list(texts.values())), strict=True)
        return [found[i] for i in range(len(prompts))]

    def _together(self, rows: Sequence[AnswerRow]) -> int:
        """Return how many of the first rows, the shortest, are answered together."""
        lengths = [len(row.prompt) for row in rows]
        return self._loaded.beside.first(lengths, max(row.max_tokens for row in rows))

    def _row(
        self, prompt: LocalPrompt, tokens: Sequence[int], abandoned: Callable[[], bool]
    ) -> AnswerRow:
        """Return a prompt as it is computed.

        Raises:
            ContextExceeded: it does not fit into what the model can take in.
            BadRequest: the model cannot read it.
            FieldRejected: its schema cannot be enforced.
        """
        parameters = prompt.parameters
        needed, window = len(tokens) + parameters.max_tokens, self._loaded.window
        if window is not None and needed > window:
            raise ContextExceeded(
                f"the prompt has {len(tokens):,} tokens and its answer may have"
                f" {parameters.max_tokens:,}; {self._loaded.name} takes {window:,} in all",
                sizes=ContextSizes(needed, window),
            )
        if max(tokens) >= self._loaded.readable:
            raise BadRequest(
                f"the tokenizer of {self._loaded.name} writes the prompt with token"
                f" {max(tokens):,}, and the model knows {self._loaded.readable:,}: they do not"
                " belong together"
            )
        return AnswerRow(
            prompt=tokens,
            max_tokens=parameters.max_tokens,
            temperature=1.0 if parameters.temperature is None else parameters.temperature,
            top_p=1.0 if parameters.top_p is None else parameters.top_p,
            seed=prompt.seed,
            timeout_s=prompt.timeout_s,
            abandoned=abandoned,
            constraint=None if prompt.schema is None else self._constraint(prompt.schema),
        )

    def _written(self, rows: Sequence[AnswerRow]) -> bool:
        """Write answers; False if that was too much at once, and fewer are to be tried.

        Raises:
            UsageError: a single one is too much.
        """
        if not rows:
            return True
        try:
            write_answers(self._loaded, rows, self._clock)
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            forgotten = self._forgotten(rows)
            if len(rows) > 1:
                self._size.was_too_much(len(rows))
            elif not forgotten:
                raise UsageError(
                    f"{self._loaded.name} has no memory left for a prompt of"
                    f" {len(rows[0].prompt):,} tokens and its answer",
                    "lower max_tokens, take extra: {dtype: bfloat16}, or a smaller model",
                ) from error
            return False
        self._size.written(len(rows))
        return True

    def _forgotten(self, rows: Sequence[AnswerRow]) -> bool:
        """Forget all beginnings of prompts; True if others than those of the first took memory."""
        pool = self._loaded.prefixes
        if pool is None:
            return False
        others = len(pool) > len(pool.found(rows[0].prompt))
        pool.clear()
        return others

    def _outcome(self, row: AnswerRow, prompt: LocalPrompt) -> LocalAnswer | Exception:
        """Return what a row that is done came to."""
        if row.end == "late":
            return timed_out(prompt.timeout_s)
        if row.end == "no number":
            return UsageError(
                f"{self._loaded.name} computes no numbers any more",
                "its weights are broken, or too large for float16: set extra: {dtype: float32}",
            )
        if row.end == "abandoned":
            return ServerFault("nobody waited for the answer any more")
        text = self._loaded.tokenizer.decode(row.tokens, skip_special_tokens=True)
        finish = {"stop": "stop", "length": "length"}.get(row.end, "other")
        return LocalAnswer(
            Choice(text, finish),  # type: ignore[arg-type]
            prompt_tokens=len(row.prompt),
            reused_tokens=row.reused,
            completion_tokens=len(row.tokens),
        )

    def _constraint(self, schema: Mapping[str, object]) -> Constraint:
        """Return what holds one answer to a schema."""
        if self._schemas is None:
            from pipeline.providers.hf.schema import SchemaCompiler  # noqa: PLC0415

            loaded = self._loaded
            self._schemas = SchemaCompiler(loaded.tokenizer, loaded.vocabulary, loaded.ends)
        return self._schemas.constraint(orjson.dumps(schema).decode())
