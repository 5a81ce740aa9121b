"""Write a file or a folder as a whole: under its name it is complete, or not there at all."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from scenarios.errors import UsageError


@contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file beside ``path``; it replaces ``path`` when the block ends well.

    Missing parent folders are made. A process that is killed leaves the old file or the new one.

    Raises:
        UsageError: the place cannot be written to.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            temporary.chmod(0o644)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written: {error.strerror}", "choose another -o"
        ) from error


def write_text(path: Path, text: str) -> None:
    """Write a text file in UTF-8 as a whole or not at all.

    Raises:
        UsageError: the place cannot be written to.
    """
    with new_file(path) as file:
        file.write(text.encode())


@contextmanager
def new_folder(folder: Path, check: Callable[[Path], None]) -> Iterator[Path]:
    """Give a temporary folder beside ``folder``, which takes its place when the block ends well.

    A process that is killed leaves the old folder or none. What it had begun is removed, and an
    old folder that it had set aside is put back, by the next call for the same place.

    Args:
        folder: where it will be.
        check: raises :class:`UsageError` where ``folder`` must not be made or replaced; called
            before anything is written and again before the folder takes its place.

    Raises:
        UsageError: see ``check``; or the place cannot be written to.
    """
    check(folder)
    folder = folder.parent.resolve() / folder.name
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        _clean_up(folder)
        check(folder)
        draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}.partial-", dir=folder.parent))
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be written: {error.strerror}", "choose another -o"
        ) from error
    lock = _locked(draft)
    try:
        yield draft
        draft.chmod(0o755)
        _sync(draft)
        check(folder)
        _replace(draft, folder)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    finally:
        os.close(lock)


def _replace(draft: Path, folder: Path) -> None:
    """Move ``draft`` to ``folder``; the old folder is removed afterwards."""
    old = folder.with_name(f".{folder.name}.old-{draft.name.rpartition('-')[2]}")
    if folder.exists():
        folder.rename(old)
    draft.rename(folder)
    _sync(folder.parent, deep=False)
    shutil.rmtree(old, ignore_errors=True)


def _clean_up(folder: Path) -> None:
    """Remove what killed processes have left beside ``folder``; put back a folder set aside."""
    for draft in folder.parent.glob(f".{_escaped(folder.name)}.partial-*"):
        try:
            lock = os.open(draft, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(draft, ignore_errors=True)
        except BlockingIOError:
            pass  # another process is writing it
        finally:
            os.close(lock)
    for old in sorted(folder.parent.glob(f".{_escaped(folder.name)}.old-*")):
        if folder.exists():
            shutil.rmtree(old, ignore_errors=True)
        else:
            old.rename(folder)


def _escaped(name: str) -> str:
    return "".join(f"[{char}]" if char in "*?[" else char for char in name)


def _locked(draft: Path) -> int:
    """Lock a folder for the life of this process; the lock tells it from a leftover."""
    lock = os.open(draft, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def _sync(folder: Path, *, deep: bool = True) -> None:
    """Bring a folder, and the files below it, to disk."""
    paths = [folder, *(folder.rglob("*") if deep else ())]
    for path in reversed(paths):
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
