"""Read an untrusted text file: bounded size, regular file, UTF-8."""

from __future__ import annotations

import os
import stat
from codecs import BOM_UTF8
from pathlib import Path

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
        found = "text in UTF-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "a binary file"
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
    try:
        if within is not None and not path.resolve().is_relative_to(within.resolve()):
            raise _refused(
                name,
                "a link to a file elsewhere",
                f"a file inside {shown_path(within)}",
                "copy the file into the directory",
            )
        # O_NONBLOCK: opening a FIFO must not wait for somebody to write into it.
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, RuntimeError, ValueError) as error:
        reason = str(getattr(error, "strerror", None) or "a path that leads nowhere").lower()
        raise _refused(name, reason, "a readable file") from None
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise _refused(name, "something that is no regular file", "a file")
        with os.fdopen(handle, "rb", closefd=False) as file:
            raw = file.read(most + 1)
    except OSError as error:  # of the disk, or of a file that only looks like one
        raise _refused(name, (error.strerror or str(error)).lower(), "a readable file") from None
    finally:
        os.close(handle)
    if len(raw) > most:
        raise _refused(
            name, f"more than {most >> 20} MiB", f"at most {most >> 20} MiB", code="size"
        )
    return raw


def unmarked(start: bytes) -> bytes:
    """Return the beginning of a file without the byte-order mark that editors on Windows write."""
    return start.removeprefix(BOM_UTF8)


def real_path(path: Path) -> Path:
    """Return where a path leads once links are followed; links in a circle are left as they are."""
    return Path(os.path.realpath(path))  # where Path.resolve() raises, before Python 3.13


def shown_path(path: Path) -> str:
    """Return the path as errors show it: relative where it lies in the current directory."""
    try:
        return str(path.absolute().relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)


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
