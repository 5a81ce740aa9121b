"""What the options of the log take; the log itself is not imported before a command runs."""

from __future__ import annotations

from enum import StrEnum


class LogLevel(StrEnum):
    """How much is logged: this and whatever is more serious."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class LogFormat(StrEnum):
    """How a record is written."""

    TEXT = "text"
    JSON = "json"
