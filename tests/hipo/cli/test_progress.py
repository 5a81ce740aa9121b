"""Watching a run: lines for logs, a bar for people, nothing when asked for silence."""

from __future__ import annotations

import pytest

from hipo.app.watching import Silent, Spending, Watcher
from hipo.cli.progress import LiveBar, PlainLines, spending_text, watcher
from pipeline.runner import Progress


def play(watching: Watcher) -> None:
    watching.begin(10, lambda: Spending(1234, None))
    watching.see(Progress("present", 3))
    watching.see(Progress("done"))
    watching.note("[bold]the endpoint rejects 'seed'[/bold]")
    watching.see(Progress("failed", code="timeout"))
    watching.end()


def test_lines_say_done_failed_tokens_and_cost(capsys: pytest.CaptureFixture[str]) -> None:
    play(PlainLines(interval_s=0))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("3/10 done, 0 failed")
    assert lines[2] == "[bold]the endpoint rejects 'seed'[/bold]"
    assert lines[-1].startswith("5/10 done, 1 failed")
    assert lines[-1].endswith("1,234 tokens, unknown cost")


def test_between_two_lines_some_time_passes(capsys: pytest.CaptureFixture[str]) -> None:
    play(PlainLines(interval_s=3600))
    assert capsys.readouterr().err == "[bold]the endpoint rejects 'seed'[/bold]\n"


def test_the_bar_shows_messages_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    play(LiveBar())
    captured = capsys.readouterr()
    assert "[bold]the endpoint rejects 'seed'[/bold]" in captured.err
    assert captured.out == ""


def test_silence_is_silence(capsys: pytest.CaptureFixture[str]) -> None:
    assert isinstance(watcher(quiet=True), Silent)
    play(watcher(quiet=True))
    assert capsys.readouterr() == ("", "")


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
