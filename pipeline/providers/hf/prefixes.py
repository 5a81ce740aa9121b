"""Keys and values of what prompts begin with: computed once, kept in blocks, taken by every prompt.

The prompts of a run begin alike: the definitions of a scheme, a role in one scenario, the turns so
far. What a causal model computes of a token depends on the tokens before it alone, so that of equal
beginnings it has to be computed once. A block is 64 tokens of one prompt after one beginning. This is
what vLLM calls automatic prefix caching (Kwon et al. 2023, section 4.4: shared prefix).
"""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Final

import torch
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

from pipeline.providers.hf.beside import CACHE, passes_over_gaps, ropes

BLOCK: Final = 64
"""Tokens of a block: what is not enough for one is computed with the answer."""
AT_ONCE: Final = 32_768
"""Tokens of new prompts that are computed together, those before them included: a GPU is busy."""
AT_ONCE_ON_A_CPU: Final = 2_048
_ROOT: Final = 0
_CHANGING_ROPE: Final = frozenset({"dynamic", "longrope"})
"""Positions that are turned by how long the whole prompt is: no beginning fits two lengths."""

Blocks = list[torch.Tensor]
"""The blocks of one prompt, each of shape ``(layers, 2, heads, 64, size of a head)``: keys, values."""


class PrefixPool:
    """The blocks that prompts had lately, as many as fit into a number of bytes; one thread's.

    A block is found by the block before it and its tokens. What has not been used for longest is
    forgotten first, of one prompt its end before its beginning.
    """

    def __init__(self, most_bytes: int, at_once: int = AT_ONCE) -> None:
        """Keep ``most_bytes``; of prompts that are new, compute ``at_once`` tokens together."""
        self._most_bytes = most_bytes
        self.at_once = at_once
        self._blocks: OrderedDict[tuple[int, tuple[int, ...]], tuple[int, torch.Tensor]] = (
            OrderedDict()
        )
        self._numbers = itertools.count(_ROOT + 1)
        self.bytes = 0

    def __len__(self) -> int:
        """Return how many blocks are kept."""
        return len(self._blocks)

    def found(self, tokens: Sequence[int]) -> Blocks:
        """Return the blocks that are known of how ``tokens`` begin."""
        before, blocks = _ROOT, []
        for key in pages_of(tokens):
            known = self._blocks.get((before, key))
            if known is None:
                break
            before = known[0]
            blocks.append(known[1])
        return blocks

    def keep(self, tokens: Sequence[int], blocks: Blocks) -> None:
        """Remember the blocks that ``tokens`` begin with, as those that were used last."""
        before, path = _ROOT, []
        for page, block in zip(pages_of(tokens), blocks, strict=False):
            key = (before, page)
            if key not in self._blocks:
                self._blocks[key] = (next(self._numbers), block)
                self.bytes += block.nbytes
            before = self._blocks[key][0]
            path.append(key)
        for key in reversed(path):
            self._blocks.move_to_end(key)
        while self.bytes > self._most_bytes:
            _, (_, block) = self._blocks.popitem(last=False)
            self.bytes -= block.nbytes

    def clear(self) -> None:
        """Forget everything."""
        self._blocks.clear()
        self.bytes = 0


def pages_of(tokens: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the tokens of each whole block; the last token is in none: the answer begins with it."""
    whole = (len(tokens) - 1) // BLOCK
    return [tuple(tokens[i * BLOCK : (i + 1) * BLOCK]) for i in range(whole)]


def can_reuse(model: Any) -> bool:
    """Return whether what a model computes of a beginning can be put before other endings: tried.

    That is so where every layer keeps keys and values, of one shape, of every token. It is not with
    sliding windows (what left them is gone), states (Mamba, linear attention) and learnt prefixes (of
    PEFT). And padding between a beginning and what follows it must not count as distance.
    """
    config = model.config.get_text_config()
    if any(rope.get("rope_type") in _CHANGING_ROPE for rope in ropes(model)):
        return False
    if any(tuned.is_prompt_learning for tuned in getattr(model, "peft_config", {}).values()):
        return False
    cache = DynamicCache(config=config)
    layers: list[Any] = cache.layers
    if any(type(layer) is not DynamicLayer for layer in layers):
        return False
    beginning = [0, 1, 2]
    try:
        with torch.inference_mode():
            forward(model, [beginning], cache)
    except (TypeError, ValueError, RuntimeError):
        return False
    kept = [x for layer in layers for x in (layer.keys, layer.values)]
    if any(x is None or x.shape != kept[0].shape or x.shape[2] != len(beginning) for x in kept):
        return False
    return passes_over_gaps(model, cache, beginning)


def forward(model: Any, rows: Sequence[Sequence[int]], cache: DynamicCache) -> None:
    """Add to ``cache`` what a model computes of as many tokens in each row, after those it holds."""
    new = torch.tensor(rows, device=model.device)
    model(input_ids=new, **{CACHE: cache}, use_cache=True, logits_to_keep=1)
