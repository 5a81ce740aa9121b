"""Who may read what is written as a whole: as with what it replaces, or as the user's umask says."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from scenarios.atomic_files import new_file, new_folder, write_text
from scenarios.errors import UsageError


@pytest.fixture(params=[0o022, 0o077, 0o027])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def filled(folder: Path) -> Path:
    with new_folder(folder, lambda _: None) as draft:
        (draft / "in").touch()
    return folder


def test_what_is_new_is_as_the_umask_says(tmp_path, umask):
    write_text(tmp_path / "below" / "file", "x")
    filled(tmp_path / "folder")
    assert mode(tmp_path / "below" / "file") == 0o666 & ~umask
    assert mode(tmp_path / "below") == mode(tmp_path / "folder") == 0o777 & ~umask


@pytest.mark.parametrize("name", ["pipe", "link"])
def test_no_file_takes_the_place_of_a_pipe_or_a_device(tmp_path, name):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    with pytest.raises(UsageError, match=f"{name} is a device or a pipe, not a file"):
        write_text(tmp_path / name, "x")
    assert (tmp_path / "pipe").is_fifo()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "pipe"]


@pytest.mark.parametrize("kept", [0o600, 0o640, 0o664, 0o444])
def test_a_file_that_is_replaced_stays_as_open_as_it_was(tmp_path, umask, kept):
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(kept)
    with new_file(path) as file:
        file.write(b"new")
        (draft,) = tmp_path.glob(".file.*")
        assert mode(draft) & ~kept & 0o077 == 0, "not even while it is written"
    assert (path.read_text(), mode(path)) == ("new", kept)
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_a_folder_that_is_replaced_stays_as_open_as_it_was(tmp_path, umask):
    folder = filled(tmp_path / "folder")
    folder.chmod(0o750)
    assert mode(filled(folder)) == 0o750


def test_a_file_may_be_for_its_owner_alone_whatever_was_there(tmp_path, umask):
    path = tmp_path / "file"
    for _ in range(2):
        with new_file(path, 0o600):
            pass
        assert mode(path) == 0o600
        path.chmod(0o644)


@pytest.mark.parametrize("is_there", [True, False])
def test_a_folder_takes_the_place_of_a_link_of_which_nothing_is_left(tmp_path, is_there):
    target, link = tmp_path / "target", tmp_path / "link"
    if is_there:
        target.mkdir()
        (target / "kept").touch()
    link.symlink_to(target)
    with new_folder(link, lambda _: None) as draft:
        (draft / "new").touch()
    assert not link.is_symlink()
    files = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert files == {"link/new"} | ({"target/kept"} if is_there else set())
    assert {path.name for path in tmp_path.iterdir()} <= {"link", "target"}


def test_a_link_is_replaced_and_what_it_leads_to_stays(tmp_path):
    target, path = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    target.chmod(0o600)
    path.symlink_to(target)
    write_text(path, "new")
    assert not path.is_symlink()
    assert (target.read_text(), path.read_text()) == ("old", "new")
