"""The code on the page on Python runs, and every name that hipo offers stands on it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import hipo
from tests.scripts import run_script

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "python-api.md").read_text(encoding="utf-8")
CODE = "\n".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))


@pytest.mark.filterwarnings("default")
def test_the_code_of_the_page_runs_from_top_to_bottom(tmp_path: Path) -> None:
    (tmp_path / "page.py").write_text(CODE, encoding="utf-8")
    assert "are distinct" in run_script(tmp_path / "page.py", tmp_path)


def test_every_name_is_imported_on_the_page() -> None:
    imported = set(
        re.findall(r"\w+", " ".join(re.findall(r"^from hipo import (.+)$", CODE, re.MULTILINE)))
    )
    assert imported == set(hipo.__all__)
