"""What people are shown of an item beside the replies to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import orjson
from pydantic import BaseModel, ConfigDict, Field

from scenarios.atomic_files import new_file
from scenarios.json_lines import json_lines
from scenarios.located import Located
from scenarios.located_validation import validate_model

ITEMS: Final = "items.jsonl"
"""The file of items in the folder of an evaluation."""


class ShownItem(BaseModel):
    """One item as a person can read it, whatever of it a task shows to models."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    item: str = Field(min_length=1)
    """As in the rows of results."""
    situation: str = ""
    lines: tuple[tuple[str, str], ...]
    """Who spoke, and what was said, up to the utterance in question; of a dialogue, all of it."""
    target: int | None = None
    """Place of the utterance in question; None: it is about the whole dialogue."""
    fact: str = ""
    """What only the responder knows, where that is known; models see it where their task shows it."""
    language: str = "en"
    canary: str = ""
    """Of an item that nobody may learn from: the string that tells whether a corpus has it."""


def item_line(item: ShownItem) -> bytes:
    """Return an item as a line of JSON."""
    left_out = None if item.canary else {"canary"}
    return orjson.dumps(item.model_dump(mode="json", exclude=left_out)) + b"\n"


def write_items(folder: Path, items: Iterable[ShownItem]) -> None:
    """Write the items of an evaluation into its folder.

    Raises:
        UsageError: the folder cannot be written to.
    """
    with new_file(folder / ITEMS) as file:
        file.writelines(map(item_line, items))


def read_items(folder: Path) -> Iterator[ShownItem]:
    """Yield the items of an evaluation, in the order of the file.

    Raises:
        InputError: there is no such file, or a line of it is no item.
    """
    file = folder / ITEMS
    for number, data in json_lines(file, "give a folder that hipo evaluate wrote to with -o"):
        yield validate_model(ShownItem, Located(data, str(file), {(): number}))
