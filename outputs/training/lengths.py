"""How long rows are in tokens, and which of them a model can learn from without losing a word."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from math import ceil

from outputs.training.training_set import Conversation, TrainingRow
from scenarios.errors import UsageError
from scenarios.plural import plural

CountTokens = Callable[[Sequence[Conversation]], Sequence[int]]
"""Returns how many tokens each of some whole conversations has, as the model would read it."""
_BATCH = 256
QUANTILES = (0.5, 0.9, 0.99)


@dataclass(frozen=True, slots=True)
class LengthPlan:
    """Which rows of a split are learnt from, by their length."""

    limit: int
    """Tokens that a row may have: the model's window, or less where that was asked for."""
    lengths: tuple[int, ...]
    """Of every row, in the order of the file: its prompt with the longest of its answers."""

    @property
    def kept(self) -> tuple[int, ...]:
        """The numbers of the rows, from 0, that fit as a whole."""
        return tuple(i for i, length in enumerate(self.lengths) if length <= self.limit)

    @property
    def left_out(self) -> int:
        """How many rows do not fit: of these the answer, which comes last, would be cut."""
        return sum(length > self.limit for length in self.lengths)

    @property
    def longest_kept(self) -> int:
        """Tokens of the longest row that fits; 0 where none does."""
        return max((n for n in self.lengths if n <= self.limit), default=0)

    def quantile(self, share: float) -> int:
        """Return the length that this share of all rows does not exceed."""
        ordered = sorted(self.lengths)
        return ordered[max(0, ceil(share * len(ordered)) - 1)] if ordered else 0

    def told(self, split: str) -> list[str]:
        """Say how long the rows are, and how many are left out."""
        if not self.lengths:
            return []
        spread = ", ".join(f"{100 * q:g}% have at most {self.quantile(q):,}" for q in QUANTILES)
        lines = [f"{split}: {plural(len(self.lengths), 'row')}; of tokens {spread}, the longest {max(self.lengths):,}"]  # fmt: skip
        if self.left_out:
            lines.append(
                f"{split}: {self.left_out:,} of {len(self.lengths):,} rows are left out: they have "
                f"more than {self.limit:,} tokens, and their answer would be cut"
            )
        return lines


def plan_lengths(rows: Iterable[TrainingRow], count: CountTokens, limit: int) -> LengthPlan:
    """Count the tokens of every row, each with the longest of its answers.

    Args:
        rows: of one split.
        count: counts the tokens of conversations.
        limit: tokens that a row may have.
    """
    lengths: list[int] = []
    remaining = iter(rows)
    while batch := list(islice(remaining, _BATCH)):
        spans = [len(row.answers) for row in batch]
        counted = iter(
            count([row.conversation(place) for row in batch for place in range(len(row.answers))])
        )
        lengths += [max(islice(counted, span)) for span in spans]
    return LengthPlan(limit, tuple(lengths))


def length_limit(window: int | None, asked: int | None) -> int:
    """Return how many tokens a row may have.

    Args:
        window: of the model; None where it does not say.
        asked: what the user set; None: as many as the model takes.

    Raises:
        UsageError: more was asked for than the model can read.
    """
    if asked is None:
        return window if window is not None else 1 << 20
    if window is not None and asked > window:
        raise UsageError(
            f"--max-length {asked} is more than the {window} tokens that the base reads",
            f"give at most {window}, or leave it out",
        )
    return asked


def check_something_left(plan: LengthPlan, *, asked: int | None) -> None:
    """Do nothing where some rows of the training split can be learnt from.

    Raises:
        UsageError: there is none, or none fits.
    """
    if not plan.lengths:
        raise UsageError("the training split holds no row", "export a set with rows to learn")
    if not plan.kept:
        raise UsageError(
            f"none of the {len(plan.lengths):,} training rows fits into {plan.limit:,} tokens: "
            f"the shortest has {min(plan.lengths):,}, and of a longer one the answer would be cut",
            "choose a base with a larger window"
            if asked is None
            else "raise --max-length, or choose a base with a larger window",
        )
