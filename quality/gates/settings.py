"""The thresholds of the gates, as a recipe may set them."""

from __future__ import annotations

from typing import Annotated, Final, Self

from pydantic import Field, model_validator

from scenarios.spelling import suggestion
from scenarios.strict import Strict

CODES: Final = (
    "goal_stated",
    "goal_mismatch",
    "fact_leaked",
    "label_contradiction",
    "unmet_requirement",
    "wanted_not_obtained",
    "too_many_sentences",
    "refusal",
    "truncated",
    "wrong_language",
    "repeated_turn",
    "empty_utterance",
    "near_duplicate",
)
"""Every code that a gate can raise."""

Share = Annotated[float, Field(gt=0, le=1)]


class GateSettings(Strict):
    """What the gates let through."""

    off: tuple[str, ...] = ()
    """Codes of gates that are not asked."""
    max_sentences: Annotated[int, Field(ge=1, le=50)] = 2
    """Sentences that an utterance may have.

    Source: HIPO, section 4.3 (one or two sentences).
    """
    leak_share: Share = 0.5
    """Share of the private words of the fact from which on an initiator's turn tells it."""
    leak_words: Annotated[int, Field(ge=1, le=100)] = 3
    """Fewest private words that such a turn must hold."""
    leak_run: Annotated[int, Field(ge=3, le=50)] = 5
    """Length of a run of words that only the fact can have supplied."""
    repeat_share: Share = 0.8
    """Share of common word triples from which on a turn repeats an earlier one."""
    language_words: Annotated[int, Field(ge=1, le=100)] = 4
    """Fewest words that a language is guessed from; other scripts are seen in any text."""
    language_doubt: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """Probability of the expected language under which a turn counts as another language."""
    refusal_phrases: tuple[Annotated[str, Field(min_length=3)], ...] = ()
    """Further phrases that only a machine would say, beside those that ship."""
    duplicate_share: Share = 0.7
    """Share of common word triples from which on two dialogues of a run are near-duplicates."""
    duplicate_cosine: Share = 0.97
    """The same for the cosine of their embeddings, where an encoder is at hand."""
    duplicate_window: Annotated[int, Field(ge=100, le=10_000_000)] = 20_000
    """How many of the latest dialogues a dialogue is compared with; bounds the memory
    (about 7 kB each)."""

    @model_validator(mode="after")
    def _codes_exist(self) -> Self:
        for code in self.off:
            if code not in CODES:
                raise ValueError(
                    f"there is no gate {code!r}; {suggestion(code, CODES, listing='gates')}"
                )
        return self
