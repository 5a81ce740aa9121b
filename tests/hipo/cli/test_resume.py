"""Going on with a run: what may differ, what may not, and what a refusal says."""

from __future__ import annotations

import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from pipeline.tactics import draws
from tests.hipo.cli.conftest import Hipo
from tests.pipeline.integration.command import Hipo as Process
from tests.wire.server import WireServer

CHANGES = {
    "temperature": (("--temperature", "0.9"), "temperature (direct): 0.2 → 0.9"),
    "strategy": (("--strategy", "reflective"), "strategy: direct → reflective"),
    "seed": (("--seed", "4"), "seed: 0 → 4"),
    "tactics": (("--tactics", "balanced"), "tactics: free → balanced"),
    "axes": (("--vary", "register"), "vary:"),
    "longest answer": (("--max-tokens", "77"), "max_tokens (direct): 1024 → 77"),
}
NEW_ARMS = {"temperature", "strategy", "longest answer"}
"""What changes how dialogues are played, and not which they are."""


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_configuration_is_refused_with_what_differs(
    offline: Hipo, tmp_path: Path, change: str
) -> None:
    arguments, expected = CHANGES[change]
    offline("-n", "1", "-o", "run", "-q")
    before = (tmp_path / "run" / "run.sqlite").read_bytes()
    result = offline("-n", "1", "-o", "run", *arguments)
    assert result.code == 2
    assert expected in result.err
    assert "--resume always" in result.err
    assert ("play all dialogues anew" in result.err) == (change in NEW_ARMS)
    assert (tmp_path / "run" / "run.sqlite").read_bytes() == before


def test_wanted_labels_that_are_drawn_otherwise_than_before_are_told(
    offline: Hipo, monkeypatch: pytest.MonkeyPatch
) -> None:
    balanced = ("--tactics", "balanced", "-o", "run")
    assert offline(*balanced, "-n", "2", "-q").code == 0
    told = "going on with other wanted labels than the dialogues that are there had"
    assert told not in offline(*balanced, "-n", "4").err  # a larger plan draws alike
    drawn = draws._uniform
    monkeypatch.setattr(draws, "_uniform", lambda seed, *of: drawn(seed + 1, *of))
    later = offline(*balanced, "-n", "6")
    assert (later.code, told in later.err) == (0, True)
    assert offline(*balanced, "-n", "14", "-q").code == 0
    assert told not in offline(*balanced, "-n", "16").err  # of the last ones nothing differs
    assert told not in offline("--tactics", "balanced", "-o", "new", "-n", "2").err


def test_a_model_at_another_address_plays_anew_what_is_there(hipo: Hipo) -> None:
    command = ("generate", "--model", "compatible/m", "--scenarios", "used_car", "--turns", "1")
    with WireServer() as first, WireServer() as second:
        options = (*command, "-n", "2", "-o", "run", "-q", "--base-url")
        assert hipo(*options, first.openai_url).code == 0
        refused = hipo(*options, second.openai_url)
        assert "play all dialogues anew" in refused.err
        assert second.count == 0
        assert hipo(*options, second.openai_url, "--resume", "always").code == 0
        assert second.count == first.count > 0


def test_changed_templates_are_named(offline: Hipo, tmp_path: Path) -> None:
    templates = tmp_path / "mine"
    templates.mkdir()
    (templates / "repair.j2").write_text(
        "# Correction\n{% for r in reasons %}\n{{ r }}\n{% endfor %}\n"
    )
    offline("-n", "1", "-o", "run", "-q")
    result = offline("-n", "1", "-o", "run", "--prompt-dir", "mine")
    assert result.code == 2
    assert "prompt templates:" in result.err
    assert "dialogues that are there stay" in " ".join(result.err.split())


def test_selection_limits_and_budget_may_change(hipo: Hipo) -> None:
    command = ("generate", "--model", "offline/rules", "-o", "run", "-q")
    assert hipo(*command, "--scenarios", "used_car", "-n", "2").code == 0
    more = (
        "--scenarios", "used_car,wedding_ring", "-n", "3", "--turns", "2", "--max-concurrency", "2",
        "--timeout", "9", "--budget-tokens", "9000000",
    )  # fmt: skip
    assert hipo(*command, *more).code == 0


def test_always_goes_on_and_records_the_new_configuration(offline: Hipo, tmp_path: Path) -> None:
    offline("-n", "1", "-o", "run", "-q")
    changed = ("-n", "1", "-o", "run", "--strategy", "reflective")
    assert offline(*changed, "--resume", "always").code == 0
    with closing(sqlite3.connect(tmp_path / "run" / "run.sqlite")) as database, database:
        epochs = database.execute("select epoch, fingerprint from config_epochs").fetchall()
        used = database.execute("select config_epoch from dialogues order by seq").fetchall()
    assert len(epochs) == len({fingerprint for _, fingerprint in epochs}) == 2
    assert used == [(epochs[0][0],), (epochs[1][0],)]
    assert offline(*changed).code == 0, "what was recorded is no change any more"
    assert offline("-n", "1", "-o", "run").code == 0, "nor is what was there before"


def test_never_refuses_a_run_that_is_there(offline: Hipo) -> None:
    assert offline("-n", "1", "-o", "run", "--resume", "never").code == 0
    result = offline("-n", "1", "-o", "run", "--resume", "never")
    assert result.code == 2
    assert "run holds a run already" in result.err


def test_an_interrupted_run_exits_3_and_is_completed_by_the_same_command(tmp_path: Path) -> None:
    with WireServer(keep=False) as server:
        command = [
            "generate", "--model", "compatible/m",
            "--base-url", server.openai_url, "--scenarios", "used_car", "-n", "20",
            "--max-concurrency", "4", "-o", "run",
        ]  # fmt: skip
        # one call at a time is sent until one has been answered
        for latency_s, calls, signals in ((0.1, 4, 1), (600.0, 1, 2)):
            server.latency_s = latency_s
            before = server.count
            process = Process(tmp_path).start(*command)
            while server.count < before + calls and process.poll() is None:
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            assert any("interrupt again to leave now" in line for line in process.stderr)
            for _ in range(signals - 1):
                process.send_signal(signal.SIGINT)
            _, said = process.communicate()
            assert "stopped: interrupted" in said
            assert process.returncode == 3
        server.latency_s = 0.0
        Process(tmp_path)(*command)
        requests = server.count
    with closing(sqlite3.connect(tmp_path / "run" / "run.sqlite")) as database, database:
        (dialogues,) = database.execute("select count(*) from dialogues").fetchone()
        (choices,) = database.execute("select count(*) from choices").fetchone()
        (needed,) = database.execute("select sum(2 * turns - 1) from cases").fetchone()
        (state,) = database.execute("select value from meta where key = 'state'").fetchone()
    assert dialogues == 20
    assert choices == needed
    assert requests == needed + 1, "only the second interrupt breaks calls off"
    assert state == "finished"
