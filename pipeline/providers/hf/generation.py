"""Write the answers to many prompts in one batch, padded on the left."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import torch
from transformers import GenerationConfig, LogitsProcessorList, StoppingCriteriaList

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
    longest = max(len(row.prompt) for row in rows)
    padded = [[loaded.padding] * (longest - len(row.prompt)) + list(row.prompt) for row in rows]
    mask = [[0] * (longest - len(row.prompt)) + [1] * len(row.prompt) for row in rows]
    sampler = BatchSampler(rows, loaded.ends, clock)
    with torch.inference_mode():
        loaded.model.generate(
            input_ids=torch.tensor(padded, device=loaded.device),
            attention_mask=torch.tensor(mask, device=loaded.device),
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
