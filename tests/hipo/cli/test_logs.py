"""The log on standard error: off unless asked for, one line a record, whatever else is drawn."""

from __future__ import annotations

import io
import json
import logging
import sys
from pathlib import Path

import pytest
from rich.console import Console
from rich.progress import Progress

from hipo.cli.terminal.logs import logging_to_stderr
from scenarios.log import logger
from tests.hipo.cli.conftest import Hipo
from tests.wire.faults import Faults
from tests.wire.server import WireServer


def generate(hipo: Hipo, server: WireServer, *options: str) -> list[str]:
    result = hipo(
        *options, "generate", "--model", "compatible/m", "--base-url", server.openai_url,
        "--scenarios", "used_car", "-n", "2", "-o", "run", "-q",
    )  # fmt: skip
    assert result.code == 0, result.err
    return result.err.splitlines()


def test_retries_and_the_run_are_told_as_json_lines(
    hipo: Hipo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-the-log")
    with WireServer(faults=Faults(script=("rate_limited",), retry_after="0.01")) as server:
        lines = generate(hipo, server, "--log-level", "info", "--log-format", "json")
    records = [json.loads(line) for line in lines]
    assert all(list(r) == ["time", "level", "logger", "message", "fields"] for r in records)
    assert {record["logger"] for record in records} >= {"hipo.run", "hipo.endpoint"}
    retry = next(record for record in records if "asking again" in record["message"])
    assert retry["fields"]["code"] == "rate_limited"
    assert retry["fields"]["model"] == "compatible/m"
    assert retry["fields"]["retry_after_s"] == 0.01
    assert "sk-not-for-the-log" not in "".join(lines)


def test_nothing_is_logged_unless_it_is_asked_for(hipo: Hipo) -> None:
    with WireServer() as server:
        assert generate(hipo, server) == []
        (line,) = generate(hipo, server, "--log-level", "info")
    assert "info hipo.run: going on with the run in run" in line


def test_an_unknown_level_is_refused(hipo: Hipo) -> None:
    result = hipo("--log-level", "loud", "runs")
    assert result.code == 2
    assert "'warning'" in result.err


def test_a_command_leaves_logging_as_it_was(hipo: Hipo, tmp_path: Path) -> None:
    root = logging.getLogger("hipo")
    before = (root.level, list(root.handlers))
    assert hipo("--log-level", "debug", "runs").code == 0
    assert (root.level, list(root.handlers)) == before


def test_a_line_stands_above_a_progress_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(sys, "stderr", terminal)
    console = Console(file=terminal, force_terminal=True, width=60)
    with (
        logging_to_stderr("warning", "text"),
        Progress(console=console, transient=True) as bar,
    ):
        bar.add_task("half of it", total=2, completed=1)
        logger("test").warning("told while it is drawn")
        assert sys.stderr is not terminal
    written = terminal.getvalue()
    assert "warning hipo.test: told while it is drawn" in " ".join(written.split())


def test_what_a_server_sends_neither_drives_the_terminal_nor_poses_as_a_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with logging_to_stderr("info", "text"):
        fields = {"request_id": "a\x1b[31mb\u202ec"}
        logger("test").info("it said \x9b2J\n2026 info run: done", extra={"fields": fields})
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(r"it said \x9b2J\n2026 info run: done (request_id=a\x1b[31mb\x202ec)")


def test_as_json_it_drives_the_terminal_as_little_and_is_the_same(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with logging_to_stderr("info", "json"):
        logger("test").info("it said \x9b2J\u202e")
    written = capsys.readouterr().err
    assert json.loads(written)["message"] == "it said \x9b2J\u202e"
    assert "\x9b" not in written
