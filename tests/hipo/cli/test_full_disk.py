"""A disk that is full in mid-run, or a database that stays locked: stopped, and resumable."""

from __future__ import annotations

import errno
import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest

from pipeline.store import opening, run_store, sqlite, writer
from pipeline.store.call_rows import CallRows
from pipeline.store.merging import merge
from pipeline.store.own_files import right_to_write
from tests.hipo.cli.conftest import Hipo

GENERATE = (
    "generate", "--model", "offline/rules", "--scenarios", "used_car", "-n", "60", "-o", "runs/trial",
    "-q",
)  # fmt: skip


def counts(folder: str = "runs/trial") -> tuple[int, int, int]:
    """Return how many requests, choices and dialogues are stored."""
    with closing(sqlite3.connect(Path(folder) / "run.sqlite")) as connection:
        return tuple(
            connection.execute(f"select count(*) from {table}").fetchone()[0]
            for table in ("requests", "choices", "dialogues")
        )  # type: ignore[return-value]


def test_a_full_disk_stops_the_run_and_the_same_command_goes_on(
    hipo: Hipo, monkeypatch: pytest.MonkeyPatch
) -> None:
    add = CallRows.add

    def on_a_small_disk(rows: CallRows, connection: sqlite3.Connection, calls: Any) -> None:
        (dialogues,) = connection.execute("select count(*) from dialogues").fetchone()
        if dialogues:  # a few are stored, and from now on no further reply
            (pages,) = connection.execute("pragma page_count").fetchone()
            connection.execute(f"pragma max_page_count = {pages}")
        add(rows, connection, calls)

    with monkeypatch.context() as full:
        full.setattr(CallRows, "add", on_a_small_disk)
        stopped = hipo(*GENERATE)
    assert stopped.code == 7, stopped
    assert "database or disk is full" in stopped.err
    assert re.search(
        r"\d+ repl(y|ies) could not be stored and will be asked for again", stopped.err
    )
    assert "paid" not in stopped.err
    last = stopped.err.strip().splitlines()[-1]
    assert last.startswith("  free some space on the disk of ")
    assert last.endswith("then the same command")
    assert stopped.err.count("free some space") == 1
    _, choices, dialogues = counts()
    assert 0 < dialogues < 60
    state = hipo("runs", "show", "trial", "--format", "json").data
    assert (state["generated"], state["failed"]) == (dialogues, {})
    assert hipo(*GENERATE).code == 0
    requests, all_choices, all_dialogues = counts()
    assert all_dialogues == 60
    assert 0 < choices < all_choices
    assert requests == all_choices, "no reply that was stored was paid for again"


def test_a_lock_that_stays_stops_the_run_and_no_case_fails_for_it(
    hipo: Hipo, monkeypatch: pytest.MonkeyPatch
) -> None:
    others: list[sqlite3.Connection] = []
    commit = writer.Writer._commit

    def locked_in_the_middle(self: writer.Writer, items: list[object]) -> None:
        if not others and counts()[2] > 5:
            others.append(
                sqlite3.connect(
                    "runs/trial/run.sqlite", isolation_level=None, check_same_thread=False
                )
            )
            others[0].execute("begin immediate")
        commit(self, items)  # type: ignore[arg-type]

    with monkeypatch.context() as locked:
        locked.setattr(sqlite, "BUSY_TIMEOUT_MS", 1)
        locked.setattr(opening, "PATIENCE_S", 0.001)
        locked.setattr(writer.Writer, "_commit", locked_in_the_middle)
        stopped = hipo(*GENERATE)
    assert stopped.code == 7, stopped
    assert "database is locked" in stopped.err
    assert "end what locks it" in stopped.err.splitlines()[-1]
    assert hipo("runs", "show", "trial", "--format", "json").data["failed"] == {}
    others[0].close()
    assert hipo(*GENERATE).code == 0
    assert counts()[2] == 60


@pytest.mark.parametrize("pages", [0, 20, 60], ids=["at once", "cases", "calls"])
def test_a_disk_too_small_for_a_merge_is_named_and_nothing_is_left(
    hipo: Hipo, monkeypatch: pytest.MonkeyPatch, pages: int
) -> None:
    assert hipo(*GENERATE).code == 0
    begin = merge._begin

    def on_a_small_disk(connection: sqlite3.Connection, name: str) -> None:
        (there,) = connection.execute("pragma page_count").fetchone()
        connection.execute(f"pragma max_page_count = {there + pages}")
        begin(connection, name)

    with monkeypatch.context() as full:
        full.setattr(merge, "_begin", on_a_small_disk)
        ended = hipo("runs", "merge", "trial", "-o", "runs/all")
    assert ended.code == 7, ended
    assert (
        f"{Path('runs/all').resolve()} could not be written: database or disk is full" in ended.err
    )
    assert f"free some space on the disk of {Path('runs').resolve()} (" in ended.err
    assert sorted(path.name for path in Path("runs").iterdir()) == ["trial"]
    assert hipo("runs", "merge", "trial", "-o", "runs/all").code == 0


def test_an_import_names_the_folder_that_was_asked_for(
    hipo: Hipo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = [
        {"role": "user", "content": "Was it ever hit?"},
        {"role": "assistant", "content": "No."},
    ]
    row = {"messages": talk, "scenario": "used_car", "fact": "guardrail"}
    Path("talks.jsonl").write_text(json.dumps(row))
    begin = run_store.begin

    def on_a_full_disk(connection: sqlite3.Connection, *rest: object) -> None:
        connection.execute("pragma max_page_count = 1")
        begin(connection, *rest)  # type: ignore[arg-type]

    with monkeypatch.context() as full:
        full.setattr(run_store, "begin", on_a_full_disk)
        ended = hipo("import", "talks.jsonl", "-o", "new/talks")
    assert ended.code == 7, ended
    assert f"{tmp_path / 'new/talks/run.sqlite'} cannot be used: database or disk" in ended.err
    assert f"  free some space on the disk of {tmp_path / 'new/talks'} (" in ended.err
    assert "partial" not in ended.err
    assert not Path("new").exists()
    assert hipo("import", "talks.jsonl", "-o", "new/talks").code == 0


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Let writing more than so many bytes into a file fail, as on a disk that is full.

    No bytecode is kept meanwhile: Python would leave the half of it that fits, and stumble over it later.
    """
    keeps, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
        sys.dont_write_bytecode = keeps


@contextmanager
def no_room_for_files() -> Iterator[None]:
    """Let every whole file find a full disk when it is brought there."""

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.MonkeyPatch.context() as changed:
        changed.setattr("scenarios.atomic_files.os.fsync", full)
        yield


@pytest.mark.parametrize(
    "command",
    [
        ("scenarios", "new", "lost", "-o", "new"),
        ("scheme", "new", "lost", "-o", "new"),
        ("scenarios", "graph", "used_car", "-o", "new/car.svg"),
    ],
)
def test_no_half_of_a_file_is_left(hipo: Hipo, command: tuple[str, ...]) -> None:
    with files_of_at_most(100):
        ended = hipo(*command)
    assert (ended.code, "cannot be written" in ended.err) == (7, True)
    assert not Path("new").exists()
    assert hipo(*command).code == 0


def test_answers_that_find_no_room_leave_no_folder(hipo: Hipo, tmp_path: Path) -> None:
    assert hipo(*GENERATE, "-n", "2").code == 0
    command = ("review", "export", "trial", "--to", "label-studio", "--all", "-o", "new/sheet")
    assert hipo(*command, "-n", "1").code == 0
    shutil.rmtree("new")
    with no_room_for_files():
        ended = hipo(*command[:-1], "new/sheet")
    assert ended.code == 7, ended
    assert ended.err.endswith("\n  make room on the disk, or choose another place\n")
    assert not Path("new").exists()


def test_a_run_that_finds_no_room_at_its_beginning_ends_like_one_in_its_middle(
    hipo: Hipo, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = run_store.begin

    def on_a_full_disk(connection: sqlite3.Connection, *rest: object) -> None:
        (pages,) = connection.execute("pragma page_count").fetchone()
        connection.execute(f"pragma max_page_count = {max(pages, 1)}")
        begin(connection, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(run_store, "begin", on_a_full_disk)
    ended = hipo(*GENERATE)
    assert ended.code == 7, ended
    assert "database or disk is full" in ended.err
    assert ended.err.count("free some space on the disk of") == 1


@pytest.mark.parametrize("call", ["open", "pwrite"])
@pytest.mark.parametrize(("number", "code"), [(errno.ENOSPC, 7), (errno.EACCES, 2)])
def test_a_run_that_cannot_begin_leaves_no_folder(
    hipo: Hipo, monkeypatch: pytest.MonkeyPatch, call: str, number: int, code: int
) -> None:
    def refused(*_: object) -> NoReturn:
        raise OSError(number, os.strerror(number))

    name = {"open": "open_own", "pwrite": "os.pwrite"}[call]
    with monkeypatch.context() as changed:
        changed.setattr(f"pipeline.store.locks.{name}", refused)
        ended = hipo(*GENERATE)
    assert ended.code == code, ended
    assert "run.lock cannot be written" in ended.err
    assert not Path("runs").exists()
    assert hipo(*GENERATE).code == 0


def test_a_folder_that_finds_no_room_is_no_mistake_of_the_user(
    hipo: Hipo, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("scenarios.atomic_files.Path.mkdir", full)
    ended = hipo(*GENERATE)
    assert ended.code == 7, ended
    assert "no space left on device" in ended.err


def test_of_a_disk_for_reading_alone_no_right_is_to_be_got(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run.sqlite"
    assert right_to_write(run, "work on a copy").startswith("give yourself the right (chmod u+rwX ")
    told = SimpleNamespace(f_flag=os.ST_RDONLY)
    monkeypatch.setattr("pipeline.store.own_files.os.statvfs", lambda _: told)
    assert right_to_write(run, "work on a copy") == (
        "its disk is mounted for reading alone: work on a copy"
    )


@pytest.mark.parametrize(
    ("number", "code", "advice"),
    [
        (errno.ENOSPC, 7, "make room on the disk, or choose another place"),
        (errno.EACCES, 2, "choose another place"),
    ],
)
def test_an_export_that_cannot_be_written_says_what_to_do(
    hipo: Hipo, monkeypatch: pytest.MonkeyPatch, number: int, code: int, advice: str
) -> None:
    def full(_: object, draft: Path, *__: object) -> None:
        raise OSError(number, os.strerror(number), str(draft / "rows.jsonl"))

    assert hipo(*GENERATE, "-n", "2").code == 0
    monkeypatch.setattr("outputs.export.export._written", full)
    ended = hipo("export", "trial", "--any", "-o", "set")
    assert ended.code == code
    assert "set cannot be written: " in ended.err
    assert ended.err.endswith(f"\n  {advice}\n")
    assert not Path("set").exists()
