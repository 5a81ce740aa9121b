"""The texts by which two data sets are compared: lines that people or models wrote."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

Row = Mapping[str, object]
"""One row of any data set, as plain data."""

OPTIONS: Final = "options_"
"""Begins the columns of benchmark items that hold the labels in the order they are listed."""
PROMPTS: Final = {"zero-shot": "messages", "cot": "messages_cot"}
"""The columns of benchmark items that hold what a model is sent, by mode."""
TARGET: Final = "target"
"""The column of benchmark items that holds the right answer to what a model is sent."""
_TAGS = re.compile(r"(?:[^\W\d_]{2,24}: )+")
"""Tags such as ``RESPONDER: `` and ``Utterance: ``: layout that differs between formats.

A line that begins so by itself (``Listen: ...``) is cut alike wherever it stands.
"""
_NAME = re.compile(r"(?=\S*\d)[!-~]+")
"""A hash, an id, a path or a number: no words, though their signs would count as some."""
_ANSWER_FORMAT = re.compile(r'"\w+": "<one of: [^"]*>",?')
"""The labels that a prompt lists, in an order that few rows have: a form, not what is said."""
_DEEPEST = 16


def row_lines(row: Row) -> list[str]:
    """Return every line of text in a row, in the order of its columns.

    Whatever the format (messages, prompt and completion, preference pairs, Alpaca, ShareGPT, or
    another's), each string counts, nested ones included. System messages do not: they are
    instructions, the same in every row; nor do the prompts of benchmark items, which say again
    what other columns say, nor ids and the lists of labels in prompts. Lines are taken apart so
    that no comparison depends on what a format puts between them.
    """
    own = {name: value for name, value in row.items() if not _is_prompt(row, name)}
    return [line for text in nested_texts(own) for line in _lines(text)]


def _is_prompt(row: Row, column: str) -> bool:
    if "aspect" not in row or "context" not in row:
        return False
    return column in (*PROMPTS.values(), TARGET) or column.startswith(OPTIONS)


def nested_texts(value: object, depth: int = 0) -> Iterator[str]:
    """Yield the texts of a value, nested ones included, system messages and roles left out."""
    if isinstance(value, str):
        yield value
    elif depth >= _DEEPEST:
        return
    elif isinstance(value, Mapping):
        if value.get("role", value.get("from")) == "system":
            return
        for key, item in value.items():
            if key not in ("system", "role", "from"):
                yield from nested_texts(item, depth + 1)
    elif isinstance(value, Sequence) and not isinstance(value, bytes):
        for item in value:
            yield from nested_texts(item, depth + 1)


def _lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        tag = _TAGS.match(line)
        bare = line[tag.end() :] if tag else line
        own = bare.strip()
        if own and not _NAME.fullmatch(own) and not _ANSWER_FORMAT.fullmatch(own):
            yield bare
