"""Write a run in files of its own, never through a link that lies in its folder.

Whoever sent the run may have put it there, and it may lead to any file of the user's. Only the files
in the folder count: the folder itself may be reached through a link.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from scenarios.errors import UsageError
from scenarios.text_file import typed_path

NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
"""For :func:`os.open`: refuse a link; nothing where the system does not know it."""
_NAMES_ANOTHER = bytes.fromhex("d9d505f920a163d7")
"""How a journal of SQLite ends that names a second file, which SQLite deletes when it goes back."""


def refuse_link(path: Path) -> None:
    """Do nothing where a file can be written to without anything else being changed.

    That is a regular file with this one name, or none yet. A folder is left to whoever opens it.

    Raises:
        UsageError: it is a link, has another name, too (a hard link), or is a pipe or a device.
    """
    try:
        found = path.lstat()
    except OSError:  # not there; or it cannot be looked at, which opening it will say
        return
    if stat.S_ISDIR(found.st_mode):
        return
    if stat.S_ISLNK(found.st_mode):
        what = "a link to another file"
    elif not stat.S_ISREG(found.st_mode):
        what = "no regular file"
    elif found.st_nlink > 1:
        what = "a hard link: the same file has another name elsewhere"
    else:
        return
    raise UsageError(f"{path} is {what}", "put a copy of the file in its place, or remove it")


def refuse_links_beside(database: Path) -> None:
    """Do nothing where SQLite can use the files that it keeps beside a database, even to read it.

    Raises:
        UsageError: one is no file of its own, or is a journal over which SQLite would delete a file.
    """
    for suffix in ("-wal", "-shm", "-journal"):
        refuse_link(database.with_name(f"{database.name}{suffix}"))
    journal = database.with_name(f"{database.name}-journal")
    try:
        with journal.open("rb") as file:
            file.seek(-len(_NAMES_ANOTHER), os.SEEK_END)
            names_another = file.read() == _NAMES_ANOTHER
    except OSError:  # not there, or too short to name anything
        return
    if names_another:
        raise UsageError(f"{journal} names a file that would be deleted", "remove this journal")


def open_own(path: Path, flags: int) -> int:
    """Open a file of a run like :func:`os.open`, and never through a link.

    Args:
        path: the file.
        flags: ``os.O_RDWR`` and its like; it is closed in processes that are started.

    Raises:
        UsageError: it is no file of its own, see :func:`refuse_link`.
        OSError: it cannot be opened.
    """
    refuse_link(path)
    return os.open(path, flags | NO_FOLLOW | os.O_CLOEXEC, 0o644)


def right_to_write(path: Path, else_do: str) -> str:
    """Return what the user can do where a file of a run may not be written: get the right, or else."""
    with suppress(OSError):
        if os.statvfs(path.parent).f_flag & os.ST_RDONLY:
            return f"its disk is mounted for reading alone: {else_do}"
    return f"give yourself the right (chmod u+rwX {typed_path(path.parent)} {typed_path(path)}), or {else_do}"
