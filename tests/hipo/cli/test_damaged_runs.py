"""A run that is locked, forbidden or damaged: one message, exit 2, and the way out."""

from __future__ import annotations

import ctypes
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hipo.cli.main import run as run_command
from pipeline.store import sqlite
from pipeline.store.damaged_file import columns_of
from pipeline.store.migrations import MIGRATIONS
from tests.hipo.cli.conftest import Hipo, Result
from tests.hipo.cli.damage import UNREADABLE, Damage, flipped, page_of, sql

GENERATE = (
    "generate", "--model", "offline/rules", "--scenarios", "used_car", "--strategy",
    "direct,reflective", "-q",
)  # fmt: skip
COMMANDS = {
    "generate": (*GENERATE, "-n", "3", "-o", "runs/bad"),
    "verify": ("verify", "bad", "--judge", "offline/judge", "-q"),
    "export": ("export", "bad", "--to", "sft", "--any", "--splits", "100,0,0", "-o", "set", "-q"),
    "report": ("report", "bad", "--no-embeddings", "-q"),
    "show": ("show", "bad"),
    "runs show": ("runs", "show", "bad"),
    "review reports": ("review", "reports", "bad"),
    "review export": ("review", "export", "bad", "--to", "csv", "--all", "-o", "answers.csv"),
    "study": ("study", "--models", "offline/rules", "--scenarios", "used_car", "-n", "2",
              "--judge", "offline/judge", "-o", "study", "-q"),
}  # fmt: skip


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run of four dialogues, judged; it is copied, never changed."""
    folder = tmp_path_factory.mktemp("sound") / "run"
    assert run_command([*GENERATE, "-n", "2", "-o", str(folder)]) == 0
    assert run_command(["verify", str(folder), "--judge", "offline/judge", "-q"]) == 0
    return folder


@pytest.fixture(scope="module")
def sound_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sound") / "study"
    assert run_command([*COMMANDS["study"][:-2], str(folder), "-q"]) == 0
    return folder


def spoilt(sound: Path, damage: Damage) -> None:
    """Put a damaged copy of the run to where the commands look for it."""
    shutil.rmtree("runs/bad", ignore_errors=True)
    shutil.copytree(sound, "runs/bad")
    damage(Path("runs/bad/run.sqlite"))


def names_file_and_way_out(result: Result) -> bool:
    """Whether there is one message of two lines that a user can act on."""
    lines = result.err.strip().splitlines()
    return (
        result.code == 2
        and len(lines) == 2
        and lines[0].startswith("error: ")
        and "run.sqlite" in lines[0]
        and any(word in lines[1] for word in ("hipo runs repair", "put a copy", "put the file"))
    )


@pytest.mark.parametrize("kind", UNREADABLE)
def test_every_command_says_what_is_wrong_with_a_database_and_what_to_do(
    hipo: Hipo, sound: Path, kind: str
) -> None:
    for name, command in COMMANDS.items():
        if name == "study" or (name == "review reports" and "configuration" in kind):
            continue  # reads no configuration
        spoilt(sound, UNREADABLE[kind])
        result = hipo(*command)
        assert names_file_and_way_out(result), (name, result)


def test_a_study_names_the_run_that_cannot_be_read(hipo: Hipo, sound_study: Path) -> None:
    shutil.copytree(sound_study, "study")
    (database,) = Path("study").rglob("run.sqlite")
    UNREADABLE["header"](database)
    result = hipo(*COMMANDS["study"])
    assert names_file_and_way_out(result), result


@pytest.mark.parametrize("seed", range(6))
def test_flipped_bits_are_never_an_internal_error(hipo: Hipo, sound: Path, seed: int) -> None:
    for name in ("generate", "verify", "export", "show", "runs show", "review export"):
        spoilt(sound, flipped(seed))
        result = hipo(*COMMANDS[name])
        assert result.code in (0, 2), (name, result)


@pytest.mark.parametrize(
    ("damage", "commands"),
    [
        (page_of("turns"), ("export", "report", "verify", "review export")),
        (page_of("dialogues"), ("export", "report", "verify", "generate", "show")),
        (page_of("choices"), ("generate",)),
        (sql("drop table turns"), ("generate",)),
        (sql("update traces set trace = '{garbage'"), ("report", "review export")),
        (sql("update cases set variation = '{garbage'"), ("show", "export", "report")),
        (sql("update arms set description = '{garbage'"), ("runs show", "generate", "verify")),
        (sql("update materials set content = '{garbage'"), ("generate", "export", "verify")),
        (sql("delete from totals"), ("runs show", "generate", "verify")),
    ],
)
def test_damage_that_is_met_while_reading_or_writing_is_named_too(
    hipo: Hipo, sound: Path, damage: Damage, commands: tuple[str, ...]
) -> None:
    for name in commands:
        spoilt(sound, damage)
        result = hipo(*COMMANDS[name])
        assert names_file_and_way_out(result), (name, result)


def columns() -> list[tuple[str, str]]:
    """Return every table of a run with each of its columns."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as fresh:
        for step in MIGRATIONS:
            step(fresh)
        return sorted(columns_of(fresh))


WRONG = ("null", "-1", "1.5", "'x'", "'[1]'", "x'ff'", "x'5b5b315d5d'", "9e999")
READING = {
    "corpus": ("export", "bad", "-o", "set", "--overwrite", "-q"),
    "report": (*COMMANDS["report"], "--samples", "2"),
    "agreement": ("agreement", "bad", "--of", "external", "--with", "declared", "--resamples", "9"),
    "check": ("runs", "check", "bad"),
    "show": ("show", "bad"),
    "runs show": ("runs", "show", "bad"),
}


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    place=st.sampled_from(columns()),
    value=st.sampled_from(WRONG),
    everywhere=st.booleans(),
    command=st.sampled_from(list(READING)),
)
@example(("annotations", "value"), "null", True, "report")
@example(("annotations", "value"), "-1", True, "corpus")
@example(("annotations", "value"), "x'5b5b315d5d'", True, "agreement")
@example(("annotations", "second"), "x'ff'", True, "corpus")
@example(("dimensions", "id"), "'x'", False, "corpus")
@example(("turns", "role"), "'x'", True, "report")
@example(("turns", "dialogue"), "-1", False, "agreement")
@example(("requests", "prompt_tokens"), "-1", True, "report")
def test_a_wrong_value_in_any_column_is_never_an_internal_error(
    hipo: Hipo, sound: Path, place: tuple[str, str], value: str, everywhere: bool, command: str
) -> None:
    table, column = place
    some = "" if everywhere else f" where {column} is (select {column} from {table} limit 1)"
    try:
        spoilt(sound, sql(f"update {table} set {column} = {value}{some}"))
    except sqlite3.Error:
        return  # the table takes no such value
    assert hipo(*READING[command]).code in (0, 1, 2), command


def test_nothing_is_begun_anew_where_a_run_has_been(hipo: Hipo, sound: Path) -> None:
    spoilt(sound, UNREADABLE["zero-length"])
    assert hipo(*COMMANDS["generate"]).code == 2
    assert Path("runs/bad/run.sqlite").stat().st_size == 0
    Path("runs/bad/run.sqlite").unlink()
    result = hipo(*COMMANDS["generate"])
    assert (result.code, "run.sqlite is gone" in result.err) == (2, True)
    Path("runs/bad/run.yaml").unlink()
    assert hipo(*COMMANDS["generate"]).code == 0


def test_a_list_of_runs_marks_the_one_that_cannot_be_read(hipo: Hipo, sound: Path) -> None:
    spoilt(sound, UNREADABLE["header"])
    shutil.copytree(sound, "runs/good")
    listed = hipo("runs", "--format", "json")
    bad, good = listed.data
    assert listed.code == 0
    assert (bad["name"], bad["state"]) == ("bad", "unreadable")
    assert "not a database" in bad["error"]
    assert (good["generated"], good["state"]) == (4, "finished")
    assert "hipo runs repair" in listed.err
    rows = hipo("runs").out.splitlines()
    assert [row.split()[:2] for row in rows[1:]] == [["bad", "unreadable"], ["good", "finished"]]


def test_a_lock_that_is_a_folder_is_named(hipo: Hipo, sound: Path) -> None:
    shutil.copytree(sound, "runs/bad")
    as_file = Path("runs/bad/run.lock")
    as_file.unlink()
    as_file.mkdir()
    for name in ("generate", "verify"):
        result = hipo(*COMMANDS[name])
        assert result.code == 2
        assert "run.lock cannot be written" in result.err
        assert "move the folder away" in result.err
    assert hipo("runs", "show", "bad").code == 0


def test_a_database_that_somebody_locks_is_no_internal_error(
    hipo: Hipo, sound: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "BUSY_TIMEOUT_MS", 1)
    shutil.copytree(sound, "runs/bad")
    with closing(sqlite3.connect("runs/bad/run.sqlite", isolation_level=None)) as other:
        other.execute("begin immediate")
        for name in ("generate", "verify"):
            result = hipo(*COMMANDS[name])
            assert result.code == 2, name
            assert "run.sqlite is locked by another process" in result.err
        assert hipo("runs", "show", "bad").code == 0, "readers are not kept out"
    assert hipo(*COMMANDS["generate"]).code == 0


@contextmanager
def without_override() -> Iterator[None]:
    """Take from root the right to ignore the permissions of files, for this thread."""
    if os.geteuid() != 0:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    before, without = (ctypes.c_uint32 * 6)(), (ctypes.c_uint32 * 6)()
    assert libc.capget(header, before) == 0
    without[:] = before[:]
    without[0] &= ~0b110  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
    assert libc.capset(header, without) == 0
    try:
        yield
    finally:
        assert libc.capset(header, before) == 0


def test_a_database_that_may_not_be_written_or_read_is_named(hipo: Hipo, sound: Path) -> None:
    shutil.copytree(sound, "runs/bad")
    database = Path("runs/bad/run.sqlite")
    database.chmod(0o444)
    with without_override():
        assert hipo("runs", "show", "bad").code == 0
        for name in ("generate", "verify"):
            result = hipo(*COMMANDS[name])
            assert result.code == 2, (name, result)
            assert "run.sqlite cannot be written" in result.err
            assert "chmod u+rwX" in result.err
        database.chmod(0o000)
        for name in ("generate", "show", "export", "report", "runs show", "review reports"):
            result = hipo(*COMMANDS[name])
            assert result.code == 2, (name, result)
            assert "run.sqlite cannot be read: permission denied" in result.err


def test_a_folder_that_may_not_be_written_is_read_and_named_when_written(
    hipo: Hipo, sound: Path
) -> None:
    shutil.copytree(sound, "runs/bad")
    Path("runs/bad").chmod(0o555)
    for file in Path("runs/bad").iterdir():
        file.chmod(0o444)
    try:
        with without_override():
            for name in ("runs show", "show", "export"):
                assert hipo(*COMMANDS[name]).code == 0, name
            for name in ("generate", "verify"):
                result = hipo(*COMMANDS[name])
                assert result.code == 2, (name, result)
                assert "runs/bad/run.lock cannot be written: Permission denied" in result.err
    finally:
        Path("runs/bad").chmod(0o755)


def test_a_folder_that_may_not_be_looked_into_is_named(hipo: Hipo, sound: Path) -> None:
    shutil.copytree(sound, "runs/bad")
    shutil.copytree(sound, "runs/good")
    Path("runs/bad").chmod(0o000)
    try:
        with without_override():
            for name in ("show", "report", "runs show"):
                result = hipo(*COMMANDS[name])
                assert result.code == 2, (name, result)
                assert "bad/run.sqlite: permission denied" in result.err
                assert "give yourself the right" in result.err
            listed = hipo("runs", "--format", "json")
    finally:
        Path("runs/bad").chmod(0o755)
    assert listed.code == 0
    assert [state["state"] for state in listed.data] == ["unreadable", "finished"]
    assert "permission denied" in listed.err
