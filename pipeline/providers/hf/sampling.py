"""The next token of every answer of a batch, each by its own temperature, seed, schema and end.

An answer does not depend on what else is in its batch, except by the last digits of what the model
computes: every row draws from a generator of its own.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
import torch

if TYPE_CHECKING:  # llguidance need not be installed
    from pipeline.providers.hf.schema import Constraint

_COLDEST = 1e-5
"""Temperature at which the likeliest token has all shares, and below which numbers overflow."""
_WORD = 32
"""Tokens to a number of those that say which may come next."""
End = Literal["open", "stop", "length", "late", "abandoned", "no number", "lost"]
"""How far an answer is: ``late``: its time is over; ``abandoned``: nobody waits for it;
``no number``: the model computes nothing that could be compared; ``lost``: it cannot be followed."""


@dataclass(slots=True)
class AnswerRow:
    """One answer while it is written."""

    prompt: Sequence[int]
    max_tokens: int
    temperature: float
    top_p: float
    seed: int
    timeout_s: float
    """Seconds that writing it may take, from when its batch begins."""
    abandoned: Callable[[], bool]
    constraint: Constraint | None = None
    tokens: list[int] = field(default_factory=list)
    """What was written, the token that ends it included; after a schema none is needed."""
    end: End = "open"
    reused: int = 0
    """Tokens of the prompt that had been computed before."""
    _rng: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self._rng = random.Random(self.seed)

    def draw(self) -> float:
        """Return where in [0, 1) of all shares the next token lies."""
        return self._rng.random()

    def add(self, token: int, ends: Collection[int]) -> None:
        """Write a token, and see whether it is the last."""
        self.tokens.append(token)
        if token in ends:
            self.end = "stop"
        elif self.constraint is not None and not self.constraint.take(token):
            self.end = "lost"
        elif self.constraint is not None and self.constraint.is_complete():
            self.end = "stop"  # also where no token ends an answer
        elif len(self.tokens) >= self.max_tokens:
            self.end = "length"


def _drawn(shares: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """Return of each row the index at which ``places``, of all its shares, lies; never one without.

    Args:
        shares: shape ``(rows, vocabulary)``, of any sum.
        places: in [0, 1), shape ``(rows,)``.
    """
    sums = torch.cumsum(shares.to(places.dtype), dim=-1)
    whole = sums[:, -1]
    # A place may be rounded up to the whole: then the last token that has a share is meant.
    wanted = torch.minimum(places * whole, torch.nextafter(whole, torch.zeros_like(whole)))
    found = torch.searchsorted(sums, wanted[:, None], right=True)[:, 0]
    return found.clamp(max=shares.shape[1] - 1)  # shares that are no numbers lie nowhere


class BatchSampler:
    """Chooses the tokens of a batch; stands in ``generate`` as a logits processor and as a criterion.

    ``generate`` searches greedily: of what this hands back, each row has one token alone.
    """

    def __init__(
        self, rows: Sequence[AnswerRow], ends: Collection[int], clock: Callable[[], float]
    ) -> None:
        """Write ``rows``, which end with any of the tokens ``ends``."""
        self._rows = rows
        self._ends = ends
        self._clock = clock
        self._began = clock()

    def process(self, _: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Return ``scores``, shape ``(rows, vocabulary)``, with all but the chosen tokens ruled out."""
        logits = self._within_schemas(scores.float())
        chosen = self._chosen(logits)
        only = torch.full_like(logits, -torch.inf).scatter_(1, chosen[:, None], 0.0)
        best = logits.amax(dim=-1)
        unusable = torch.isnan(best) | (best == torch.inf)
        # All rows together: each by itself would wait for the GPU anew.
        tokens: list[int] = torch.where(unusable, -1, chosen).tolist()
        for row, token in zip(self._rows, tokens, strict=True):
            if row.end != "open":
                continue
            if token < 0:
                row.end = "no number"
            else:
                row.add(token, self._ends)
        return only

    def _chosen(self, logits: torch.Tensor) -> torch.Tensor:
        """Return the next token of each row, shape ``(rows,)``: the likeliest, or one that is drawn."""
        chosen = logits.argmax(dim=-1)
        drawing = [
            (i, row)
            for i, row in enumerate(self._rows)
            if row.end == "open" and row.temperature > _COLDEST
        ]
        for whole in (True, False):  # what draws from all tokens needs no order of them
            some = [(i, row) for i, row in drawing if (row.top_p >= 1.0) is whole]
            if some:
                at = torch.tensor([i for i, _ in some], device=logits.device)
                drawn = _drawn_of([row for _, row in some], logits[at], whole=whole)
                chosen = chosen.index_copy(0, at, drawn)
        return chosen

    def finished(self, tokens: torch.Tensor, _: object, **__: object) -> torch.Tensor:
        """Return which rows are done, shape ``(rows,)``."""
        taken_s = self._clock() - self._began
        for row in self._rows:
            if row.end == "open" and row.abandoned():
                row.end = "abandoned"
            elif row.end == "open" and taken_s > row.timeout_s:
                row.end = "late"
        done = [row.end != "open" for row in self._rows]
        return torch.tensor(done, device=tokens.device)

    def _within_schemas(self, logits: torch.Tensor) -> torch.Tensor:
        """Rule out what no schema allows next."""
        held = [
            (i, row.constraint)
            for i, row in enumerate(self._rows)
            if row.constraint is not None and row.end == "open"
        ]
        if not held:
            return logits
        words = np.full((len(self._rows), -(-logits.shape[1] // _WORD)), -1, dtype=np.int32)
        held[0][1].write_allowed(held, words)
        bits = torch.arange(_WORD, dtype=torch.int32, device=logits.device)
        allowed = (torch.from_numpy(words).to(logits.device)[:, :, None] >> bits) & 1
        ruled_out = allowed.flatten(1)[:, : logits.shape[1]] == 0
        return logits.masked_fill(ruled_out, -torch.inf)


def _drawn_of(rows: Sequence[AnswerRow], logits: torch.Tensor, *, whole: bool) -> torch.Tensor:
    """Draw the next token of each row.

    Args:
        rows: which draw.
        logits: what the model gives for them, shape ``(rows, vocabulary)``.
        whole: whether they draw from all tokens, not from those alone that make up ``top_p``.
    """
    # Apple's GPUs know no numbers of 64 bits.
    precise = torch.float32 if logits.device.type == "mps" else torch.float64
    temperatures, top_ps, places = (
        torch.tensor(numbers, dtype=precise, device=logits.device)
        for numbers in zip(*((row.temperature, row.top_p, row.draw()) for row in rows), strict=True)
    )
    shares = torch.softmax(logits / temperatures.float()[:, None], dim=-1)
    if whole:
        return _drawn(shares, places)
    ordered, order = torch.sort(shares, dim=-1, descending=True, stable=True)
    before = torch.cumsum(ordered, dim=-1) - ordered
    kept = before < top_ps.float()[:, None]
    kept[:, 0] = True  # also where top-p is less than float32 can tell from 0
    drawn = _drawn(ordered * kept, places)
    return order.gather(1, drawn[:, None])[:, 0]
