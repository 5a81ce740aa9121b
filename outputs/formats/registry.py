"""The row formats that ship, and those of plugins."""

from __future__ import annotations

from typing import Final

from outputs.formats.shape import RowFormat
from scenarios.extensions import ExtensionPoint

FORMATS: Final[ExtensionPoint[RowFormat]] = ExtensionPoint(
    "export format",
    RowFormat,
    {
        "messages": "outputs.formats.trl:MESSAGES",
        "prompt-completion": "outputs.formats.trl:PROMPT_COMPLETION",
        "alpaca": "outputs.formats.alpaca:FORMAT",
        "sharegpt": "outputs.formats.sharegpt:FORMAT",
        "axolotl": "outputs.formats.axolotl:FORMAT",
    },
)
"""Every row format by its name."""
