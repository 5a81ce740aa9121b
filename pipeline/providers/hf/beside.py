"""Which prompts one model can answer together so that each is answered as it would be alone.

Prompts of a batch are padded to one length, which most models pass over. Some do not: padding enters
their states (RWKV, RecurrentGemma), or counts as distance where it lies between the tokens of a prompt
(GPT-Neo, MPT). What a model does is tried, once, with a few tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import torch
import transformers
from transformers import DynamicCache, GenerationConfig, LogitsProcessorList

PADDING: Final = 16
"""Tokens of padding before a prompt that is tried."""
GAP: Final = 512
"""... and in the middle of one: wider than the windows of GPT-Neo."""
_FAULTS: Final = (AttributeError, LookupError, TypeError, ValueError, RuntimeError)
"""What models raise that take no such input."""
CACHE_OF_PEFT: Final = "past_key_values"
"""What PEFT calls the keys and values that a model is given."""
_RENAMED: Final = (5, 24)
CACHE: Final = (
    "cache"
    if tuple(map(int, transformers.__version__.split(".")[:2])) >= _RENAMED
    else CACHE_OF_PEFT
)
"""What transformers calls them."""
_NOISE: Final[Mapping[torch.dtype, float]] = {torch.float32: 1e-3, torch.float64: 1e-3}
_NOISE_OF_HALF: Final = 0.2
"""How far what follows may be from what it is alone, in parts of its standard deviation: digits that
are lost otherwise are some 1e-6 in full and up to 0.04 in half precision; what is seen is 0.3 and more."""


@dataclass(frozen=True, slots=True)
class Batchable:
    """Which prompts may be in one batch."""

    unequal: bool = True
    """Whether prompts of several lengths may."""
    turned_at: int | None = None
    """Tokens beyond which all positions of a batch are turned otherwise (``longrope``); None: never."""

    def first(self, lengths: Sequence[int], longest_answer: int) -> int:
        """Return how many of the first prompts are answered together, one at least.

        Args:
            lengths: tokens of each prompt, one at least, in ascending order.
            longest_answer: the most tokens that any of them is answered with.
        """
        if self.unequal:
            if self.turned_at is None or lengths[0] > self.turned_at:
                return len(lengths)
            if lengths[0] + longest_answer <= self.turned_at:
                return sum(length + longest_answer <= self.turned_at for length in lengths)
        return sum(length == lengths[0] for length in lengths)


def beside(model: Any, padding: int) -> Batchable:
    """Return which prompts a model can answer together; ``padding`` is the token to pad with.

    Raises:
        OutOfMemoryError: the memory of a GPU does not suffice for a few tokens.
    """
    return Batchable(unequal=passes_over_padding(model, padding), turned_at=_turned_at(model))


def passes_over_padding(model: Any, padding: int) -> bool:
    """Return whether what follows a prompt is the same where padding is put before it: tried."""
    tokens = _some_tokens(model, PADDING + 3)
    prompt, longer = tokens[:3], tokens
    try:
        alone = _following(model, [prompt], [[1] * len(prompt)])
        padded = _following(
            model,
            [[padding] * PADDING + prompt, longer],
            [[0] * PADDING + [1] * len(prompt), [1] * len(longer)],
        )
    except torch.OutOfMemoryError:
        raise
    except _FAULTS:
        return False
    return _are_same(alone, padded, model.dtype)


def passes_over_gaps(model: Any, begun: DynamicCache, beginning: Sequence[int]) -> bool:
    """Return whether what follows a prompt is the same where its parts lie apart: tried.

    Args:
        model: keeps keys and values of every token.
        begun: those of ``beginning``; they are moved.
        beginning: some tokens.
    """
    end = _some_tokens(model, 2)
    whole = [*beginning, *end]
    layers: list[Any] = begun.layers
    for layer in layers:
        apart = (0, 0, PADDING, GAP)
        layer.keys = torch.nn.functional.pad(layer.keys, apart)
        layer.values = torch.nn.functional.pad(layer.values, apart)
    try:
        alone = _following(model, [whole], [[1] * len(whole)])
        divided = _following(
            model,
            [[0] * PADDING + [*beginning] + [0] * GAP + end],
            [[0] * PADDING + [1] * len(beginning) + [0] * GAP + [1] * len(end)],
            begun,
        )
    except _FAULTS:
        return False
    return _are_same(alone, divided, model.dtype)


def ropes(model: Any) -> Iterator[Mapping[str, Any]]:
    """Yield what the configuration of a model says of how positions are turned, by kind of layer."""
    rope = getattr(model.config.get_text_config(), "rope_parameters", None) or {}
    yield rope
    yield from (part for part in rope.values() if isinstance(part, dict))


def _turned_at(model: Any) -> int | None:
    for rope in ropes(model):
        if rope.get("rope_type") == "longrope":
            return int(rope["original_max_position_embeddings"])
    return None


def _some_tokens(model: Any, count: int) -> list[int]:
    """Return as many tokens from the middle of the vocabulary, where none is special."""
    known = int(model.get_input_embeddings().weight.shape[0])
    return [(known // 2 + i) % known for i in range(count)]


def _following(
    model: Any,
    rows: Sequence[Sequence[int]],
    mask: Sequence[Sequence[int]],
    cache: DynamicCache | None = None,
) -> torch.Tensor:
    """Return what a model says of two tokens after the first row, shape ``(2, vocabulary)``."""
    token = rows[0][-1]

    def next_token(_: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        only = torch.full_like(scores, -torch.inf)
        only[:, token] = 0.0
        return only

    with torch.inference_mode():
        made = model.generate(
            input_ids=torch.tensor(rows, device=model.device),
            attention_mask=torch.tensor(mask, device=model.device),
            **{CACHE: cache},
            generation_config=GenerationConfig(  # type: ignore[no-untyped-call]
                max_new_tokens=2,
                do_sample=False,
                num_beams=1,
                pad_token_id=0,
                output_logits=True,
                return_dict_in_generate=True,
            ),
            logits_processor=LogitsProcessorList([next_token]),
        )
    return torch.stack([logits[0].float() for logits in made.logits])


def _are_same(one: torch.Tensor, other: torch.Tensor, dtype: torch.dtype) -> bool:
    """Return whether rows of two matrices differ by the digits that are lost alone."""
    apart = float(((one - other).std(dim=1) / one.std(dim=1)).max())
    return not apart > _NOISE.get(dtype, _NOISE_OF_HALF)  # numbers that are none are told later
