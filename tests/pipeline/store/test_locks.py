from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.store.locks import RunLock, is_locked, refuse_network_disk
from scenarios.errors import NoRoom, UsageError

HOLD = """
import sys, time
from pathlib import Path
from pipeline.store.locks import RunLock
lock = RunLock(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(60)
"""


def test_a_second_writer_is_refused_by_the_process_id_of_the_first(tmp_path):
    lock = RunLock(tmp_path)
    with pytest.raises(UsageError, match=f"process {os.getpid()}"):
        RunLock(tmp_path)
    assert is_locked(tmp_path)
    lock.release()
    assert not is_locked(tmp_path)
    RunLock(tmp_path).release()


def test_a_killed_process_holds_nothing(tmp_path):
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[3],
    )
    try:
        assert child.stdout.readline() == b"held\n"
        with pytest.raises(UsageError, match=f"process {child.pid}"):
            RunLock(tmp_path)
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
    assert not is_locked(tmp_path)
    RunLock(tmp_path).release()


def test_a_folder_nobody_ever_locked_is_free(tmp_path):
    assert not is_locked(tmp_path)


MOUNTS = """\
/dev/sda1 / ext4 rw 0 0
server:/home /home nfs4 rw 0 0
/dev/sdb1 /home/local xfs rw 0 0
//box/share /mnt/my\\040share cifs rw 0 0
me@box: /mnt/ssh fuse.sshfs rw 0 0
/dev/sdc1 /mnt/ntfs fuseblk rw 0 0
broken
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [("/home/me/runs", "nfs4"), ("/mnt/my share/run", "cifs"), ("/mnt/ssh", "fuse.sshfs")],
)
def test_network_disks_are_refused_by_name_with_a_way_out(tmp_path, folder, kind):
    mounts = tmp_path / "mounts"
    mounts.write_text(MOUNTS)
    with pytest.raises(UsageError, match=kind) as error:
        refuse_network_disk(Path(folder), mounts)
    assert "choose a folder on a local disk" in error.value.hint


@pytest.mark.parametrize("kind", ["wekafs", "panfs", "dvs", "lustre"])
def test_a_run_that_was_copied_to_a_disk_of_a_cluster_is_to_be_copied_back(tmp_path, kind):
    mounts = tmp_path / "mounts"
    mounts.write_text(f"none {tmp_path} {kind} rw 0 0\n")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.sqlite").touch()
    with pytest.raises(UsageError, match=kind) as error:
        refuse_network_disk(tmp_path / "run", mounts)
    assert error.value.hint == "copy the folder to a local disk, and use the copy"


@pytest.mark.parametrize("folder", ["/home/local/run", "/var/runs", "/mnt/ntfs/x", "/homestead"])
def test_local_disks_are_accepted_below_network_disks_too(tmp_path, folder):
    mounts = tmp_path / "mounts"
    mounts.write_text(MOUNTS)
    assert not is_refused(Path(folder), mounts)


def test_where_mounts_cannot_be_told_nothing_is_refused(tmp_path):
    assert not is_refused(tmp_path, tmp_path / "no such table")


def is_refused(folder: Path, mounts: Path) -> bool:
    try:
        refuse_network_disk(folder, mounts)
    except UsageError:
        return True
    return False


def test_a_lock_that_cannot_be_signed_is_given_back(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "pwrite", full)
        with pytest.raises(NoRoom, match="lock cannot be written: No space left"):
            RunLock(tmp_path)
    RunLock(tmp_path).release()
