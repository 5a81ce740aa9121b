"""Read files of lines that a user gives: JSON lines, or lines of another kind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import orjson

from scenarios.errors import InputError, Problem
from scenarios.text_file import in_utf16, opened, shown_path, unmarked, unreadable

LONGEST_LINE = 64 << 20


def json_lines(path: Path, hint: str) -> Iterator[tuple[int, object]]:
    """Yield what each line of a file holds, with its number; blank lines are left out.

    Args:
        path: the file.
        hint: what to do where it cannot be read, or a line is no JSON.

    Raises:
        InputError: it cannot be read, or a line is no JSON or longer than 64 MiB; one problem.
    """
    for number, line in numbered_lines(path, hint):
        try:
            yield number, orjson.loads(line)
        except orjson.JSONDecodeError as error:
            found = f"a line that is no JSON ({error})"
            if len(line) > LONGEST_LINE:
                found = f"more than {LONGEST_LINE >> 20} MiB"
            problem = Problem(shown_path(path), number, "", found, "one JSON object per line", hint)
            raise InputError([problem]) from error


def numbered_lines(
    path: Path, hint: str, *, longest: int | None = None
) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a regular file, with their numbers; blank lines are left out.

    Args:
        path: the file; a byte-order mark of UTF-8 is left out.
        hint: what to do where it cannot be read.
        longest: how many bytes of a line are wanted, by default 64 MiB; of a longer one come
            ``longest + 1``.

    Raises:
        InputError: it cannot be read, or is in UTF-16; one problem.
    """
    with opened(path, hint) as file:
        for number, line in enumerate(_pieces(path, file, longest or LONGEST_LINE, hint), 1):
            if number == 1 and in_utf16(line):
                problem = Problem(
                    shown_path(path), 1, "", "text in UTF-16", "text in UTF-8", "save it as UTF-8"
                )
                raise InputError([problem])
            text = unmarked(line) if number == 1 else line
            if text.strip():
                yield number, text


def _pieces(path: Path, file: BinaryIO, longest: int, hint: str) -> Iterator[bytes]:
    """Yield every line, or its beginning where it is too long."""
    try:
        while line := file.readline(longest + 1):
            yield line
            while len(line) > longest and not line.endswith(b"\n"):
                line = file.readline(longest + 1)
    except OSError as error:  # of the disk, or of a file that only looks like one
        raise unreadable(path, error, hint) from None
