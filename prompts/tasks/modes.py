"""The ways in which a task can be asked."""

from __future__ import annotations

from typing import Final, Literal, get_args

Mode = Literal["zero-shot", "cot", "icl", "two-phase"]
MODES: Final[tuple[Mode, ...]] = get_args(Mode)
"""Labels at once; a reason before each label; after worked examples; explained first, then chosen."""
