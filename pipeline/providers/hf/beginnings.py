"""How the prompts of a batch begin, computed: what several share once, what differs side by side.

Only beginnings of one length are computed together, so that nothing is padded: every model takes
them, and of blocks of 64 tokens many are as long as each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from transformers import DynamicCache

from pipeline.providers.hf.loading import LoadedModel, is_out_of_memory
from pipeline.providers.hf.prefixes import BLOCK, Blocks, forward, pages_of

if TYPE_CHECKING:
    from pipeline.providers.hf.sampling import AnswerRow


@dataclass(slots=True)
class _Begun:
    """How far the beginning of one prompt is."""

    row: AnswerRow
    pages: list[tuple[int, ...]]
    path: list[int]
    """For each page a number that stands for it and all before it."""
    blocks: Blocks

    def is_open(self) -> bool:
        """Return whether there is more to compute that somebody waits for."""
        if self.row.end == "open" and self.row.abandoned():  # many prompts take their time
            self.row.end = "abandoned"
        return self.row.end == "open" and len(self.blocks) < len(self.path)


@dataclass(frozen=True, slots=True)
class _Shared:
    """Pages that the same prompts go on with, none of them computed yet."""

    prompts: list[_Begun]
    length: int

    def pages(self) -> list[int]:
        """Return the tokens."""
        first = self.prompts[0]
        begin = len(first.blocks)
        return [token for page in first.pages[begin : begin + self.length] for token in page]

    def take(self, computed: Blocks) -> None:
        """Add what was computed to all prompts; for all but the first it is there already."""
        for place, prompt in enumerate(self.prompts):
            prompt.blocks = [*prompt.blocks, *computed]
            prompt.row.reused += len(computed) * BLOCK if place else 0


def beginnings(loaded: LoadedModel, rows: Sequence[AnswerRow]) -> list[Blocks]:
    """Return the blocks of each prompt, none for one that has ended; what is new is remembered.

    Raises:
        RuntimeError: the memory is not enough, among others.
    """
    pool = loaded.prefixes
    if pool is None:
        return [[] for _ in rows]
    numbers: dict[tuple[int, tuple[int, ...]], int] = {}
    prompts = []
    for row in rows:
        prompt = _Begun(row, pages_of(row.prompt), [], pool.found(row.prompt))
        before = 0
        for page in prompt.pages:
            before = numbers.setdefault((before, page), len(numbers) + 1)
            prompt.path.append(before)
        row.reused = len(prompt.blocks) * BLOCK
        prompts.append(prompt)
    while left := [prompt for prompt in prompts if prompt.is_open()]:
        together = _side_by_side(left, pool.at_once)
        try:
            computed = _computed(loaded.model, together)
        except (MemoryError, RuntimeError) as error:
            if len(together) == 1 or not is_out_of_memory(error):
                raise
            pool.at_once = _tokens(together) // 2  # answers may fit as many together as before
            continue
        for shared, blocks in zip(together, computed, strict=True):
            shared.take(blocks)
    for prompt in prompts:
        pool.keep(prompt.row.prompt, prompt.blocks)
    return [prompt.blocks if prompt.row.end == "open" else [] for prompt in prompts]


def _side_by_side(left: Sequence[_Begun], most: int) -> list[_Shared]:
    """Choose what is computed next: of those that are least far, pages of one length."""
    depth = min(len(prompt.blocks) for prompt in left)
    by_page: dict[int, list[_Begun]] = {}
    for prompt in left:
        if len(prompt.blocks) == depth:
            by_page.setdefault(prompt.path[depth], []).append(prompt)
    shared = [_Shared(prompts, _common(prompts, depth)) for prompts in by_page.values()]
    same = [one for one in shared if one.length == shared[0].length]
    return same[: max(1, most // _tokens(same[:1]))]


def _tokens(together: Sequence[_Shared]) -> int:
    """Return how many tokens are in memory when pages are computed, those before them included."""
    first = together[0]
    return len(together) * (len(first.prompts[0].blocks) + first.length) * BLOCK


def _common(prompts: Sequence[_Begun], depth: int) -> int:
    """Return how many pages after ``depth`` are the same in all prompts."""
    paths = zip(*(prompt.path[depth:] for prompt in prompts), strict=False)
    return next((n for n, same in enumerate(paths) if len(set(same)) > 1), None) or min(
        len(prompt.path) - depth for prompt in prompts
    )


def _computed(model: Any, together: Sequence[_Shared]) -> list[Blocks]:
    """Return the blocks of pages of one length, which come after as many others."""
    before = [shared.prompts[0].blocks for shared in together]
    cache = joined(model, before) if before[0] else DynamicCache(config=model.config)
    forward(model, [shared.pages() for shared in together], cache)
    begin = len(before[0]) * BLOCK
    layers: list[Any] = cache.layers
    computed = torch.stack(
        [torch.stack((layer.keys[:, :, begin:], layer.values[:, :, begin:])) for layer in layers]
    )
    # Copies, so that forgetting one block frees its memory.
    return [
        [part.clone() for part in torch.split(computed[:, :, row], BLOCK, dim=3)]
        for row in range(len(together))
    ]


def joined(model: Any, rows: Sequence[Blocks]) -> DynamicCache:
    """Return the blocks of several prompts, one at least, side by side, shorter ones padded on the left."""
    longest = max(len(blocks) for blocks in rows) * BLOCK
    first = next(blocks[0] for blocks in rows if blocks)
    layers, _, heads, _, size = first.shape
    cache = DynamicCache(config=model.config)
    for layer in range(layers):
        both = first.new_zeros((2, len(rows), heads, longest, size))
        for row, blocks in enumerate(rows):
            if blocks:
                begin = longest - len(blocks) * BLOCK
                torch.cat([block[layer] for block in blocks], dim=2, out=both[:, row, :, begin:])
        cache.update(both[0], both[1], layer)
    return cache
