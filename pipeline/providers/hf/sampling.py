"""The next token of every answer of a batch, each by its own temperature, seed, schema and end.

An answer does not depend on what else is in its batch, except by the last digits of what the model
computes: every row draws from a generator of its own.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import torch

if TYPE_CHECKING:  # llguidance need not be installed
    from pipeline.providers.hf.schema import Constraint

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
    """What was written, the token that ends it included."""
    end: End = "open"
    reused: int = 0
    """Tokens of the prompt that had been computed before."""
    _rng: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self._rng = random.Random(self.seed)

    def choose(self, logits: torch.Tensor) -> int:
        """Return the next token by the numbers that the model gives, shape ``(vocabulary,)``."""
        if self.temperature <= 0.0:
            return int(logits.argmax())
        shares = torch.softmax(logits / self.temperature, dim=-1)
        if self.top_p >= 1.0:
            return _drawn(shares, self._rng.random())
        ordered, order = torch.sort(shares, descending=True, stable=True)
        before = torch.cumsum(ordered, dim=-1) - ordered
        return int(order[_drawn(ordered * (before < self.top_p), self._rng.random())])

    def add(self, token: int, ends: Collection[int]) -> None:
        """Write a token, and see whether it is the last."""
        self.tokens.append(token)
        if token in ends:
            self.end = "stop"
        elif self.constraint is not None and not self.constraint.take(token):
            self.end = "lost"
        elif len(self.tokens) >= self.max_tokens:
            self.end = "length"


def _drawn(weights: torch.Tensor, share: float) -> int:
    """Return the index at which ``share`` of the weights, of all, lies before or at it."""
    sums = torch.cumsum(weights.double(), dim=-1)
    index = int(torch.searchsorted(sums, share * sums[-1], right=True))
    return min(index, int(weights.nonzero()[-1]))


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
        best = logits.max(dim=-1)
        unusable = torch.isnan(best.values).tolist()
        chosen: list[int] = best.indices.tolist()
        for i, row in enumerate(self._rows):
            if row.end != "open":
                continue
            if unusable[i]:
                row.end = "no number"
                continue
            if row.temperature > 0.0:
                chosen[i] = row.choose(logits[i])
            row.add(chosen[i], self._ends)
        only = torch.full_like(logits, -torch.inf)
        return only.scatter_(1, torch.tensor(chosen, device=only.device)[:, None], 0.0)

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
        logits = logits.clone() if held else logits
        for i, constraint in held:
            allowed = torch.from_numpy(constraint.allowed()).to(logits.device)
            logits[i].masked_fill_(~allowed, -torch.inf)
        return logits
