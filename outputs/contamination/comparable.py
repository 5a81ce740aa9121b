"""The texts by which two data sets are compared: lines that people or models wrote."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
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
_SHORT = 500
"""Characters of texts and lines that are remembered."""
_MAPPINGS, _LISTS = (dict, Mapping), (list, Sequence)
"""What they mostly are comes first: it is seen in no time."""


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


def nested_texts(value: object) -> list[str]:
    """Return the texts of a value, nested ones included, system messages and roles left out."""
    found: list[str] = []
    _gather(value, found)
    return found


def _gather(value: object, found: list[str], depth: int = 0) -> None:
    if isinstance(value, str):
        found.append(value)
    elif value is None or isinstance(value, (int, float)) or depth >= _DEEPEST:
        return
    elif isinstance(value, _MAPPINGS):
        if value.get("role", value.get("from")) == "system":
            return
        for key, item in value.items():
            if item is None or key in ("system", "role", "from"):
                continue
            if type(item) is str:  # most are: a call for each would take twice as long
                found.append(item)
            else:
                _gather(item, found, depth + 1)
    elif isinstance(value, _LISTS) and not isinstance(value, bytes):
        for item in value:
            _gather(item, found, depth + 1)


def _lines(text: str) -> Sequence[str]:
    """Return what is said in a text, line by line."""
    if len(text) <= _SHORT:
        return _known(text)
    return [bare for line in text.splitlines() for bare in _line(line)]


def _line(line: str) -> Sequence[str]:
    return _known(line) if len(line) <= _SHORT else _bare_lines(line)


def _bare_lines(text: str) -> tuple[str, ...]:
    return tuple(bare for line in text.splitlines() if (bare := _bare(line)))


def _bare(line: str) -> str:
    """Return a line without its tags; empty where no words are left."""
    tag = _TAGS.match(line)
    bare = line[tag.end() :] if tag else line
    own = bare.strip()
    return "" if not own or _NAME.fullmatch(own) or _ANSWER_FORMAT.fullmatch(own) else bare


_known = lru_cache(maxsize=1 << 12)(_bare_lines)
"""Openings and instructions recur in row after row, and every row is read several times."""
