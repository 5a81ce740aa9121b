"""The splits of a data set, and what share of its dialogues each gets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from scenarios.errors import UsageError

Split = Literal["train", "validation", "test"]
SPLITS: tuple[Split, ...] = get_args(Split)
SplitBy = Literal["scenario", "fact", "dialogue"]
Fractions = tuple[float, float, float]
"""Of train, validation and test."""


def checked_fractions(values: Sequence[float]) -> Fractions:
    """Return the shares of train, validation and test, made to sum to 1.

    Raises:
        UsageError: not three numbers of which none is negative and one is positive.
    """
    total = sum(values)
    if len(values) != len(SPLITS) or min(values) < 0 or not 0 < total < float("inf"):
        raise UsageError(
            f"shares {', '.join(f'{v:g}' for v in values)}: three numbers are needed, none below 0",
            "for example 80,10,10; a share of 0 leaves the split out",
        )
    train, validation, test = (value / total for value in values)
    return train, validation, test
