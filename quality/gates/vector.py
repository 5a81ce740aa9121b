"""The meaning of a text as an array, for annotations: importing it imports numpy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
"""Of unit length, shape ``(dim,)``."""
