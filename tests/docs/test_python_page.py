"""The code on the page on Python runs, and every name that hipo offers stands on it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import hipo

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "python-api.md").read_text(encoding="utf-8")
CODE = "\n".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))


def test_the_code_of_the_page_runs_from_top_to_bottom(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CODE], cwd=tmp_path, env={"PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_every_name_is_imported_on_the_page() -> None:
    imported = set(
        re.findall(r"\w+", " ".join(re.findall(r"^from hipo import (.+)$", CODE, re.MULTILINE)))
    )
    assert imported == set(hipo.__all__)
