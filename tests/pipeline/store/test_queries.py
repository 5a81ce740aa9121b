"""What the queries of a run may count on, whichever SQLite a Python comes with."""

from __future__ import annotations

import ast
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import pipeline.store
from pipeline.store.migrations import MIGRATIONS

MODULES = sorted(Path(pipeline.store.__path__[0]).rglob("*.py"))


@pytest.fixture(scope="module")
def views() -> set[str]:
    with closing(sqlite3.connect(":memory:")) as connection:
        for step in MIGRATIONS:
            step(connection)
        return {
            name
            for (name,) in connection.execute("select name from sqlite_schema where type = 'view'")
        }


def texts(module: Path) -> list[str]:
    """Return the texts of a module as they are written, those with braces in them too."""
    nodes = ast.walk(ast.parse(module.read_text(encoding="utf-8")))
    return [ast.unparse(n) for n in nodes if isinstance(n, ast.Constant | ast.JoinedStr)]


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_no_query_asks_a_view_for_the_number_of_a_row(module, views):
    """Most builds of SQLite refuse it; Debian's gives null."""
    named = re.compile(rf"\b(?:{'|'.join(sorted(views))})\s+(?:as\s+)?(\w+)")
    for text in texts(module):
        called = {*named.findall(text), *views}
        assert not called & set(re.findall(r"\b(\w+)\.rowid\b", text)), text
