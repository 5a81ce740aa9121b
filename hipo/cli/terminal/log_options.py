"""What the options of the log take; the log itself is not imported before a command runs."""

from __future__ import annotations

from typing import Literal

LogLevel = Literal["debug", "info", "warning", "error"]
"""How much is logged: this and whatever is more serious."""
LogFormat = Literal["text", "json"]
"""How a record is written."""
