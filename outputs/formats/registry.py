"""The row formats by name."""

from __future__ import annotations

from collections.abc import Mapping

from outputs.formats.alpaca import Alpaca
from outputs.formats.axolotl import Axolotl
from outputs.formats.shape import RowFormat
from outputs.formats.sharegpt import ShareGPT
from outputs.formats.trl import Messages, PromptCompletion
from scenarios.errors import UsageError
from scenarios.spelling import suggestion

_ALL: tuple[RowFormat, ...] = (Messages(), PromptCompletion(), Alpaca(), ShareGPT(), Axolotl())
FORMATS: Mapping[str, RowFormat] = {row_format.name: row_format for row_format in _ALL}


def row_format(name: str) -> RowFormat:
    """Return the format of that name.

    Raises:
        UsageError: there is none.
    """
    if name not in FORMATS:
        raise UsageError(
            f"unknown row format {name!r}", suggestion(name, FORMATS, listing="formats")
        )
    return FORMATS[name]
