"""Answers that keep to their JSON schema: which tokens may come next, by ``llguidance``."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache, lru_cache
from typing import Any, Final, Protocol

import llguidance.hf
import numpy as np
from llguidance import LLExecutor, LLMatcher
from llguidance.numpy import allocate_token_bitmask, fill_next_token_bitmask_par
from numpy.typing import NDArray

from pipeline.providers.errors import FieldRejected

_SCHEMA_FIELD = "response_format"
"""What a schema is sent in to other endpoints; its rejection is understood by this name."""
_BLANK: Final = r"[ \n]?"
"""One blank at most: a small model may otherwise write blanks until its tokens are used up."""


class Constraint(Protocol):
    """Follows one answer while it is written."""

    @staticmethod
    def write_allowed(batch: Sequence[tuple[int, Any]], words: NDArray[np.int32]) -> None:
        """Write which tokens may come next in some rows of a batch, on several cores.

        Args:
            batch: the numbers of rows, with the constraint of each; all are of one model.
            words: a bit for each token, shape ``(rows, vocabulary / 32)``; other rows are left as they are.
        """

    def take(self, token: int) -> bool:
        """Go on with a token; False if the answer can no longer be followed."""

    def is_complete(self) -> bool:
        """Return whether nothing may come any more."""


class SchemaCompiler:
    """Makes constraints for the tokens of one model."""

    def __init__(self, tokenizer: Any, vocabulary: int, ends: Collection[int]) -> None:
        """Read the tokenizer, which takes about a second.

        Args:
            tokenizer: of the model; a fast one. It may know more tokens than the model.
            vocabulary: how many numbers the model gives for the next token.
            ends: the tokens that end an answer.

        Raises:
            FieldRejected: its tokens cannot be followed.
        """
        self._vocabulary = max(vocabulary, len(tokenizer))
        try:
            self._tokens = llguidance.hf.from_tokenizer(
                tokenizer, n_vocab=self._vocabulary, eos_token=sorted(ends) or None
            )
        except ValueError as error:
            raise FieldRejected(
                f"answers of this tokenizer cannot be held to a schema: {error}",
                field=_SCHEMA_FIELD,
            ) from error
        self._grammar = lru_cache(maxsize=64)(self._compiled)

    def constraint(self, schema: str) -> Constraint:
        """Return what follows one answer to a schema, given as JSON.

        Raises:
            FieldRejected: the schema holds something that cannot be enforced.
        """
        return _Follower(LLMatcher(self._tokens, self._grammar(schema)), self._vocabulary)

    def _compiled(self, schema: str) -> str:
        grammar: str = LLMatcher.grammar_from_json_schema(
            schema, overrides={"whitespace_pattern": _BLANK}
        )
        refused, why = LLMatcher.validate_grammar_with_warnings(grammar, self._tokens)
        if refused:
            raise FieldRejected(
                f"the schema of the answer cannot be enforced: {why[0]}", field=_SCHEMA_FIELD
            )
        return grammar


class _Follower:
    """A constraint by a matcher of llguidance."""

    def __init__(self, matcher: LLMatcher, vocabulary: int) -> None:
        self._matcher = matcher
        self._vocabulary = vocabulary

    @staticmethod
    def write_allowed(batch: Sequence[tuple[int, _Follower]], words: NDArray[np.int32]) -> None:
        # As many as matchers write: more than are asked for where the tokenizer knows more.
        written = allocate_token_bitmask(len(batch), batch[0][1]._vocabulary)
        matchers = [(one._matcher, at) for at, (_, one) in enumerate(batch)]
        fill_next_token_bitmask_par(_threads(), matchers, written)
        words[[row for row, _ in batch]] = written[:, : words.shape[1]]

    def take(self, token: int) -> bool:
        taken: bool = self._matcher.consume_token(token)
        return taken

    def is_complete(self) -> bool:
        complete: bool = self._matcher.is_accepting() and self._matcher.is_stopped()
        return complete


@cache
def _threads() -> LLExecutor:
    return LLExecutor()
