"""A move: what one annotator says about one answer of a cross-examination."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeVar, get_args

from scenarios.errors import UsageError
from scenarios.terms import LabelValue

L = TypeVar("L", bound=str)

Commitment = Literal["beneficial", "detrimental", "neutral", "none"]
Winner = Literal["witness", "questioner"]
Maxim = Literal["relevance", "manner", "quality"]
COMMITMENTS: Final[tuple[Commitment, ...]] = get_args(Commitment)
MAXIMS: Final[tuple[Maxim, ...]] = get_args(Maxim)
LABELLED: Final = ("commitment", *MAXIMS, "inconsistent", "outcome", "reasons")
"""The dimensions that a move is read from, as the scheme ``cobra`` calls them."""
QUALIFIED: Final = "cobra."
"""Before the dimensions of jurors in runs of another scheme."""
STORED_COMMITMENT: Final = (LABELLED[0], f"{QUALIFIED}{LABELLED[0]}")
"""The names under which commitments may be stored; without them there are no strategic metrics."""


@dataclass(frozen=True, slots=True)
class Move:
    """The labels of one answer; None where the annotator gave none."""

    commitment: Commitment | None = None
    relevance: int | None = None
    """How far the maxim is violated: 1 not at all, 4 strongly; likewise the next two."""
    manner: int | None = None
    quality: int | None = None
    inconsistent: bool | None = None
    winner: Winner | None = None
    reasons: frozenset[str] | None = None

    def rating(self, maxim: Maxim) -> int | None:
        """Return how far one maxim is violated."""
        return {"relevance": self.relevance, "manner": self.manner, "quality": self.quality}[maxim]


def read_move(labels: Mapping[str, LabelValue | None]) -> Move:
    """Return the move that the labels of one answer describe.

    Args:
        labels: by dimension of the scheme ``cobra``; what is not there is not known.

    Raises:
        UsageError: a label is none of its dimension.
    """
    inconsistent = _one_of(labels, "inconsistent", ("no", "yes"))
    reasons = labels.get("reasons")
    if reasons is not None and not isinstance(reasons, tuple):
        reasons = (str(reasons),)
    return Move(
        commitment=_one_of(labels, "commitment", COMMITMENTS),
        relevance=_rating(labels, "relevance"),
        manner=_rating(labels, "manner"),
        quality=_rating(labels, "quality"),
        inconsistent=None if inconsistent is None else inconsistent == "yes",
        winner=_one_of(labels, "outcome", get_args(Winner)),
        reasons=None if reasons is None else frozenset(reasons),
    )


def _one_of(
    labels: Mapping[str, LabelValue | None], dimension: str, known: tuple[L, ...]
) -> L | None:
    value = labels.get(dimension)
    if value is None:
        return None
    for label in known:
        if label == value:
            return label
    raise _unknown(dimension, value, known)


def _rating(labels: Mapping[str, LabelValue | None], maxim: Maxim) -> int | None:
    rating = _one_of(labels, maxim, ("1", "2", "3", "4"))
    return None if rating is None else int(rating)


def _unknown(dimension: str, value: object, known: tuple[str, ...]) -> UsageError:
    return UsageError(
        f"{value!r} is no label of {dimension!r}",
        f"the strategic metrics are computed from the labels {', '.join(known)}",
    )
