"""The two families of errors: mistakes of the user, and failures while running."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

Severity = Literal["error", "warning"]

DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""What an ``OSError`` says where there is no room: on the disk, of a quota, or for so large a file."""
NO_TEMPORARY_FOLDER = (
    "no folder for temporary files can be written",
    "set TMPDIR to one that can; in a container, mount a volume at /tmp",
)
"""What is wrong where :func:`lacks_temporary_folder`, and what to do."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with one input, precise enough to be mended without asking."""

    file: str
    line: int | None
    field: str
    found: str
    expected: str
    hint: str = ""
    code: str = "invalid"
    severity: Severity = "error"

    def __str__(self) -> str:
        """Return ``file:line: field: found ..., expected ...; hint`` on one line."""
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        field = f" {self.field}:" if self.field else ""
        hint = f"; {self.hint}" if self.hint else ""
        return f"{where}:{field} found {self.found}, expected {self.expected}{hint}"


class HipoError(Exception):
    """Root of every error that hipo raises on purpose."""


def lacks_temporary_folder(error: BaseException) -> bool:
    """Return whether ``tempfile`` found no folder, as where all of a container is read-only."""
    return isinstance(error, FileNotFoundError) and "No usable temporary directory" in str(error)


class UsageError(HipoError):
    """A mistake of the user's (input, option, configuration): nothing was done; exit code 2."""

    def __init__(self, message: str, hint: str = "") -> None:
        """Say what is wrong and, in ``hint``, what to do about it."""
        super().__init__(f"{message}\n  {hint}" if hint else message)
        self.message = message
        self.hint = hint


SHOWN = 100
"""Problems of one file that a message names; a table can have one in every cell."""


LINES_NAMED = 5
"""Lines of one problem that a message names."""


def same_on(numbers: Iterable[int | None], what: str = "lines") -> str:
    """Return on how many lines one thing is wrong, and the first of them; empty of a single one."""
    lines = list(dict.fromkeys(numbers))
    if len(lines) < 2:
        return ""
    listed = ", ".join(map(str, lines[:LINES_NAMED]))
    return f" (the same on {len(lines):,} {what}: {listed}{', ...' * (len(lines) > LINES_NAMED)})"


class InputError(UsageError):
    """One or more problems in a file that the user supplied."""

    def __init__(self, problems: Sequence[Problem], hint: str = "") -> None:
        """Hold every problem, and show the first ``SHOWN`` at once, with what to do about them.

        What is wrong in the same way on several lines is one of these, with the first lines.
        """
        alike: dict[Problem, list[Problem]] = {}
        for problem in problems:
            alike.setdefault(replace(problem, line=None), []).append(problem)
        lines = [
            f"{same[0]}{same_on(problem.line for problem in same)}"
            for same in list(alike.values())[:SHOWN]
        ]
        if more := sum(len(same) for same in list(alike.values())[SHOWN:]):
            lines.append(f"and {more:,} problems more")
        super().__init__("\n".join(lines), hint)
        self.problems = tuple(problems)


class RunError(HipoError):
    """A failure while running: what was finished is kept, and the run can be resumed."""

    code = ""
    """What failed, in a word; of an error that ends a run, one of ``pipeline.stopping.stop``."""
    advice = ""
    """What the user can do, where that is more than what always holds for the code."""


class NoRoom(RunError):
    """Something could not be written because no room is left for it; the place is as it was."""

    code = "store"

    def __init__(self, message: str, advice: str) -> None:
        """Say what could not be written, and what to do about it."""
        super().__init__(message)
        self.advice = advice
