"""A run that somebody sent holds links: nothing is read, changed or deleted through one."""

from __future__ import annotations

import os
import shutil
import sqlite3
import struct
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from pipeline.store.locks import LOCK, RunLock, is_locked
from pipeline.store.own_files import refuse_link
from pipeline.store.people_database import PEOPLE
from pipeline.store.reviews import ReviewStore
from pipeline.store.run_store import RunStore
from pipeline.store.sqlite import DATABASE, connect, connect_readonly
from scenarios.errors import UsageError
from tests.pipeline.store.samples import begun

LINKS = {"symbolic": os.symlink, "hard": os.link}
Link = Callable[[Path, Path], None]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    begun(tmp_path / "run").close()
    return tmp_path / "run"


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A file of the user's outside of the run, for everybody to execute."""
    path = tmp_path / "victim"
    path.write_bytes(b"precious\n" * 10)
    path.chmod(0o755)
    return path


@pytest.fixture(params=LINKS)
def link(request: pytest.FixtureRequest) -> Link:
    return LINKS[request.param]


def state_of(path: Path) -> tuple[bytes, int]:
    return path.read_bytes(), path.stat().st_mode


def test_a_file_of_its_own_or_none_is_left_alone(tmp_path):
    for path in (tmp_path / "none", tmp_path, tmp_path / "none" / "below"):
        refuse_link(path)
    (tmp_path / "file").touch()
    refuse_link(tmp_path / "file")


def test_what_is_no_file_of_its_own_is_named_with_a_way_out(tmp_path, victim):
    os.link(victim, tmp_path / "hard")
    (tmp_path / "soft").symlink_to(victim)
    (tmp_path / "nowhere").symlink_to(tmp_path / "absent")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    os.mkfifo(tmp_path / "pipe")
    for name, what in (
        ("hard", "a hard link"), ("soft", "a link to another"), ("nowhere", "a link to another"),
        ("loop", "a link to another"), ("pipe", "no regular file"),
    ):  # fmt: skip
        with pytest.raises(UsageError, match=f"{tmp_path / name} is {what}") as caught:
            refuse_link(tmp_path / name)
        assert caught.value.hint == "put a copy of the file in its place, or remove it"


def test_the_lock_is_not_written_through_a_link(tmp_path, victim, link):
    before = state_of(victim)
    link(victim, tmp_path / LOCK)
    with pytest.raises(UsageError, match=f"{LOCK} is a"):
        RunLock(tmp_path)
    assert state_of(victim) == before
    assert not is_locked(tmp_path)


def test_a_pipe_in_place_of_the_lock_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / LOCK)
    assert not is_locked(tmp_path)
    with pytest.raises(UsageError, match="no regular file"):
        RunLock(tmp_path)


def test_the_lock_of_another_folder_is_not_taken_for_that_of_this_one(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    (tmp_path / "two" / LOCK).symlink_to(tmp_path / "one" / LOCK)
    lock = RunLock(tmp_path / "one")
    assert not is_locked(tmp_path / "two")
    lock.release()


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm"])
def test_people_are_not_kept_in_a_file_elsewhere(run, victim, link, suffix):
    with ReviewStore.open(run) as store:
        store.people.add_account("Ada", "annotator", "secret")
    before = state_of(victim)
    (run / f"{PEOPLE}{suffix}").unlink(missing_ok=True)
    link(victim, run / f"{PEOPLE}{suffix}")
    with pytest.raises(UsageError, match=f"{PEOPLE}{suffix} is a"):
        ReviewStore.open(run)
    assert state_of(victim) == before


def test_a_file_of_people_is_not_made_elsewhere(run, tmp_path):
    (run / PEOPLE).symlink_to(tmp_path / "absent")
    with pytest.raises(UsageError, match=f"{PEOPLE} is a link"):
        ReviewStore.open(run)
    assert not (tmp_path / "absent").exists()


def test_a_database_elsewhere_is_not_written(run, tmp_path, link):
    elsewhere = tmp_path / "elsewhere.sqlite"
    shutil.copy(run / DATABASE, elsewhere)
    with closing(sqlite3.connect(elsewhere)) as database:
        database.execute("pragma journal_mode = delete")
    before = state_of(elsewhere)
    (run / DATABASE).unlink()
    link(elsewhere, run / DATABASE)
    for opened in (RunStore.open, ReviewStore.open):
        with pytest.raises(UsageError, match=f"{DATABASE} is a"):
            opened(run)
    assert state_of(elsewhere) == before
    with RunStore.open(run, readonly=True) as store:  # which changes nothing
        assert store.configs()


@pytest.mark.parametrize("suffix", ["-wal", "-shm", "-journal"])
@pytest.mark.parametrize("opening", [connect, connect_readonly])
def test_what_sqlite_keeps_beside_a_database_is_not_kept_elsewhere(
    run, victim, link, suffix, opening
):
    before = state_of(victim)
    link(victim, run / f"{DATABASE}{suffix}")
    with pytest.raises(UsageError, match=f"{DATABASE}{suffix} is a"):
        opening(run / DATABASE)
    assert state_of(victim) == before


def journal_over(path: Path) -> bytes:
    """Return a journal after which SQLite deletes a file: it says that two databases share it."""
    mark, name = bytes.fromhex("d9d505f920a163d7"), bytes(path)
    head = (mark + struct.pack(">5I", 0, 1, 1, 512, 4096)).ljust(512, b"\0")
    return (
        head
        + struct.pack(">I", (1 << 30) // 4096 + 1)
        + name
        + struct.pack(">2I", len(name), sum(name))
        + mark
    )


@pytest.mark.parametrize("name", [DATABASE, PEOPLE])
def test_no_journal_lets_sqlite_delete_a_file(run, victim, name):
    with ReviewStore.open(run) as store:
        store.people.add_account("Ada", "annotator", "secret")
    journal = run / f"{name}-journal"
    journal.write_bytes(journal_over(victim))
    with pytest.raises(UsageError, match=f"{name}-journal names a file that would be deleted"):
        ReviewStore.open(run)
    assert victim.exists()
    journal.write_bytes(b"short")
    connect(run / name).close()
    assert victim.exists()


def test_a_run_that_is_reached_through_a_link_goes_on(run, tmp_path):
    (tmp_path / "shown").symlink_to(run)
    with ReviewStore.open(tmp_path / "shown") as store:
        store.people.add_account("Ada", "annotator", "secret")
    with RunStore.open(tmp_path / "shown") as store:
        store.set_state("finished")
    assert (run / PEOPLE).is_file()
