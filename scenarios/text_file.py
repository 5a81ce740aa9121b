"""Read an untrusted text file: bounded size, regular file, UTF-8."""

from __future__ import annotations

import os
import stat
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import BinaryIO

from scenarios.errors import InputError, Problem

MAX_BYTES = 1 << 20


def read_text(path: Path, *, within: Path | None = None) -> str:
    """Return the text of a file of at most 1 MiB.

    Args:
        path: the file.
        within: a directory that the file, once links are followed, must not lie outside of.

    Raises:
        InputError: the file cannot be read or is no UTF-8 text; one problem.
    """
    name = shown_path(path)
    raw = read_bytes(path, MAX_BYTES, within=within)
    zero = raw.find(b"\0")
    if zero >= 0:
        line = raw.count(b"\n", 0, zero) + 1
        found = "text in UTF-16" if in_utf16(raw) else "a binary file"
        raise _refused(name, found, "text in UTF-8", line=line, code="encoding")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _refused(
            name,
            f"the byte 0x{raw[error.start]:02x}",
            "text in UTF-8",
            "save it as UTF-8",
            line=raw.count(b"\n", 0, error.start) + 1,
            code="encoding",
        ) from None


def read_bytes(path: Path, most: int, *, within: Path | None = None) -> bytes:
    """Return what a regular file holds.

    Args:
        path: the file.
        most: how many bytes it may have, a whole number of MiB.
        within: a directory that the file, once links are followed, must not lie outside of.

    Raises:
        InputError: the file cannot be read, or is larger; one problem.
    """
    name = shown_path(path)
    with opened(path, within=within) as file:
        try:
            raw = file.read(most + 1)
        except OSError as error:  # of the disk, or of a file that only looks like one
            raise unreadable(path, error) from None
    if len(raw) > most:
        raise _refused(
            name, f"more than {most >> 20} MiB", f"at most {most >> 20} MiB", code="size"
        )
    return raw


@contextmanager
def opened(path: Path, hint: str = "", *, within: Path | None = None) -> Iterator[BinaryIO]:
    """Open a regular file to read its bytes; a pipe or a device is refused and not waited for.

    Args:
        path: the file.
        hint: what to do where it cannot be opened.
        within: a directory that the file, once links are followed, must not lie outside of.

    Raises:
        InputError: it cannot be opened, or is no regular file; one problem.
    """
    try:
        if within is not None and not path.resolve().is_relative_to(within.resolve()):
            raise _refused(
                shown_path(path),
                "a link to a file elsewhere",
                f"a file inside {shown_path(within)}",
                "copy the file into the directory",
            )
        # O_NONBLOCK: opening a FIFO must not wait for somebody to write into it.
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, RuntimeError, ValueError) as error:
        raise unreadable(path, error, hint) from None
    try:
        mode = os.fstat(handle).st_mode
        if not stat.S_ISREG(mode):
            found = "a folder" if stat.S_ISDIR(mode) else "something that is no regular file"
            raise _refused(shown_path(path), found, "a file", hint)
        with os.fdopen(handle, "rb", closefd=False) as file:
            yield file
    finally:
        os.close(handle)


def unreadable(path: Path, error: Exception, hint: str = "") -> InputError:
    """Return the error of a file that cannot be opened or read."""
    reason = str(getattr(error, "strerror", None) or "a path that leads nowhere").lower()
    return _refused(shown_path(path), reason, "a readable file", hint)


def unmarked(start: bytes) -> bytes:
    """Return the beginning of a file without the byte-order mark that editors on Windows write."""
    return start.removeprefix(BOM_UTF8)


def in_utf16(start: bytes) -> bool:
    """Tell whether a file begins as text in UTF-16 does, which editors on Windows call Unicode."""
    return start.startswith((BOM_UTF16_LE, BOM_UTF16_BE))


def real_path(path: Path) -> Path:
    """Return where a path leads once links are followed; links in a circle are left as they are."""
    return Path(os.path.realpath(path))  # where Path.resolve() raises, before Python 3.13


def shown_path(path: Path) -> str:
    """Return the path as errors show it: relative where it lies in the current directory."""
    try:
        return str(path.absolute().relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)


def typed_path(path: Path | str) -> str:
    """Return a path as it is typed in a command: quoted for the shell, and never like an option."""
    text = str(path)
    return quote(f"./{text}" if text.startswith("-") else text)


def _refused(
    file: str,
    found: str,
    expected: str,
    hint: str = "",
    *,
    line: int | None = None,
    code: str = "path",
) -> InputError:
    return InputError([Problem(file, line, "", found, expected, hint, code)])
