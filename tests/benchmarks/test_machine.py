"""The page of results names the machine, every goal, which of them were met, and what broke off."""

from __future__ import annotations

import platform
import socket

import pytest

from benchmarks import startup
from benchmarks.__main__ import measured
from benchmarks.machine import free_port, machine, results_page
from benchmarks.report import Goal, Row, table


def test_the_page_tells_machine_versions_times_and_goals() -> None:
    rows = [
        Row("kept", 1.1, "x", Goal.below(1.2)),
        Row("missed", 0.5, "", Goal.above(0.9)),
        Row("told", 3),
    ]
    page = results_page(
        rows, machine(), {"one": 60.0, "two": 30.2}, quick=True, names=["one", "two"]
    )
    assert f"- Python: {platform.python_version()}" in page
    assert "pydantic " in page
    assert "`python -m benchmarks one two --quick`" in page
    assert "- took: 1.5 min (one 60 s, two 30 s)" in page
    assert "1 of 2 goals met." in page
    assert "| kept | 1.1x | <= 1.2 | ok |" in page
    assert "| missed | 0.5 | >= 0.9 | MISSED |" in page


@pytest.mark.parametrize("error", [ValueError("a | b\nc"), SystemExit("a | b\nc")])
def test_a_benchmark_that_breaks_off_is_a_missed_goal_and_not_the_end(
    error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*, quick: bool) -> list[Row]:
        raise error

    monkeypatch.setattr(startup, "run", run)
    rows = measured("startup", {"quick": True})
    name = f"startup: broke off, {type(error).__name__}: a / b c"
    assert f"| {name} | 1 | <= 0 | MISSED |" in table(rows)


def test_no_connection_is_given_a_port_that_was_found_to_be_free() -> None:
    ports = {free_port() for _ in range(50)}
    assert max(ports) < 32_768
    assert len(ports) > 40, "two processes that look at once find two"
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", free_port()))
        listener.listen()
