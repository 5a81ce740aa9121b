"""The fallback for labels the judge has no rules for: which label's text is most like the words.

A label is known by its name, definition and example. Each of their words counts by how few other
labels share it. Where no word is shared, nothing speaks for any label.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache

from scenarios.wording import content_stems


def scores(text: str, labels: Mapping[str, str]) -> dict[str, float]:
    """Return how much of each label's words, weighted by rarity, an utterance shares."""
    said = content_stems(text)
    weights = _weights(tuple(labels.items()))
    return {
        label: sum(weight for word, weight in known.items() if word in said)
        / (1.0 + math.sqrt(len(known)))
        for label, known in weights.items()
    }


@lru_cache(maxsize=64)
def _weights(labels: tuple[tuple[str, str], ...]) -> dict[str, dict[str, float]]:
    known = {label: content_stems(f"{label} {text}") for label, text in labels}
    held = Counter(word for stems in known.values() for word in stems)
    return {
        label: {word: math.log(1 + len(labels) / held[word]) for word in stems}
        for label, stems in known.items()
    }
