"""Watching a run: lines for logs, a bar for people, nothing when asked for silence."""

from __future__ import annotations

import re
import threading
from datetime import UTC, datetime

import pytest

from hipo.app.running.watching import Silent, Spending, Watcher
from hipo.cli.terminal.progress import (
    LiveBar,
    PlainLines,
    ProgressTally,
    progress,
    progress_text,
    spending_text,
    watcher,
)
from hipo.cli.terminal.status_file import StatusFile
from pipeline.playing.runner import Progress
from pipeline.stopping.awaited import AwaitedEndpoints

NOW = datetime(2026, 3, 1, 22, 0, 5, tzinfo=UTC)
NEVER_S = 3600.0


def play(watching: Watcher) -> None:
    watching.begin(10, lambda: Spending(1234, None))
    watching.see(Progress("present", 3))
    watching.see(Progress("done"))
    watching.note("[bold]the endpoint rejects 'seed'[/bold]")
    watching.see(Progress("failed", code="timeout"))
    watching.end()


class Clock:
    """Seconds that pass when they are told to."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_line_tells_what_is_done_with_how_many_and_what_it_costs() -> None:
    clock = Clock()
    spending = Spending(1234, 0.5, calls_in_flight=2, doing="judging")
    tally = ProgressTally(10, lambda: spending, clock)
    for seen in (Progress("present", 3), Progress("done"), Progress("failed", code="timeout")):
        tally.add(seen)
    clock.now += 4.0
    assert progress_text(tally) == (
        "judging: 5/10, 1 failed, 0.5/s, 0:00:10 left, 2 calls in flight, 1,234 tokens, $0.5000"
    )


def test_what_was_spent_before_a_command_is_not_in_its_line() -> None:
    spending = Spending(35_940_323 + 7, 12.25, before=(35_940_323, 12.0))
    assert spending_text(spending) == "7 tokens, $0.2500"
    assert spending_text(Spending(9, None, before=(9, 0.0))) == "0 tokens, unknown cost"


def test_the_time_left_is_told_after_a_fiftieth_or_some_dialogues_in_half_a_minute() -> None:
    clock = Clock()
    tally = ProgressTally(5_000, clock=clock)
    clock.now += 60.0
    tally.add(Progress("done"))
    assert tally.eta == "-:--:--", "one of five thousand says nothing"
    tally.add(Progress("done", 19))
    assert tally.eta == "4:09:00"
    quick = ProgressTally(1_000, clock=clock)
    quick.add(Progress("present", 500))
    quick.add(Progress("done", 9))
    clock.now += 9.0
    assert quick.eta_s is None
    quick.add(Progress("done"))
    assert quick.eta_s == pytest.approx(441.0)


def test_an_outage_is_told_instead_of_the_time_left_and_is_no_part_of_it_afterwards() -> None:
    clock, awaited = Clock(), AwaitedEndpoints(lambda: clock.now)

    def spending() -> Spending:
        return Spending(10, None, waits_for=awaited.longest, waited_s=awaited.waited_s)

    awaited.begin("an earlier one", 50.0)
    awaited.end("an earlier one")
    tally = ProgressTally(100, spending, clock)
    clock.now += 50.0
    tally.add(Progress("done", 50))
    assert (tally.rate, tally.eta) == (1.0, "0:00:50")
    awaited.begin("no connection to http://there", 1.0)
    clock.now += 8 * 3600.0
    tally.add(Progress("failed", 1))
    line = progress_text(tally)
    assert ": 51/100, 1 failed, waiting for 8 h: no connection to http://there, 0 calls" in line
    assert tally.eta_s is None
    awaited.end("no connection to http://there")
    assert tally.rate == pytest.approx(1.0, rel=0.03)
    assert tally.eta_s == pytest.approx(49.0, rel=0.03)


def test_plain_lines_come_with_the_time_and_the_run_before_anything_is_done(
    capsys: pytest.CaptureFixture[str],
) -> None:
    watching = PlainLines("night", interval_s=0.001, now=lambda: NOW)
    asked = threading.Event()

    def spending() -> Spending:
        if threading.current_thread() is not threading.main_thread():  # a line is being written
            asked.set()
        return Spending(10, 0.25, calls_in_flight=3)

    watching.begin(10, spending)
    assert asked.wait(30)
    watching.end()
    assert capsys.readouterr().err.splitlines()[0] == (
        "2026-03-01T22:00:05Z night: playing: 0/10, 0 failed, 0.0/s, -:--:-- left, "
        "3 calls in flight, 10 tokens, $0.2500"
    )
    watching.end()


def test_between_two_lines_some_time_passes(capsys: pytest.CaptureFixture[str]) -> None:
    play(PlainLines(interval_s=NEVER_S, now=lambda: NOW))
    assert capsys.readouterr().err == (
        "2026-03-01T22:00:05Z [bold]the endpoint rejects 'seed'[/bold]\n"
    )


def test_the_bar_shows_messages_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    play(LiveBar())
    captured = capsys.readouterr()
    assert "[bold]the endpoint rejects 'seed'[/bold]" in captured.err
    assert captured.out == ""


def test_what_a_server_says_drives_no_terminal_from_the_bar(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # draw as on a terminal
    awaited = AwaitedEndpoints()
    awaited.begin("status 500: \x1b]0;all is well\x07", 2.0)
    bar = LiveBar()
    bar.begin(10, lambda: Spending(10, None, waits_for=awaited.longest))
    bar.note("status 500: \x1b[8mhidden")
    bar.end()
    written = capsys.readouterr().err
    assert r"\x1b[8mhidden" in written
    assert r"status 500: \x1b]0;all is well\x07" in bar.line()
    assert "\x1b[8m" not in written
    assert "\x1b]0;" not in written


def test_the_bar_tells_the_same_as_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    bar = LiveBar()
    bar.begin(10, lambda: Spending(10, 0.25, calls_in_flight=3, doing="playing, 2 judged"))
    bar.see(Progress("done"))
    assert bar.line().startswith("playing, 2 judged: 1/10, 0 failed, ")
    assert "3 calls in flight, 10 tokens, $0.2500" in bar.line()
    bar.end()


def test_silence_is_silence(capsys: pytest.CaptureFixture[str]) -> None:
    assert isinstance(watcher(quiet=True), Silent)
    play(watcher(quiet=True))
    assert capsys.readouterr() == ("", "")


def test_only_what_a_run_waits_for_breaks_the_silence(capsys: pytest.CaptureFixture[str]) -> None:
    for watching in (watcher(quiet=True, name="night"), watcher(quiet=False, name="night")):
        StatusFile(None).watched(watching).warn("no connection: waiting up to 60 min")
        written = capsys.readouterr().err
        assert re.fullmatch(r"\S+Z night: no connection: waiting up to 60 min\n", written)


def test_without_a_terminal_lines_are_written() -> None:
    assert isinstance(watcher(quiet=False), PlainLines)


@pytest.mark.parametrize(
    ("cost", "shown"),
    [(None, "unknown cost"), (0.0, "$0.00"), (0.00123, "$0.0012"), (12.5, "$12.50")],
)
def test_an_unknown_cost_is_never_zero(cost: float | None, shown: str) -> None:
    assert spending_text(Spending(1000, cost)) == f"1,000 tokens, {shown}"


def test_the_line_says_what_the_endpoint_holds_the_run_back_to():
    shown = spending_text(Spending(1000, None, 4.93))
    assert shown.endswith(", limited to 4.9 requests/s by the endpoint")


def test_from_python_a_call_is_watched_by_lines_where_there_is_no_terminal():
    assert isinstance(progress("trial"), PlainLines)
