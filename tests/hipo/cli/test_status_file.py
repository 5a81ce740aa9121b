"""The status file: a whole JSON file at every moment, with how a command ended."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

from hipo.app.running.watching import Silent, Spending
from hipo.cli.terminal.errors import StoppedEarly
from hipo.cli.terminal.status_file import StatusFile
from pipeline.playing.runner import Progress
from scenarios.errors import UsageError
from tests.hipo.cli.conftest import Hipo


def test_a_run_leaves_its_counts_its_cost_and_its_exit_code(offline: Hipo, tmp_path: Path) -> None:
    command = ("-n", "3", "-o", "run", "-q", "--status-file", "status.json")
    assert offline(*command).code == 0
    status = json.loads((tmp_path / "status.json").read_text())
    assert (status["state"], status["exit_code"], status["stop_code"]) == ("finished", 0, "")
    assert (status["planned"], status["done"], status["failed"], status["present"]) == (3, 3, 0, 0)
    assert status["tokens"] > 0
    assert status["pid"] == os.getpid()
    assert status["started"] <= status["updated"]
    assert offline(*command).code == 0
    again = json.loads((tmp_path / "status.json").read_text())
    assert (again["done"], again["present"]) == (0, 3)


def test_a_stop_and_a_mistake_leave_their_words_and_codes(offline: Hipo, tmp_path: Path) -> None:
    where = ("-o", "run", "-q", "--status-file", "status.json")
    assert offline("-n", "600", *where, "--budget-tokens", "30000").code == 4
    status = json.loads((tmp_path / "status.json").read_text())
    assert (status["state"], status["exit_code"]) == ("stopped:budget", 4)
    assert "raise --budget-tokens above" in status["message"]
    assert offline("-n", "600", *where, "--strategy", "nope").code == 2
    status = json.loads((tmp_path / "status.json").read_text())
    assert (status["state"], status["exit_code"]) == ("stopped:configuration", 2)
    assert "nope" in status["message"]


def test_verification_is_counted_too(offline: Hipo, hipo: Hipo, tmp_path: Path) -> None:
    assert offline("-n", "2", "-o", "run", "-q").code == 0
    judged = hipo("verify", "run", "--judge", "offline/judge", "-q", "--status-file", "s.json")
    assert judged.code == 0
    status = json.loads((tmp_path / "s.json").read_text())
    assert (status["state"], status["done"]) == ("finished", 2)


def test_a_place_that_cannot_be_written_is_refused_before_anything_is_made(
    offline: Hipo, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    result = offline("-n", "2", "-o", "run", "--status-file", "file/status.json")
    assert result.code == 2
    assert not (tmp_path / "run").exists()


def test_it_is_rewritten_while_a_run_plays(tmp_path: Path) -> None:
    path, seen = tmp_path / "status.json", threading.Event()
    file = StatusFile(path, interval_s=0.01)

    def run() -> None:
        watching = file.watched(Silent())
        watching.begin(10, lambda: Spending(1200, 0.25))
        watching.see(Progress("done", 4))
        watching.see(Progress("failed", code="empty"))
        for _ in range(2_000):
            status = json.loads(path.read_text())
            if status["done"]:
                seen.set()
                break
            threading.Event().wait(0.01)
        assert seen.is_set()
        assert (status["state"], status["planned"], status["failed"]) == ("running", 10, 1)
        assert (status["tokens"], status["cost_usd"], status["exit_code"]) == (1200, 0.25, None)
        raise StoppedEarly("no connection", "unavailable")

    with pytest.raises(StoppedEarly), file.recording():
        run()
    status = json.loads(path.read_text())
    assert (status["state"], status["stop_code"]) == ("stopped:unavailable", "unavailable")
    assert status["exit_code"] == 5


def test_a_file_that_can_no_longer_be_written_ends_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    with StatusFile(folder / "status.json", interval_s=60.0).recording() as ended:
        (folder / "status.json").unlink()
        folder.rmdir()
        folder.write_text("a file now")
        ended(0)
    with pytest.raises(UsageError), StatusFile(folder / "status.json").recording():
        pass


def test_the_page_shows_every_key_of_the_file(offline: Hipo, tmp_path: Path) -> None:
    page = (Path(__file__).resolve().parents[3] / "docs" / "overnight.md").read_text()
    shown = json.loads(page.partition("```json\n")[2].partition("```")[0])
    assert offline("-n", "1", "-o", "run", "-q", "--status-file", "status.json").code == 0
    assert list(shown) == list(json.loads((tmp_path / "status.json").read_text()))


def test_who_stops_reading_the_output_breaks_nothing_off(tmp_path: Path) -> None:
    path = tmp_path / "status.json"
    with pytest.raises(BrokenPipeError), StatusFile(path).recording():
        raise BrokenPipeError
    status = json.loads(path.read_text())
    assert (status["state"], status["exit_code"], status["stop_code"]) == ("finished", 0, "")
