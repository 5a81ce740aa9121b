"""The log on standard error: as lines for people, or as one JSON object a line for programs."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from hipo.cli.terminal.log_options import LogFormat, LogLevel
from hipo.cli.terminal.wrapping import harmless


class TextLines(logging.Formatter):
    """Writes ``time level logger message (field=value, ...)``."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record, with its traceback below where it has one."""
        fields = ", ".join(f"{name}={value}" for name, value in _fields(record).items())
        line = f"{_time(record)} {record.levelname.lower()} {record.name}: {record.getMessage()}"
        # Messages and fields quote what servers send: no record drives a terminal or poses as two.
        line = harmless(f"{line} ({fields})" if fields else line).replace("\n", "\\n")
        return f"{line}\n{harmless(record.exc_text)}" if record.exc_text else line


class JsonLines(logging.Formatter):
    """Writes an object of ``time``, ``level``, ``logger``, ``message`` and ``fields``."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the object of a record, with its ``traceback`` where it has one."""
        line: dict[str, object] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            "fields": _fields(record),
        }
        if record.exc_text:
            line["traceback"] = record.exc_text
        text = json.dumps(line, ensure_ascii=False, default=str)
        return text if harmless(text) == text else json.dumps(line, default=str)


class StandardError(logging.Handler):
    """Writes to what is standard error at the moment: a progress bar puts itself in its place."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record at once."""
        try:
            print(self.format(record), file=sys.stderr, flush=True)
        except Exception:  # noqa: BLE001 - a log that cannot be written ends no command
            self.handleError(record)


@contextmanager
def logging_to_stderr(level: LogLevel, style: LogFormat) -> Iterator[None]:
    """Write what hipo logs to standard error until the block ends."""
    root = logging.getLogger("hipo")
    handler = StandardError()
    handler.setFormatter(JsonLines() if style == "json" else TextLines())
    before = root.level
    root.setLevel(level.upper())
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(before)


def _time(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _fields(record: logging.LogRecord) -> dict[str, object]:
    fields: dict[str, object] = getattr(record, "fields", {})
    return fields
