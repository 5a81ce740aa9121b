"""What was exported from a run: a line in a file beside it for every data set that was made."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Self

import orjson

from outputs.selecting.left_out import LeftOut
from pipeline.store.own_files import open_own
from scenarios.errors import UsageError
from scenarios.log import logger

EXPORTS: Final = "exports.jsonl"
_log = logger("export")


@dataclass(frozen=True, slots=True)
class RecordedExport:
    """One data set that was made of a run, alone or with others."""

    at: float
    """Unix time."""
    folder: str
    """Where it was written, relative to the folder of the run where that can be said."""
    kind: str
    verdict: str
    """``accepted`` or ``any``."""
    dialogues: int
    """Of this run."""
    rows: Mapping[str, int]
    """By split, of all runs of the set."""
    runs: tuple[str, ...]
    """Names of the runs of the set."""
    left_out: LeftOut
    """Of all runs of the set."""

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """Read one line.

        Raises:
            KeyError, TypeError, ValueError, OverflowError, AttributeError: it is none of ours.
        """
        datetime.fromtimestamp(float(plain["at"]), UTC)
        if "\0" in plain["folder"]:
            raise ValueError("no folder has such a name")
        return cls(
            float(plain["at"]),
            str(plain["folder"]),
            str(plain["kind"]),
            str(plain["verdict"]),
            int(plain["dialogues"]),
            {str(split): int(n) for split, n in plain["rows"].items()},
            tuple(map(str, plain["runs"])),
            LeftOut.from_plain(plain["left_out"]),
        )

    def plain(self) -> dict[str, object]:
        """Return it as plain data."""
        return {
            "at": self.at, "folder": self.folder, "kind": self.kind, "verdict": self.verdict,
            "dialogues": self.dialogues, "rows": dict(self.rows), "runs": list(self.runs),
            "left_out": self.left_out.plain(),
        }  # fmt: skip

    def place(self, run: Path) -> Path:
        """Return the folder of the set, seen from the folder of the run."""
        return run / self.folder


def record_export(run: Path, export: RecordedExport) -> None:
    """Add a line to the record of a run; several processes may do so at a time.

    Raises:
        OSError: it could not be written, or is a link.
    """
    line = orjson.dumps(export.plain(), option=orjson.OPT_APPEND_NEWLINE)
    # One write to a file opened for appending is never torn apart by another's.
    try:
        descriptor = open_own(run / EXPORTS, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    except UsageError as error:  # the set has been made, and stays
        raise OSError(errno.ELOOP, error.message) from error
    try:
        os.write(descriptor, line)
    finally:
        os.close(descriptor)


def recorded_exports(run: Path) -> Sequence[RecordedExport]:
    """Return the data sets made of a run, of each folder the newest, oldest first.

    A line that cannot be read is left aside with a message in the log.
    """
    path = run / EXPORTS
    found: dict[str, RecordedExport] = {}
    lines = path.read_bytes().splitlines() if path.is_file() else []
    for number, line in enumerate(lines, 1):
        try:
            export = RecordedExport.from_plain(orjson.loads(line))
        except (KeyError, TypeError, ValueError, OverflowError, AttributeError):
            _log.warning("%s:%d: is no record of an export, and is left aside", path, number)
            continue
        found.pop(export.folder, None)
        found[export.folder] = export
    return tuple(found.values())


def folder_seen_from(run: Path, folder: Path) -> str:
    """Return a folder relative to that of a run, or its full path where there is no way between."""
    try:
        return os.path.relpath(folder.resolve(), run.resolve())
    except ValueError:  # on another drive
        return str(folder.resolve())
