"""Write plain data as YAML the way scenario files are written by hand."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Mapping
from typing import Any

WIDTH = 100
_PLAIN = re.compile(r"[A-Za-z](?:[A-Za-z0-9_ .'/()-]*[A-Za-z0-9_.)])?")
_RESERVED = frozenset({"true", "false", "null"})
_SPACED = re.compile(r"\S+(?: \S+)*")


def emitted(value: Any, indent: int = 0) -> list[str]:
    """Return the lines of a mapping or a list in block style.

    Args:
        value: a mapping with text keys, or a list; neither is empty.
        indent: of every line.
    """
    pad = " " * indent
    if isinstance(value, Mapping):
        return [line for key, item in value.items() for line in _entry(str(key), item, indent)]
    lines: list[str] = []
    for item in value:
        if is_on_one_line(item, indent + 2):
            lines.append(f"{pad}- {_flow(item)}")
        elif isinstance(item, Mapping):
            inner = emitted(item, indent + 2)
            lines += [f"{pad}- {inner[0][indent + 2 :]}", *inner[1:]]
        elif isinstance(item, str):
            lines += _text(f"{pad}-", item, indent + 2)
        else:
            lines += [f"{pad}-", *emitted(item, indent + 2)]
    return lines


def is_on_one_line(value: Any, indent: int = 0) -> bool:
    """Return whether a value is short enough to stand behind its key."""
    if isinstance(value, Mapping):
        simple = not any(isinstance(item, (Mapping, list)) for item in value.values())
        return not value or (simple and len(value) <= 3 and indent + len(_flow(value)) < WIDTH - 8)
    if isinstance(value, list):
        simple = not any(isinstance(item, (Mapping, list)) for item in value)
        short = all(len(str(item)) <= 32 for item in value)
        return not value or (simple and short and indent + len(_flow(value)) < WIDTH - 8)
    return not isinstance(value, str) or (
        "\n" not in value and indent + len(_scalar(value)) < WIDTH - 8
    )


def _entry(key: str, value: Any, indent: int) -> list[str]:
    name = f"{' ' * indent}{_scalar(key)}:"
    if is_on_one_line(value, len(name)):
        return [f"{name} {_flow(value)}"]
    if isinstance(value, str):
        return _text(name, value, indent + 2)
    return [name, *emitted(value, indent + 2)]


def _text(opening: str, text: str, indent: int) -> list[str]:
    """Fold a long text below its key; one whose spaces matter stands in quotes."""
    if not _SPACED.fullmatch(text) or text[0] in "#-" or not text.isprintable():
        return [f"{opening} {json.dumps(text, ensure_ascii=False)}"]
    pad = " " * indent
    folded = textwrap.wrap(
        text, max(40, WIDTH - indent), break_long_words=False, break_on_hyphens=False
    )
    return [f"{opening} >-", *(pad + line for line in folded)]


def _flow(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_scalar(str(k))}: {_flow(v)}' for k, v in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_flow, value))}]"
    if isinstance(value, str):
        return _scalar(value)
    return json.dumps(value)


def _scalar(text: str) -> str:
    """Write a text as YAML, in quotes where it could be read as something else."""
    plain = _PLAIN.fullmatch(text) and text.casefold() not in _RESERVED
    return text if plain else json.dumps(text, ensure_ascii=False)
