"""A run killed again and again ends as if it had never been, and hardly costs more.

``benchmarks/soak.py`` does it a hundred times and more, with every fault at once.
"""

from __future__ import annotations

import random
import signal
import time
from pathlib import Path

from pipeline.executors.local import width_for
from tests.pipeline.integration.command import Hipo
from tests.pipeline.integration.records import count, rows
from tests.wire.server import WireServer

KILLS = 4
CONCURRENCY = 8


def test_kills_lose_no_case_and_repeat_only_what_was_in_flight(tmp_path: Path) -> None:
    hipo = Hipo(tmp_path)
    dice = random.Random(11)
    with WireServer(latency_s=0.03, keep=False) as server:
        command = (
            "generate", "--model", "compatible/rules", "--base-url", server.openai_url,
            "--scenarios", "all", "-n", "60", "--turns", "1,2,3", "--openings", "by-goal", "--strategy", "direct",
            "--max-concurrency", str(CONCURRENCY), "-o", "run",
        )  # fmt: skip
        for _ in range(KILLS):
            seen = server.count
            process = hipo.start(*command)
            # wait for the run to be under way, so that the kill falls into the work
            while server.count == seen and process.poll() is None:
                time.sleep(0.005)
            time.sleep(dice.uniform(0.0, 0.12))
            process.send_signal(signal.SIGKILL)
            process.wait()
            process.stderr.close()
        last = hipo(*command)
        requests = server.count
    assert "an earlier process was killed: what it had in flight" in last.stderr

    run = tmp_path / "run"
    state = hipo.state("run")
    assert state["generated"] == 60
    assert state["failed"] == {}
    assert rows(run, "select count(*), count(distinct case_seq) from dialogues") == [(60, 60)]
    assert rows(run, "pragma integrity_check") == [("ok",)]
    needed = count(run, "choices")
    assert needed == rows(run, "select sum(2 * turns) from cases")[0][0]
    # a call is in flight until its reply is on disk: at most one for each dialogue being played
    assert needed <= requests <= needed + KILLS * width_for(CONCURRENCY)
    # what was asked and never recorded is on the bill, too
    assert requests <= state["calls"]
    assert "a process of this run was killed: up to" in hipo.here("runs", "show", "run").stdout
