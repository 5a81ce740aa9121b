"""The page on the database names every table, view and column there is, and its queries run."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from pipeline.store.people_database import create_people

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "database.md").read_text(encoding="utf-8")
QUERIES = re.findall(r"^([^\n]+)\n\n```sql\n(.*?)```", PAGE, re.MULTILINE | re.DOTALL)
MAY_BE_EMPTY = ("Why did cases fail?", "Which answers came after a repair?")


def tables_in(connection: sqlite3.Connection, prefix: str = "") -> dict[str, list[tuple[str, str]]]:
    names = connection.execute(
        "select name, type from sqlite_schema where type in ('table', 'view') and name not like 'sqlite_%'"
    ).fetchall()
    return {
        f"{prefix}{name}{' (view)' if kind == 'view' else ''}": [
            (column[1], column[2] or "any")
            for column in connection.execute(f"pragma table_info({name})")
        ]
        for name, kind in names
    }


def tables_of_the_page() -> dict[str, list[tuple[str, str, str]]]:
    sections = re.split(r"^### ", PAGE, flags=re.MULTILINE)[1:]
    return {
        section.splitlines()[0]: re.findall(
            r"^\| `(\w+)` \| (\w+) \| (.+) \|$", section, re.MULTILINE
        )
        for section in sections
    }


def test_every_table_and_column_is_described_and_no_other(run: Path) -> None:
    with closing(sqlite3.connect(run / "run.sqlite")) as connection:
        there = tables_in(connection)
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as people:
        create_people(people, "mark")
        there |= tables_in(people, "people.")
    page = tables_of_the_page()
    assert {name: [row[:2] for row in rows] for name, rows in page.items()} == there
    assert all(text.strip() for rows in page.values() for _, _, text in rows)


def test_there_are_ten_queries() -> None:
    assert len(QUERIES) == 10


@pytest.mark.parametrize(("question", "query"), QUERIES, ids=[question for question, _ in QUERIES])
def test_the_query_answers_its_question(run: Path, question: str, query: str) -> None:
    with closing(sqlite3.connect(f"file:{run}/run.sqlite?mode=ro", uri=True)) as connection:
        rows = connection.execute(query).fetchall()
    assert rows or question in MAY_BE_EMPTY
    assert all(row[0] is not None and row[1] is not None for row in rows)
