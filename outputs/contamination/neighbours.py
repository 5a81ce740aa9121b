"""Nearest neighbours of the rows of one set among those of another, by sentence embedding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.chunks import chunks
from pipeline.embeddings.embeddings import Embed

Vectors = NDArray[np.float32]

_BATCH = 256
_BLOCK = 1 << 15
_BINS = 2001
_KNOWN = 1 << 15
"""Texts that are remembered with what was found: rows of one dialogue often end alike."""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """How similar the nearest neighbours of the checked rows are: cosines, to three digits."""

    compared: int
    """Checked rows that have text of their own; the others have no neighbour."""
    threshold: float
    close: int
    """Rows whose nearest neighbour reaches the threshold."""
    median: float | None
    p90: float | None
    p99: float | None
    highest: float | None

    def summary(self) -> dict[str, object]:
        """Return it as plain data."""
        return asdict(self)


class Neighbourhood:
    """Holds the embeddings of a reference set, shape ``(rows, dim)``, and looks rows up in it.

    Memory holds the reference; of the rows that are looked up only a histogram is kept.
    """

    def __init__(self, reference: Iterable[str], embed: Embed, threshold: float) -> None:
        """Embed the reference; texts without words are left out."""
        self._embed, self._threshold = embed, threshold
        parts = [embed(batch) for _, batch in _batches(_distinct(reference))]
        self._reference: Vectors | None = np.concatenate(parts) if parts else None
        self._bins = np.zeros(_BINS, np.int64)
        self._known: dict[str, float] = {}
        """Cosines of the nearest neighbours of some texts that were looked up."""
        self.close: NDArray[np.int64] = np.empty(0, np.int64)
        """Numbers of the checked rows that reach the threshold, sorted."""

    def check(self, texts: Iterable[str]) -> None:
        """Look up the nearest neighbour of each text; texts without words are passed over."""
        if self._reference is None:
            return
        close: list[NDArray[np.int64]] = []
        for numbers, batch in _batches(texts):
            cosines = self._looked_up(batch, self._reference)
            at = np.rint((cosines + 1.0) * (_BINS - 1) / 2).astype(np.int64)
            self._bins += np.bincount(at, minlength=_BINS)
            close.append(numbers[cosines >= self._threshold])
        if close:
            self.close = np.concatenate(close)

    def result(self) -> Neighbours:
        """Return the distribution of what was found."""
        compared = int(self._bins.sum())
        below = np.cumsum(self._bins)

        def quantile(share: float) -> float | None:
            if not compared:
                return None
            at = int(np.searchsorted(below, np.ceil(share * compared)))
            return round(at * 2 / (_BINS - 1) - 1, 3)

        return Neighbours(
            compared=compared,
            threshold=self._threshold,
            close=len(self.close),
            median=quantile(0.5),
            p90=quantile(0.9),
            p99=quantile(0.99),
            highest=quantile(1.0),
        )

    def _looked_up(self, texts: Sequence[str], reference: Vectors) -> NDArray[np.float64]:
        """Return the cosine of each text's nearest neighbour; a text that comes again costs nothing."""
        if len(self._known) > _KNOWN:
            self._known.clear()
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            cosines = self._nearest(self._embed(new), reference)
            self._known.update(zip(new, cosines.tolist(), strict=True))
        return np.array([self._known[text] for text in texts])

    def _nearest(self, vectors: Vectors, reference: Vectors) -> NDArray[np.float64]:
        """Return the highest cosine of each row, rounded so that batches cannot change it."""
        best = np.full(len(vectors), -1.0)
        for start in range(0, len(reference), _BLOCK):
            cosines = vectors @ reference[start : start + _BLOCK].T
            best = np.maximum(best, cosines.max(axis=1))
        return np.clip(np.round(best, 5), -1.0, 1.0)


def _distinct(texts: Iterable[str]) -> Iterator[str]:
    """Yield each text once; a hash of it is remembered, which is little beside its embedding."""
    seen: set[int] = set()
    for text in texts:
        if (key := hash(text)) not in seen:
            seen.add(key)
            yield text


def _batches(texts: Iterable[str]) -> Iterator[tuple[NDArray[np.int64], list[str]]]:
    """Yield the texts that have words, in batches, with their numbers among all texts."""
    numbered = ((number, text) for number, text in enumerate(texts) if text.strip())
    for batch in chunks(numbered, _BATCH):
        yield np.array([number for number, _ in batch], np.int64), [text for _, text in batch]
