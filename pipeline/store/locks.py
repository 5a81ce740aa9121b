"""Who may write a run: one process at a time, and only on a disk of this machine."""

from __future__ import annotations

import fcntl
import os
import re
import time
from pathlib import Path

from pipeline.store.own_files import NO_FOLLOW, open_own, right_to_write
from scenarios.errors import DISK_FULL, HipoError, NoRoom, UsageError
from scenarios.text_file import real_path

LOCK = "run.lock"
MOUNTS = Path("/proc/mounts")
TRIES = 5

_NETWORK = re.compile(
    r"nfs\d*|cifs|smb\w*|ncpfs|afs|lustre|gpfs|beegfs\w*|ceph|glusterfs|pvfs2|orangefs|davfs\d*"
    r"|fhgfs\w*|wekafs|panfs|dvs"
    r"|fuse\.(?:sshfs|ceph\S*|glusterfs|s3fs|rclone|gcsfuse|blobfuse\d*|goofys|juicefs|davfs2|smb\S*"
    r"|beegfs\S*|moosefs|mfs\S*|afp\S*)"
)


class RunLock:
    """The exclusive right to write one run; the system takes it back when the process dies."""

    def __init__(self, folder: Path) -> None:
        """Take the lock of ``folder``.

        Raises:
            UsageError: another process holds it, named by its process id; or it cannot be made, or
                is a link.
            NoRoom: no room is left for it.
        """
        path = folder / LOCK
        try:
            self._file = open_own(path, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            raise _unwritable(path, error) from error
        if not _acquired(self._file):
            holder = os.pread(self._file, 32, 0).decode("ascii", "replace").strip()
            os.close(self._file)
            who = f"process {holder}" if holder else "another process"
            raise UsageError(
                f"{folder} is being written by {who}",
                "wait for it to end, stop it, or write to another folder (-o)",
            )
        try:
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, str(os.getpid()).encode(), 0)
        except OSError as error:
            if list(folder.iterdir()) == [path]:  # no run has begun here, and none can
                path.unlink()
            os.close(self._file)  # or nobody could take the lock as long as this process lives
            raise _unwritable(path, error) from error

    def release(self) -> None:
        """Give the lock back; harmless when repeated."""
        if self._file >= 0:
            os.ftruncate(self._file, 0)
            os.close(self._file)
            self._file = -1


def _unwritable(path: Path, error: OSError) -> HipoError:
    message = f"{path} cannot be written: {error.strerror}"
    elsewhere = "choose another folder (-o)"
    if error.errno in DISK_FULL:
        return NoRoom(message, f"free some space on the disk of {path.parent}, or {elsewhere}")
    if isinstance(error, IsADirectoryError):
        return UsageError(message, "it has to be a file: move the folder away")
    return UsageError(message, right_to_write(path, elsewhere))


def _acquired(file: int) -> bool:
    """Take the lock, allowing for :func:`is_locked` looking at it at this very moment."""
    for _ in range(TRIES):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.02)
        else:
            return True
    return False


def is_locked(folder: Path) -> bool:
    """Whether a living process (this one included) holds the lock of ``folder``."""
    try:
        # O_NONBLOCK: a pipe of this name is not waited for.
        file = os.open(folder / LOCK, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | NO_FOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(file)
    return False


def refuse_network_disk(folder: Path, mounts: Path = MOUNTS) -> None:
    """Do nothing where ``folder`` lies on a local disk, or where that cannot be told.

    The write-ahead log lives in memory that all writers share, which no network file system offers.

    Args:
        folder: where the run is or will be; need not exist.
        mounts: the table of mounted file systems, in the format of ``/proc/mounts``.

    Raises:
        UsageError: it lies on a network file system.
    """
    kind = _file_system(real_path(folder), mounts)
    if kind is not None and _NETWORK.fullmatch(kind):
        raise UsageError(
            f"{folder} is on a network file system ({kind}), where a run's database can be damaged",
            "copy the folder to a local disk, and use the copy"
            if any(folder.glob("*.sqlite"))
            else "choose a folder on a local disk (-o), and copy the finished run afterwards",
        )


def _file_system(folder: Path, mounts: Path) -> str | None:
    """Return the type of the file system mounted nearest above ``folder``."""
    try:
        table = mounts.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    found: tuple[int, str] | None = None
    for line in table.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = Path(re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), fields[1]))
        depth = len(point.parts)
        # Of several mounts on one point the last hides the others.
        if folder.is_relative_to(point) and (found is None or depth >= found[0]):
            found = (depth, fields[2])
    return None if found is None else found[1]
