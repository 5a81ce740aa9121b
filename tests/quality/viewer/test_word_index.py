"""Words are found where they are said, and an index that does not fit its run is made anew."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from pipeline.store.queries.browsing import BrowsingReader
from pipeline.store.run_store import RunStore
from pipeline.store.sqlite import DATABASE, connect_readonly
from quality.viewer.word_index import _TABLES, FILE, FORMAT, WordIndex
from scenarios.errors import UsageError
from tests.factories import ARM, make_case, make_dialogue, make_run

SAID = (
    "The odometer was never turned back.",
    "You'll hear it, minute by minute; never fear.",
    "这辆车的里程表没有动过。",
    'She said "OR NOT" (twice) - near the car*',
)


def run_of(folder: Path, *said: str) -> Path:
    dialogues = [
        make_dialogue("Why?", text, case=make_case(repetition=number))
        for number, text in enumerate(said)
    ]
    return make_run(folder, dialogues)


@contextmanager
def indexed(folder: Path) -> Iterator[WordIndex]:
    with closing(connect_readonly(folder / DATABASE)) as connection:
        reader = BrowsingReader(connection)
        with closing(WordIndex(folder, reader)) as index:
            while index.step(reader.marks().dialogues):
                pass
            yield index


def found(index: WordIndex, wish: str) -> list[int] | None:
    numbers = index.search(wish)
    return None if numbers is None else numbers.tolist()


@pytest.mark.parametrize(
    ("wish", "numbers"),
    [
        ("odometer", [1]),
        ("ODOMETER back", [1]),
        ("never", [1, 2]),
        ("never car", []),
        ('"turned back"', [1]),
        ('"back turned"', []),
        ("odo", []),
        ("odo*", [1]),
        ("you'll", [2]),
        ("里程", [3]),
        ("程里", []),
        ('" OR "', [4]),
        ("(twice) near*", [4]),
        ('text:never"', []),
        ("*", None),
        ('""', None),
        ("--", None),
    ],
)
def test_words_are_found_and_never_obeyed(
    tmp_path: Path, wish: str, numbers: list[int] | None
) -> None:
    with indexed(run_of(tmp_path / "run", *SAID)) as index:
        assert found(index, wish) == numbers


def test_an_index_is_kept_and_goes_on_with_what_was_added(tmp_path: Path) -> None:
    folder = run_of(tmp_path / "run", "apples")
    late, lost = make_case(repetition=7), make_case(repetition=8)
    with RunStore.open(folder) as store:
        asyncio.run(store.add_cases([late, lost]))
        asyncio.run(store.fail(lost, ARM, "timeout", "no answer", 0))
    with indexed(folder) as index:
        assert index.until == 2
        with RunStore.open(folder) as store:
            asyncio.run(store.finish(make_dialogue("Why?", "pears", case=late), 0))
            asyncio.run(store.finish(make_dialogue("Why?", "plums", case=lost), 1))
    with (
        closing(connect_readonly(folder / DATABASE)) as connection,
        closing(WordIndex(folder, BrowsingReader(connection))) as index,
    ):
        assert index.until == 2, "what was indexed is not indexed again"
        index.step(3)
        assert [found(index, word) for word in ("apples", "pears", "plums")] == [[1], [3], [2]]


def test_an_index_of_another_run_is_noticed(tmp_path: Path) -> None:
    first, second = run_of(tmp_path / "a", "apples"), run_of(tmp_path / "b", "pears", "plums")
    with indexed(first):
        pass
    shutil.copy(first / FILE, second / FILE)
    with indexed(second) as index:
        assert (found(index, "apples"), found(index, "pears")) == ([], [1])


def test_an_index_of_more_than_the_run_holds_is_noticed(tmp_path: Path) -> None:
    folder = run_of(tmp_path / "run", "apples")
    backup = Path(shutil.copytree(folder, tmp_path / "backup"))
    late = make_case(repetition=7)
    with RunStore.open(folder) as store:
        asyncio.run(store.add_cases([late]))
        asyncio.run(store.finish(make_dialogue("Why?", "pears", case=late), 0))
    with indexed(folder) as index:
        assert found(index, "pears") == [2]
    shutil.copy(folder / FILE, backup / FILE)
    with indexed(backup) as index:
        assert (found(index, "pears"), found(index, "apples")) == ([], [1])


def test_a_damaged_index_is_made_anew(tmp_path: Path) -> None:
    folder = run_of(tmp_path / "run", "apples")
    (folder / FILE).write_bytes(b"no database at all" * 100)
    with indexed(folder) as index:
        assert found(index, "apples") == [1]


def test_where_nothing_can_be_written_the_index_lives_elsewhere(tmp_path: Path) -> None:
    folder = run_of(tmp_path / "run", "apples")
    (folder / FILE).mkdir()
    with indexed(folder) as index:
        assert found(index, "apples") == [1]
        elsewhere = index.path
        assert elsewhere.parent != folder
    assert not elsewhere.exists()


def made(path: Path, *statements: str) -> None:
    """Write an index with the tables and the version that hipo writes, and further statements."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in (*_TABLES, f"pragma user_version = {FORMAT}", *statements):
            connection.execute(statement)


def state(**values: str) -> list[str]:
    return [f"insert into state values ('{name}', '{value}')" for name, value in values.items()]


ENDLESS = """create view failed as with recursive n(dialogue) as
    (select 1 union all select dialogue + 1 from n) select dialogue from n"""


@pytest.mark.parametrize(
    "statements",
    [
        state(until="x{"),
        state(until="3"),
        state(created='"x"', until='"x"', newest="[]", finished_at="1"),
        state(created='"x"', until="1", newest="18446744073709551615", finished_at="1"),
        state(created='"x"', until="1e999", newest="-1", finished_at="null"),
        state(created="null", until="0", newest="0", finished_at="null", more="1"),
        [
            "drop table failed",
            ENDLESS,
        ],
        ["create trigger t after insert on state begin delete from state; end"],
        ["create table more (a)"],
    ],
)
def test_an_index_that_holds_what_hipo_does_not_write_is_made_anew(
    tmp_path: Path, statements: list[str]
) -> None:
    folder = run_of(tmp_path / "run", "apples")
    made(folder / FILE, *statements)
    with indexed(folder) as index:
        assert index.path == folder / FILE
        assert found(index, "apples") == [1]
    with closing(sqlite3.connect(folder / FILE)) as connection:
        names = {name for (name,) in connection.execute("select name from sqlite_schema")}
        assert not {"t", "more"} & names
        assert connection.execute("select count(*) from state").fetchone() == (4,)


def test_words_that_are_damaged_are_said_to_be_so(tmp_path: Path) -> None:
    folder = run_of(tmp_path / "run", "apples")
    with indexed(folder) as index:
        with closing(sqlite3.connect(folder / FILE)) as connection:
            connection.execute("update words_data set block = x'ffffffffffffffffffff'")
            connection.commit()
        with pytest.raises(UsageError, match=f"{FILE} is damaged"):
            index.search("apples")


@pytest.mark.parametrize("linked", [os.symlink, os.link])
def test_an_index_is_not_kept_in_a_file_elsewhere(
    tmp_path: Path, linked: Callable[[Path, Path], None]
) -> None:
    folder, elsewhere = run_of(tmp_path / "run", "apples"), tmp_path / "elsewhere"
    made(elsewhere)
    before = elsewhere.read_bytes()
    linked(elsewhere, folder / FILE)
    with pytest.raises(UsageError, match=f"{FILE} is a"), indexed(folder):
        pass
    assert elsewhere.read_bytes() == before


def test_an_index_is_not_made_elsewhere(tmp_path: Path) -> None:
    folder = run_of(tmp_path / "run", "apples")
    (folder / FILE).symlink_to(tmp_path / "absent")
    with pytest.raises(UsageError, match=f"{FILE} is a link"), indexed(folder):
        pass
    assert not (tmp_path / "absent").exists()
