"""Measure how varied utterances are: distinct n-grams, self-BLEU, spread of embeddings."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import exp, log

import numpy as np

from pipeline.vectors import Vectors
from pipeline.voting import Encoder
from scenarios.wording import words

LONGEST = 4
"""Words of the longest n-grams that self-BLEU compares."""
CHUNK = 256
"""Texts that are embedded at a time."""

Tokens = Sequence[str]
Gram = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Diversity:
    """Measures of a sample; None where it is too small or, for ``spread``, nothing embeds."""

    texts: int
    distinct: tuple[float | None, float | None, float | None]
    """Share of different n-grams among all, for n = 1, 2, 3: 1 means that none is repeated."""
    repeated: float | None
    """Share of texts that occur more than once in the sample, word by word."""
    self_bleu: float | None
    """0: nothing in common; 1: every text repeats others."""
    spread: float | None
    """Mean cosine distance between two embedded texts, in [0, 2]: 0 means that all say the same."""
    elsewhere: float | None = None
    """Share of texts that another arm says in the same case; None: nobody looked."""


async def measure(texts: Sequence[str], encoder: Encoder | None = None) -> Diversity:
    """Measure a sample of texts; samples compare only where they are of a similar size.

    Args:
        texts: what was said.
        encoder: embeds the texts; without one ``spread`` is None.
    """
    tokens = [words(text) for text in texts]
    spread = None
    if encoder is not None and len(texts) > 1:
        chunks = [
            await encoder.encode(texts[start : start + CHUNK])
            for start in range(0, len(texts), CHUNK)
        ]
        spread = embedding_spread(np.concatenate(chunks))
    return Diversity(
        texts=len(texts),
        distinct=(distinct_n(tokens, 1), distinct_n(tokens, 2), distinct_n(tokens, 3)),
        repeated=repeated_share(tokens),
        self_bleu=self_bleu(tokens),
        spread=spread,
    )


def distinct_n(texts: Iterable[Tokens], n: int) -> float | None:
    """Return the share of different n-grams among all n-grams; None where there are none.

    Source: Li et al. 2016, A diversity-promoting objective function (distinct-1, distinct-2).
    """
    counts = Counter(gram for tokens in texts for gram in _grams(tokens, n))
    total = counts.total()
    return len(counts) / total if total else None


def repeated_share(texts: Sequence[Tokens]) -> float | None:
    """Return the share of texts whose words, in their order, are those of another text."""
    counts = Counter(tuple(tokens) for tokens in texts)
    return sum(n for n in counts.values() if n > 1) / len(texts) if texts else None


def self_bleu(texts: Sequence[Tokens]) -> float | None:
    """Return the mean BLEU of each text against all others; None for fewer than two texts.

    Precisions that are zero are smoothed by ``1 / (2 n-grams)``, and n-grams longer than a text do
    not count for it. How often an n-gram occurs in the other texts at most is known from its two
    highest counts, which makes this linear in the number of words.

    Args:
        texts: tokens of each text; empty ones are left out.

    Source: Zhu et al. 2018, Texygen (self-BLEU); Papineni et al. 2002 (BLEU).
    """
    texts = [tokens for tokens in texts if tokens]
    if len(texts) < 2:
        return None
    counts = [[Counter(_grams(t, n)) for n in range(1, LONGEST + 1)] for t in texts]
    highest = _two_highest(counts, LONGEST)
    lengths = Counter(map(len, texts))
    scores = [
        _bleu(own, highest, number, len(texts[number]), lengths)
        for number, own in enumerate(counts)
    ]
    return sum(scores) / len(scores)


def embedding_spread(vectors: Vectors) -> float | None:
    """Return the mean cosine distance over all pairs of rows; None for fewer than two.

    With unit rows and ``S`` their sum, the mean similarity of pairs is ``(S . S - sum x . x) /
    (n (n - 1))``.

    Args:
        vectors: unit rows, shape ``(n, dim)``.
    """
    n = len(vectors)
    if n < 2:
        return None
    x = vectors.astype(np.float64)
    total = x.sum(axis=0)
    similarity = (total @ total - np.einsum("ij,ij->", x, x)) / (n * (n - 1))
    return float(1.0 - similarity)


def _grams(tokens: Tokens, n: int) -> Iterator[Gram]:
    return (tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


_Highest = list[dict[Gram, list[tuple[int, int]]]]
"""By length: n-gram -> its two highest (count, number of the text), from different texts."""


def _two_highest(counts: Sequence[Sequence[Counter[Gram]]], longest: int) -> _Highest:
    highest: _Highest = [defaultdict(list) for _ in range(longest)]
    for number, own in enumerate(counts):
        for n in range(longest):
            for gram, count in own[n].items():
                best = highest[n][gram]
                best.append((count, number))
                if len(best) > 2:
                    best.sort(reverse=True)
                    best.pop()
    return highest


def _bleu(
    own: Sequence[Counter[Gram]],
    highest: _Highest,
    number: int,
    length: int,
    lengths: Counter[int],
) -> float:
    """Return the BLEU of one text, all others being references."""
    logs = []
    for n, grams in enumerate(own):
        total = grams.total()
        if not total:
            break
        hits = sum(
            min(count, max((c for c, text in highest[n][gram] if text != number), default=0))
            for gram, count in grams.items()
        )
        logs.append(log(max(hits, 0.5) / total))
    others = (other for other, n in lengths.items() if n > (other == length))
    nearest = min(others, key=lambda other: (abs(other - length), other))
    penalty = min(0.0, 1.0 - nearest / length)
    return exp(penalty + sum(logs) / len(logs))
