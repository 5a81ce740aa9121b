"""The code on the page on Python runs, and every name that hipo offers stands on it."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import hipo
from tests.scripts import run_script

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "python-api.md").read_text(encoding="utf-8")
CODE = "\n".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
STRICT_WITHOUT_PACKAGES_OF_OTHERS = """
[mypy]
strict = true
ignore_missing_imports = true
follow_imports = skip
[mypy-hipo.*,scenarios.*,prompts.*,pipeline.*,quality.*,outputs.*,pydantic.*,pydantic_core.*]
follow_imports = silent
"""
"""Torch and the like, which take a minute to read, give no value on the page its type."""


@pytest.mark.filterwarnings("default")
def test_the_code_of_the_page_runs_from_top_to_bottom(tmp_path: Path) -> None:
    (tmp_path / "page.py").write_text(CODE, encoding="utf-8")
    assert "are distinct" in run_script(tmp_path / "page.py", tmp_path)


@pytest.mark.slow
def test_the_code_of_the_page_has_the_types_that_a_strict_checker_asks_for(tmp_path: Path) -> None:
    (tmp_path / "page.py").write_text(CODE, encoding="utf-8")
    (tmp_path / "mypy.ini").write_text(STRICT_WITHOUT_PACKAGES_OF_OTHERS)
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", str(tmp_path / "mypy.ini"),
         "--cache-dir", os.devnull, str(tmp_path / "page.py")],
        cwd=ROOT, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert checked.returncode == 0, checked.stdout


def test_every_name_is_imported_on_the_page() -> None:
    statements = ast.walk(ast.parse(CODE))
    imports = [
        one for one in statements if isinstance(one, ast.ImportFrom) and one.module == "hipo"
    ]
    assert {alias.name for one in imports for alias in one.names} == set(hipo.__all__)
