"""The page of results names the machine, every goal, and which of them were met."""

from __future__ import annotations

import platform

from benchmarks.machine import machine, results_page
from benchmarks.report import Goal, Row


def test_the_page_tells_machine_versions_and_goals() -> None:
    rows = [
        Row("kept", 1.1, "x", Goal.below(1.2)),
        Row("missed", 0.5, "", Goal.above(0.9)),
        Row("told", 3),
    ]
    page = results_page(rows, machine(), quick=True)
    assert f"- Python: {platform.python_version()}" in page
    assert "pydantic " in page
    assert "--quick" in page
    assert "1 of 2 goals met." in page
    assert "| kept | 1.1x | <= 1.2 | ok |" in page
    assert "| missed | 0.5 | >= 0.9 | MISSED |" in page
