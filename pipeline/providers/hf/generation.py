"""Write the answers to many prompts in one batch, padded on the left."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import torch
from transformers import GenerationConfig, LogitsProcessorList, StoppingCriteriaList

from pipeline.providers.hf.beginnings import beginnings, joined
from pipeline.providers.hf.beside import CACHE
from pipeline.providers.hf.prefixes import BLOCK
from pipeline.providers.hf.sampling import AnswerRow, BatchSampler

if TYPE_CHECKING:
    from pipeline.providers.hf.loading import LoadedModel


def write_answers(
    loaded: LoadedModel, rows: Sequence[AnswerRow], clock: Callable[[], float] = time.monotonic
) -> None:
    """Write the answers of ``rows`` into them, in the time of the longest.

    Raises:
        RuntimeError: the memory is not enough for so many at once, among others; see
            ``is_out_of_memory``.
    """
    sampler = BatchSampler(rows, loaded.ends, clock)
    with torch.inference_mode():
        begun = beginnings(loaded, rows)
        tokens, mask = _padded(rows, [len(blocks) * BLOCK for blocks in begun], loaded.padding)
        cache = joined(loaded.model, begun) if any(begun) else None
        del begun  # what the pool has forgotten needs no memory any more
        loaded.model.generate(
            input_ids=torch.tensor(tokens, device=loaded.device),
            attention_mask=torch.tensor(mask, device=loaded.device),
            **{CACHE: cache},
            generation_config=GenerationConfig(  # type: ignore[no-untyped-call]
                max_new_tokens=max(row.max_tokens for row in rows),
                do_sample=False,
                num_beams=1,
                pad_token_id=loaded.padding,
                eos_token_id=sorted(loaded.ends) or None,
            ),
            logits_processor=LogitsProcessorList([sampler.process]),
            stopping_criteria=StoppingCriteriaList([sampler.finished]),
        )


def _padded(
    rows: Sequence[AnswerRow], begun: Sequence[int], padding: int
) -> tuple[list[list[int]], list[list[int]]]:
    """Return tokens and mask, both of shape ``(rows, width)``.

    The ``begun`` tokens of each prompt, and what follows them, are padded on the left to the longest
    of their kind. Of a row that has ended already, one token is left.
    """
    prompts = [row.prompt if row.end == "open" else row.prompt[-1:] for row in rows]
    first = max(begun)
    rest = max(len(prompt) - n for prompt, n in zip(prompts, begun, strict=True))
    tokens, mask = [], []
    for prompt, n in zip(prompts, begun, strict=True):
        gap, second = first - n, rest - (len(prompt) - n)
        tokens.append([padding] * gap + [*prompt[:n]] + [padding] * second + [*prompt[n:]])
        mask.append([0] * gap + [1] * n + [0] * second + [1] * (len(prompt) - n))
    return tokens, mask
