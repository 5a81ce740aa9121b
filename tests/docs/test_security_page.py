"""Every promise of the page on security names tests, and they are there."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
ROWS = [
    (promise.strip(), tests)
    for promise, tests in re.findall(r"^\| (.+?) \| (`tests/.+) \|$", PAGE, re.MULTILINE)
]
TESTS = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)))


@cache
def functions_of(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


@pytest.mark.parametrize(("path", "name"), TESTS, ids=[name for _, name in TESTS])
def test_a_test_that_the_page_names_is_there(path: str, name: str) -> None:
    assert (ROOT / path).is_file(), path
    assert name in functions_of(path)


def test_every_row_of_promises_names_a_test_in_full() -> None:
    tables = re.findall(r"^\| Promise \| Test \|\n\|---\|---\|\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    rows = [row for table in tables for row in table.splitlines()]
    assert len(rows) == len(ROWS) > 40
    for promise, tests in ROWS:
        named = re.sub(r"`tests/[\w/]+\.py::test_\w+`", "", tests)
        assert re.fullmatch(r"[, ]*", named), promise


def test_every_part_says_what_is_not_promised() -> None:
    parts = re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]
    promising = [part for part in parts if "| Promise |" in part]
    assert len(promising) >= 7
    for part in promising:
        assert "Not promised:" in part, part.splitlines()[0]
