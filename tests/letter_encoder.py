"""An encoder whose embeddings can be worked out by hand."""

from __future__ import annotations

import numpy as np

from pipeline.voting import consistency_scores


class LetterEncoder:
    """Embeds a text as its counts of a, b and c, and remembers what it was asked."""

    def __init__(self):
        self.asked = []

    async def encode(self, texts):
        self.asked += texts
        counts = np.array([[t.count(c) + 1e-3 for c in "abc"] for t in texts], np.float32)
        return counts / np.linalg.norm(counts, axis=1, keepdims=True)

    async def scores(self, candidates):
        return consistency_scores(await self.encode(candidates)).tolist()
