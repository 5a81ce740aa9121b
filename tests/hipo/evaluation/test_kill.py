"""An evaluation that is killed again and again ends as if it had never been: nothing is asked twice."""

from __future__ import annotations

import random
import signal
import sqlite3
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

from pipeline.executors.local import width_for
from quality.evaluation.result_row import read_results
from tests.hipo.evaluation.answering import by_hash
from tests.pipeline.integration.command import Hipo
from tests.wire.server import WireServer

KILLS = 4
CONCURRENCY = 4
MODELS = ("compatible/one", "compatible/two")


def answered(folder: Path) -> set[tuple[int, str]]:
    """Return the answers that are durable, by seat and item."""
    path = folder / "evaluation.sqlite"
    if not path.exists():
        return set()
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        return set(connection.execute("select evaluated, item from answers"))


def test_kills_lose_no_answer_and_repeat_only_what_was_in_flight(tmp_path: Path, run: Path) -> None:
    hipo = Hipo(tmp_path)
    dice = random.Random(5)
    models = [part for model in MODELS for part in ("--model", model)]
    kept: set[tuple[int, str]] = set()
    with WireServer(answer=by_hash, latency_s=0.05, keep=False) as server:
        command = (
            "evaluate", str(run), "--any", "--task", "hipo-utterance-paper", "--mode", "zero-shot",
            "--mode", "cot", *models, "--base-url", server.openai_url,
            "--max-concurrency", str(CONCURRENCY), "--no-page", "-o", "results", "-q",
        )  # fmt: skip
        for _ in range(KILLS):
            seen = server.count
            process = hipo.start(*command)
            # wait for the evaluation to be under way, so that the kill falls into the work
            while server.count == seen and process.poll() is None:
                time.sleep(0.005)
            time.sleep(dice.uniform(0.0, 0.15))
            process.send_signal(signal.SIGKILL)
            process.wait()
            process.stderr.close()
            now = answered(tmp_path / "results")
            assert kept <= now, "what was durable stays"
            kept = now
        before = server.count
        hipo(*command)
        requests = server.count
    rows = list(read_results(tmp_path / "results"))
    assert {row.status for row in rows} == {"answered"}
    assert len({(row.item, row.mode, row.model) for row in rows}) == len(rows) == 16 * 2 * 2
    with closing(sqlite3.connect(tmp_path / "results" / "evaluation.sqlite")) as connection:
        assert connection.execute("pragma integrity_check").fetchone() == ("ok",)
        asked = connection.execute("select case_id, role, model, prompt from requests")
        times = Counter(row for row in asked if row[3] is not None)
    # one question for each dimension of an item, and each reply that was stored was paid for once
    assert set(times.values()) == {1}
    needed = sum(times.values())
    assert before > 0
    assert needed <= requests <= needed + KILLS * len(MODELS) * width_for(CONCURRENCY)
