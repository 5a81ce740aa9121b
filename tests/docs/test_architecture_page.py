"""The page on architecture names files that are there, and names that stand in them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
FILES = sorted(set(re.findall(r"`([\w./]+/[\w.]+\.(?:py|yaml))`", PAGE)))
ROWS = re.findall(r"^\| (.+?) \| `(.+?)` \| `(\w+)` \|$", PAGE, re.MULTILINE)


@pytest.mark.parametrize("path", FILES)
def test_a_named_file_is_there(path: str) -> None:
    assert (ROOT / path).is_file()


@pytest.mark.parametrize(("concept", "path", "name"), ROWS, ids=[row[0] for row in ROWS])
def test_a_concept_stands_where_the_table_says(concept: str, path: str, name: str) -> None:
    source = (ROOT / path).read_text(encoding="utf-8")
    assert re.search(rf"^(?:class|def|async def) {name}\b|^{name}\b", source, re.MULTILINE), concept


def test_the_table_has_a_row_for_many_concepts() -> None:
    assert len(ROWS) >= 40
