"""Running commands as a user does, and reading the JSON that they write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hipo.cli.main import run

Figures = dict[str, Any]


def figures(target: Path, *words: str | Path) -> Figures:
    """Return what a command writes with ``--json``; it has to succeed."""
    assert run([*map(str, words), "--json", str(target)]) == 0
    written: Figures = json.loads(target.read_text(encoding="utf-8"))
    return written


def statistics(group: Figures) -> dict[tuple[str, str], Figures]:
    """Return the statistics of a group of ``hipo agreement`` by dimension and name."""
    return {(row["dimension"], row["statistic"]): row for row in group["statistics"]}
