"""Make a folder as a whole: it is complete under its name, or not there at all."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from outputs.dataset.manifest import MANIFEST
from scenarios.errors import UsageError


def check_target(folder: Path, *, overwrite: bool) -> None:
    """Do nothing where an export may be written to ``folder``.

    Raises:
        UsageError: something is there that must not be replaced, or was not allowed to be.
    """
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise UsageError(f"{folder} is not a folder", "choose another one with -o")
    if folder.is_dir() and any(folder.iterdir()):
        if not (folder / MANIFEST).is_file():  # what marks a folder as one of ours
            raise UsageError(
                f"{folder} holds something that is not an export",
                "choose an empty or a new folder with -o",
            )
        if not overwrite:
            raise UsageError(
                f"{folder} holds an export already",
                "replace it with --overwrite, or choose another folder with -o",
            )


@contextmanager
def staged(folder: Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Give a temporary folder beside ``folder``; it takes its place when all went well.

    A process that dies leaves the old folder or none; what it had begun is swept away, and an old
    folder it had set aside put back, by the next export to the same place.

    Raises:
        UsageError: see :func:`check_target`; or the place cannot be written to.
    """
    check_target(folder, overwrite=overwrite)
    folder = folder.parent.resolve() / folder.name
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        _sweep(folder)
        check_target(folder, overwrite=overwrite)
        draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}.partial-", dir=folder.parent))
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be written: {error.strerror}", "choose another -o"
        ) from (error)
    lock = _locked(draft)
    try:
        yield draft
        draft.chmod(0o755)
        _to_disk(draft)
        check_target(folder, overwrite=overwrite)
        _replace(draft, folder)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    finally:
        os.close(lock)


def _replace(draft: Path, folder: Path) -> None:
    """Let ``draft`` take the place of ``folder``; the old one is removed when it has."""
    old = folder.with_name(f".{folder.name}.old-{draft.name.rpartition('-')[2]}")
    if folder.exists():
        folder.rename(old)
    draft.rename(folder)
    _to_disk(folder.parent, deep=False)
    shutil.rmtree(old, ignore_errors=True)


def _sweep(folder: Path) -> None:
    """Clear away what processes that died have left of earlier exports to this place."""
    for draft in folder.parent.glob(f".{_escaped(folder.name)}.partial-*"):
        try:
            lock = os.open(draft, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(draft, ignore_errors=True)
        except BlockingIOError:
            pass  # somebody is writing it
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
    """Hold a lock on the folder for as long as this process lives."""
    lock = os.open(draft, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def _to_disk(folder: Path, *, deep: bool = True) -> None:
    """Bring a folder, and the files below it, to disk."""
    paths = [folder, *(folder.rglob("*") if deep else ())]
    for path in reversed(paths):
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
