"""Write a file or a folder as a whole: under its name it is complete, or not there at all."""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from scenarios.errors import DISK_FULL, HipoError, NoRoom, UsageError
from scenarios.text_file import real_path, shown_path

_ELSEWHERE = "choose another place"


@contextmanager
def new_file(path: Path, mode: int | None = None) -> Iterator[BinaryIO]:
    """Open a temporary file beside ``path``; it replaces ``path`` when the block ends well.

    Missing parent folders are made. A process that is killed leaves the old file or the new one.

    Args:
        path: where it will be.
        mode: who may do what with it, ``0o600`` for instance; None: who may with the file that is
            replaced, or with any new file of the user's (the umask) where there is none.

    Raises:
        UsageError: see :func:`check_place`; or the place cannot be written to.
        NoRoom: no room is left for it.
    """
    try:
        check_place(path)
        with made_folder(path.parent):
            kept = _mode_of(path) if mode is None else mode
            temporary = path.parent / f".{path.name}.{secrets.token_hex(4)}"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            # Until it is whole, nobody may do more with it than afterwards.
            handle = os.open(temporary, flags, 0o666 if kept is None else 0o600)
            try:
                with os.fdopen(handle, "wb") as file:
                    yield file
                    file.flush()
                    os.fsync(file.fileno())
                if kept is not None:
                    temporary.chmod(kept)
                temporary.replace(path)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise
    except OSError as error:
        raise unwritable(path, error) from error


@contextmanager
def made_folder(folder: Path) -> Iterator[None]:
    """Make a folder with its parents for what the block writes into it.

    Where the block fails, those that were made are removed again, unless something is in them.

    Raises:
        UsageError: it cannot be made.
        NoRoom: no room is left for it.
    """
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        _remove_empty(missing)
        raise unwritable(folder, error) from error
    try:
        yield
    except BaseException:
        _remove_empty(missing)
        raise


def _remove_empty(folders: Iterable[Path]) -> None:
    """Remove folders, the innermost first, as far as they are there and nothing is in them."""
    for folder in folders:
        with suppress(OSError):
            folder.rmdir()


def check_place(path: Path) -> None:
    """Do nothing where a file could be written, so that no work is done first that would be lost.

    Raises:
        UsageError: a folder, a device or a pipe is there; it would lie below a file; or nothing may
            be written there.
    """
    try:
        if path.is_dir():
            raise UsageError(f"{path} is a folder, not a file", "name a file")
        if path.exists() and not path.is_file():
            raise UsageError(f"{path} is a device or a pipe, not a file", "name another file")
        above = next(folder for folder in path.absolute().parents if folder.exists())
    except OSError as error:  # a name that is too long
        raise unwritable(path, error) from error
    if not above.is_dir():
        raise UsageError(f"{path} cannot be written: {shown_path(above)} is a file", _ELSEWHERE)
    if not os.access(above, os.W_OK | os.X_OK):
        raise UsageError(f"{path} cannot be written: {above} is not yours to write to", _ELSEWHERE)


def unwritable(path: Path, error: OSError) -> HipoError:
    """Return the error of a file or folder that cannot be written, with what to do about it."""
    if error.errno in DISK_FULL:  # said anew: libraries add words of their own
        why = os.strerror(error.errno or 0).lower()
        return NoRoom(f"{path} cannot be written: {why}", f"make room on the disk, or {_ELSEWHERE}")
    why = (error.strerror or str(error)).lower()
    return UsageError(f"{path} cannot be written: {why}", _ELSEWHERE)


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
    old folder that it had set aside is put back, by the next call for the same place. Who may use
    the folder is as with the old one, or as with any new folder of the user's (the umask).

    Args:
        folder: where it will be.
        check: raises :class:`UsageError` where ``folder`` must not be made or replaced; called
            before anything is written and again before the folder takes its place.

    Raises:
        UsageError: see ``check``; or the place cannot be written to.
        NoRoom: no room is left for it, or for what the block writes.
    """
    check(folder)
    folder = real_path(folder.parent) / folder.name
    try:
        with made_folder(folder.parent):
            _clean_up(folder)
            check(folder)
            kept = _mode_of(folder)
            draft = folder.parent / f".{folder.name}.partial-{secrets.token_hex(4)}"
            draft.mkdir(0o777 if kept is None else 0o700)
            lock = _locked(draft)
            try:
                yield draft
                _sync(draft)
                if kept is not None:
                    draft.chmod(kept)
                check(folder)
                _replace(draft, folder)
            except BaseException as error:
                shutil.rmtree(draft, ignore_errors=True)
                if isinstance(error, HipoError):
                    _name_as_asked(error, str(draft), str(folder))
                raise
            finally:
                os.close(lock)
    except OSError as error:
        ours = (f"{folder}/", str(folder.with_name(f".{folder.name}.")))
        if error.errno in DISK_FULL or f"{error.filename}/".startswith(ours):
            raise unwritable(folder, error) from error
        raise  # of something that was read


def _name_as_asked(error: HipoError, draft: str, folder: str) -> None:
    """Let all that an error says name the folder that was asked for, and not what would become of it."""
    error.args = tuple(x.replace(draft, folder) if isinstance(x, str) else x for x in error.args)
    for name, said in vars(error).items():
        if isinstance(said, str):
            setattr(error, name, said.replace(draft, folder))


def _mode_of(path: Path) -> int | None:
    """Return who may do what with a file or folder; None where a link is, or nothing."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return None
    return None if stat.S_ISLNK(found.st_mode) else found.st_mode & 0o777


def _replace(draft: Path, folder: Path) -> None:
    """Move ``draft`` to ``folder``; the old folder is removed afterwards, of a link the link alone."""
    if folder.is_symlink():
        folder.unlink()
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
