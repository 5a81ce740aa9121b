"""What the documents of an export tell of an audit: sentences and tables."""

from __future__ import annotations

from dataclasses import dataclass

AUDIT = "audit.json"
"""The name of an audit in the folder of a run, or of a data set that was exported with one."""


@dataclass(frozen=True, slots=True)
class AuditTable:
    """A table of an audit."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class ToldAudit:
    """An audit in words."""

    sentences: tuple[str, ...]
    """What was found first, then how to read it."""
    tables: tuple[AuditTable, ...]
    of_run: str = ""
    """The run that was audited; empty where it is the data set itself."""
