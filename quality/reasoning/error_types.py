"""Kinds of mistakes that raters find in a reasoning about payoffs, and their codes in forms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

ERROR_TYPES: Final[Mapping[str, str]] = {
    "pa": "payoff assignment",
    "rga": "risk/gain",
    "pc": "payoff comparison",
    "u": "unclassified",
}
"""Code in a form -> label of the scheme ``payoff_reasoning``."""
SEPARATOR: Final = "#"
"""Stands between several codes, and between several sentences."""
