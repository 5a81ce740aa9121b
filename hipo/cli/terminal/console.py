"""Plain text for people: numbers, columns, and text that cannot drive the terminal."""

from __future__ import annotations

import json
import logging
import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, redirect_stdout
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, TextIO

import orjson

from hipo.cli.terminal.wrapping import harmless
from scenarios.plural import in_dollars

if TYPE_CHECKING:
    from quality.statistics.bootstrap import Interval

_CHATTY = ("sentence_transformers", "transformers", "huggingface_hub", "httpx2", "asyncio")
"""Loggers of libraries that are of no use to somebody at a terminal."""
_WARNING = (
    "sentence_transformers",
    "transformers",
    "huggingface_hub",
    "torch",
    "datasets",
    "peft",
    "trl",
)
"""Modules of libraries whose warnings are none of the user's business."""


Format = Literal["text", "json"]
"""How a command writes its answer to standard output."""


def others_apart() -> AbstractContextManager[TextIO]:
    """Send what plugins and Ray print to standard error: it is not what was asked for."""
    return redirect_stdout(sys.stderr)


def write_json(value: object) -> None:
    """Print plain data as indented JSON, keys in the order given."""
    text = orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    sys.stdout.write(readable_json(text, indent=2) + "\n")


def readable_json(text: str, indent: int | None = None) -> str:
    """Return JSON as it is, or in escapes where standard output would change a character of it."""
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        changed = True
    else:
        changed = harmless(text) != text
    return json.dumps(orjson.loads(text), indent=indent) if changed else text


def plain(record: object, names: str, **values: object) -> dict[str, Any]:
    """Return some attributes of a record by name.

    Args:
        record: what has the attributes.
        names: in the order wanted, separated by blanks.
        values: go before attributes of the same name, and stand behind them where there is none.
    """
    fields = {n: values.pop(n) if n in values else getattr(record, n) for n in names.split()}
    return {**fields, **values}


def ends(interval: Interval | None) -> list[float] | None:
    """Return both ends of an interval, as JSON has them."""
    return None if interval is None else [interval.low, interval.high]


def one_line(text: str, limit: int) -> str:
    """Return harmless text on one line of at most ``limit`` characters."""
    flat = " ".join(harmless(text).split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def dollars(cost: float | None) -> str:
    """Return a cost as people write it; an unknown one is called unknown."""
    return "unknown cost" if cost is None else in_dollars(cost)


def number(count: float) -> str:
    """Return a whole number with thousands separated."""
    return f"{round(count):,}"


def moment(seconds: float) -> str:
    """Return a Unix time as ISO 8601, in UTC and whole seconds."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def reasons(failed: Mapping[str, int]) -> str:
    """Return failures by reason code on one line, the most frequent first."""
    ranked = sorted(failed.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count:,} {code}" for code, count in ranked)


def columns(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Align rows under a header; cells that look like numbers are set to the right."""
    table = [[harmless(" ".join(cell.split("\n"))) for cell in row] for row in (header, *rows)]
    widths = [max(cells_of(row[i]) for row in table) for i in range(len(header))]
    right = [bool(rows) and all(_numeric(row[i]) for row in table[1:]) for i in range(len(header))]
    lines = []
    for row in table:
        cells = [
            padded(cell, width, right=to_right)
            for cell, width, to_right in zip(row, widths, right, strict=True)
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def padded(text: str, width: int, *, right: bool = False) -> str:
    """Return a text filled up with spaces to so many cells of a terminal, before it or behind it."""
    room = " " * (width - cells_of(text))
    return room + text if right else text + room


def cells_of(text: str) -> int:
    """Return how many cells of a terminal a text takes: two for a Chinese character."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # noqa: PLC0415 - takes its time, and most texts need none of it

    return cell_len(text)


def _numeric(cell: str) -> bool:
    return not cell or cell[0] in "0123456789$-"


def hush() -> None:
    """Silence warnings and log lines of the libraries named above, unless ``HIPO_DEBUG`` is set."""
    if os.environ.get("HIPO_DEBUG"):
        return
    warnings.filterwarnings("ignore", module=rf"({'|'.join(_WARNING)})(\.|$)")
    for name in _CHATTY:
        logging.getLogger(name).setLevel(logging.CRITICAL)
