"""Embeddings as arrays, for annotations: importing it imports numpy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
"""Of one text, of unit length, shape ``(dim,)``."""
Vectors = NDArray[np.float32]
"""One unit-length row per text, shape ``(texts, dim)``."""
