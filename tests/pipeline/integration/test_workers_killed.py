"""A command with workers that is killed or asked to stop: nothing is lost, and it can be gone on with."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from pipeline.executors.local import width_for
from tests.forked import Forked
from tests.pipeline.integration.command import Hipo
from tests.pipeline.integration.records import count, rows
from tests.processes import children, is_alive
from tests.tiny_model import save_tiny_model
from tests.wire.server import WireServer

CONCURRENCY = 8
CASES = 40

pytestmark = pytest.mark.slow


def command(server: WireServer, *workers: str) -> tuple[str, ...]:
    return (
        "generate", "--model", "compatible/rules", "--base-url", server.openai_url, "-n",
        str(CASES), "--turns", "1,2", "--openings", "by-goal", "--strategy", "direct", "-o", "run",
        "--max-concurrency", str(CONCURRENCY), *workers,
    )  # fmt: skip


def under_way(server: WireServer, process: Forked) -> list[int]:
    """Wait until some requests have come; return the processes of the workers."""
    before = server.count
    while server.count < before + 10 and process.poll() is None:
        time.sleep(0.005)
    return children(process.pid)


def ended(process: Forked) -> str:
    _, said = process.communicate()
    return said


def test_workers_end_with_their_driver_and_the_next_start_pays_only_for_what_was_in_flight(
    tmp_path: Path,
) -> None:
    hipo = Hipo(tmp_path)
    with WireServer(latency_s=0.05, keep=False) as server:
        process = hipo.start(*command(server, "--workers", "2"))
        workers = under_way(server, process)
        process.send_signal(signal.SIGKILL)
        ended(process)
        assert len(workers) == 2
        while any(is_alive(worker) for worker in workers):
            time.sleep(0.01)
        # a terminal sends its interrupt to the whole group: workers leave it to the driver
        process = hipo.start(*command(server, "--workers", "1"))
        workers = under_way(server, process)
        for worker in workers:
            subprocess.run(["kill", "-INT", str(worker)], check=True)
        process.send_signal(signal.SIGINT)
        said = ended(process)
        assert process.returncode == 3, said
        assert "stopping: " in said
        assert "has ended" not in said
        assert not any(is_alive(worker) for worker in workers)
        codes = dict(rows(tmp_path / "run", "select code, count(*) from requests group by 1"))
        assert codes.keys() == {"ok", "lost"}, "lost is what was in flight at the kill"
        interrupted = codes["ok"]
        hipo(*command(server))
        requests = server.count

    run = tmp_path / "run"
    assert rows(run, "select count(*), count(distinct case_seq) from dialogues") == [(CASES, CASES)]
    assert rows(run, "pragma integrity_check") == [("ok",)]
    needed = count(run, "choices")
    assert 0 < interrupted < needed
    assert needed == rows(run, "select sum(2 * turns) from cases")[0][0]
    # a call is in flight until its reply is on disk: at most one for each dialogue being played
    assert needed <= requests <= needed + width_for(CONCURRENCY)


def loads_a_model(pid: int) -> bool:
    """Whether a process has begun to load a model, which it does when it is first asked."""
    try:
        return "libtorch" in Path(f"/proc/{pid}/maps").read_text()
    except OSError:
        return False


@pytest.mark.skipif(
    any(find_spec(name) is None for name in ("torch", "transformers", "llguidance")),
    reason="needs pip install 'hipo[local]'",
)
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_worker_that_is_killed_with_the_model_it_holds_costs_no_dialogue_and_changes_none(
    tmp_path: Path,
) -> None:
    hipo = Hipo(tmp_path)
    save_tiny_model(tmp_path / "tiny", window=16_384, brief=True)
    plan = (
        "generate", "--model", "hf/tiny", "--scenarios", "used_car", "--turns", "1", "-n", "2",
        "--temperature", "1", "--strategy", "direct",
    )  # fmt: skip
    hipo.here(*plan, "-o", "alone/run", "-q")
    process = hipo.start(*plan, "-o", "killed/run", "--workers", "1")
    while not (loading := list(filter(loads_a_model, children(process.pid)))):
        assert process.poll() is None, ended(process)
        time.sleep(0.005)
    os.kill(loading[0], signal.SIGKILL)
    said = ended(process)
    assert process.returncode == 0, said
    assert "has ended (SIGKILL)" in said
    assert said.count("has ended") == 1, said
    for folder in ("alone", "killed"):
        export = ("export", f"{folder}/run", "--any", "--to", "dialogues", "--no-parquet", "-q")
        hipo.here(*export, "--splits", "100,0,0", "-o", f"{folder}/set")
    one, other = (
        [path.read_bytes() for path in sorted((tmp_path / folder / "set").rglob("*.jsonl"))]
        for folder in ("alone", "killed")
    )
    assert one == other != []
