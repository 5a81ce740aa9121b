"""``hipo evaluate`` as a user runs it: what it prints, what it leaves, how it ends."""

from __future__ import annotations

import signal
import time
from pathlib import Path

from hipo.cli.terminal.errors import ExitCode
from tests.hipo.cli.conftest import Hipo, hipo
from tests.hipo.evaluation.answering import by_hash
from tests.pipeline.integration.command import Hipo as Process
from tests.wire.server import WireServer

__all__ = ["hipo"]


def test_a_run_is_evaluated_offline_with_figures_and_a_page(
    hipo: Hipo, run: Path, tmp_path: Path
) -> None:
    command = (
        "evaluate", str(run), "--any", "--task", "hipo-conversation", "--model", "offline/judge",
        "--model", "offline/random", "-o", "results",
    )  # fmt: skip
    told = hipo(*command, "--dry-run")
    assert (told.code, "in all 16 calls, $0.00" in told.out) == (0, True)
    assert not (tmp_path / "results").exists()
    done = hipo(*command)
    assert done.code == 0
    assert "16 answered, 0 failed, 0 there already" in done.out
    assert "hipo-conversation  zero-shot  offline/random" in done.out
    assert "hipo-conversation  zero-shot  offline/judge †" in done.out
    assert "† its own judge: this model's labels decided which labels are agreed." in done.out
    assert (tmp_path / "results" / "index.html").is_file()
    assert (tmp_path / "results" / "scores.json").is_file()
    again = hipo(*command, "--no-page")
    assert "0 calls, nothing to do: 16 answers there already" in again.out
    assert again.out.endswith("hipo evaluate report results makes figures and a page\n")


def test_an_interrupt_ends_it_with_3_and_the_same_command_goes_on(
    tmp_path: Path, run: Path
) -> None:
    process = Process(tmp_path)
    with WireServer(answer=by_hash, latency_s=0.2, keep=False) as server:
        command = (
            "evaluate", str(run), "--any", "--task", "hipo-utterance", "--model", "compatible/m",
            "--base-url", server.openai_url, "--max-concurrency", "1", "--no-page", "-o", "results",
        )  # fmt: skip
        started = process.start(*command)
        while server.count < 3 and started.poll() is None:
            time.sleep(0.01)
        started.send_signal(signal.SIGINT)
        said = started.stderr.read()
        assert started.wait() == ExitCode.INTERRUPTED
        started.stderr.close()
        assert "stopped: interrupted" in said
        assert server.count < 16
        server.latency_s = 0.0
        process(*command)
        assert server.count == 16
