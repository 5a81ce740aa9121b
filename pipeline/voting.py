"""Consistency-guided voting: of K utterances, elect the one nearest their centroid."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    import torch
    from numpy.typing import NDArray

    from pipeline.vectors import Vectors


class Encoder(Protocol):
    """Anything that turns texts into unit vectors."""

    async def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one unit-length row per text, shape ``(len(texts), dim)``."""

    async def scores(self, candidates: Sequence[str]) -> list[float]:
        """Return what :func:`consistency_scores` gives each of two candidates or more."""


@dataclass(frozen=True, slots=True)
class Vote:
    """The outcome of one vote: every candidate's score, and who won."""

    scores: tuple[float | None, ...]
    """By candidate, in [-1, 1]; None for one that had no text."""
    winner: int


def consistency_scores(vectors: Vectors) -> NDArray[np.float64]:
    """Score each candidate by its mean cosine similarity to the others.

    With unit rows ``x_i`` and ``S = sum_j x_j`` the mean over ``j != i`` of ``x_i . x_j`` is
    ``(x_i . S - x_i . x_i) / (K - 1)``: nearest the centroid wins, in O(K d) instead of O(K^2 d).

    Args:
        vectors: unit-length embeddings of the candidates of any number of votes, shape
            ``(..., K, d)``, ``K >= 2``.

    Returns:
        Scores in ``[-1, 1]``, shape ``(..., K)``, rounded to 1e-6 so that the batch an embedding was
        computed in cannot change the winner.

    Raises:
        ValueError: fewer than two candidates.

    Source: HIPO, section 4.4.1 (3).
    """
    k = vectors.shape[-2]
    if k < 2:
        raise ValueError(f"voting needs at least 2 candidates, got {k}")
    import numpy as np  # noqa: PLC0415 - slow to import, and most runs do not vote

    x = vectors.astype(np.float64)
    # Single and half precision leave rows a little off unit length: make them exact first.
    x /= np.linalg.norm(x, axis=-1, keepdims=True)
    to_all = (x @ x.sum(axis=-2)[..., None])[..., 0]
    scores: NDArray[np.float64] = np.round((to_all - 1.0) / (k - 1), 6)
    return scores


def scores_on_device(rows: torch.Tensor, votes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return what :func:`consistency_scores` does, computed where the embeddings lie, e.g. on a GPU.

    Args:
        rows: unit-length embeddings, shape ``(texts, d)``.
        votes: the rows of the candidates of each vote, shape ``(votes, K)``.

    Returns:
        Scores, shape ``(votes, K)``.
    """
    import numpy as np  # noqa: PLC0415
    import torch  # noqa: PLC0415 - takes seconds; whoever has such rows has imported it

    x = rows[torch.from_numpy(votes).to(rows.device)]
    x = torch.nn.functional.normalize(x if rows.device.type == "mps" else x.double(), dim=-1)
    to_all = (x @ x.sum(dim=-2)[..., None])[..., 0]
    scores: NDArray[np.float64] = np.round(
        (to_all.double().cpu().numpy() - 1.0) / (votes.shape[1] - 1), 6
    )
    return scores


async def vote(
    candidates: Sequence[str | None], encoder: Encoder, passed_over: Collection[int] = ()
) -> Vote:
    """Elect the most consistent candidate; ties go to the first.

    Args:
        candidates: their texts; those that are None get no score and do not count in the scores
            of the others.
        encoder: embeds them.
        passed_over: candidates that have a score and count in those of the others, but are elected
            only if there are no others.

    Raises:
        ValueError: fewer than two candidates have a text.
    """
    taking_part = [i for i, text in enumerate(candidates) if text is not None]
    if len(taking_part) < 2:
        raise ValueError(f"voting needs at least 2 candidates, got {len(taking_part)}")
    texts = [text for text in candidates if text is not None]
    by_candidate: list[float | None] = [None] * len(candidates)
    for i, score in zip(taking_part, await encoder.scores(texts), strict=True):
        by_candidate[i] = score
    eligible = [i for i in taking_part if i not in passed_over] or taking_part
    winner = max(eligible, key=lambda i: (by_candidate[i], -i))
    return Vote(scores=tuple(by_candidate), winner=winner)
