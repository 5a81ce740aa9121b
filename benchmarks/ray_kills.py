"""Kill workers that Ray placed, then the process that drives them, and compare with a local run.

The cluster is one Ray on this machine that outlives the commands, as a cluster does. The endpoint has
no faults, so that the dialogues have to be those of a run in one process, byte for byte. Rows of an export say how many
requests a dialogue took: on a machine that is too busy to answer in time they differ in that, so time-outs
are told beside. Not measured where Ray is not installed.
"""

from __future__ import annotations

import os
import random
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from benchmarks.machine import free_port
from benchmarks.night import night_server
from benchmarks.report import Goal, Row
from benchmarks.worker_kills import (
    FULL,
    QUICK,
    WorkerKills,
    WorkerPlace,
    children,
)
from tests.pipeline.integration.records import rows

CPUS = 2
LATENCY_S = 0.7
"""Of the endpoint, on average: a run has to outlast ten starts of a worker."""
NO_FAULTS = {"refused": 0, "broken": 0, "reset": 0, "hang": 0, "poison": 0, "latency_s": LATENCY_S}
TITLE = "ray::run_worker"
"""What Ray calls the process of a worker."""
START_S = 120.0


def run(*, quick: bool = False) -> list[Row]:
    """Kill workers and drivers in a cluster on this machine."""
    with tempfile.TemporaryDirectory() as folder:
        return measured(Path(folder), QUICK if quick else FULL, random.Random(31))


def measured(folder: Path, size: WorkerKills, dice: random.Random) -> list[Row]:
    """Kill workers in one run and the driver of another one, and compare what is exported."""
    if find_spec("ray") is None:
        print("  Ray is not installed: its workers are left out", file=sys.stderr)
        return []
    folder.mkdir(exist_ok=True)
    with night_server(NO_FAULTS) as url, _cluster(folder / "cluster.log") as place:
        rows = size.measure(folder, dice, url, place)
        if size.start(folder / "local" / "run", url, place).wait():
            raise RuntimeError("the run in one process has not ended well")
    runs = [folder / of / "run" for of in ("workers", "drivers", "local")]
    late = sum(map(_timed_out, runs))
    rows.append(Row(f"{place.name}: requests of all three runs that timed out", late))
    wanted = _exported(folder / "local")
    for run_of, what in (("workers", "a worker"), ("drivers", "the driver")):
        others = _exported(folder / run_of)
        differing = sum(wanted.get(file) != others.get(file) for file in wanted | others)
        name = f"{place.name}: kill -9 of {what}: exported files unlike those of a local run"
        rows.append(Row(name, differing, goal=Goal.below(0)))
    return rows


@contextmanager
def _cluster(log: Path) -> Iterator[WorkerPlace]:
    """Start Ray on this machine, under a token of its own, and end it afterwards."""
    environment = {
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
        "RAY_USAGE_STATS_ENABLED": "0",
        "PYTHONPATH": os.pathsep.join(filter(None, [str(Path.cwd()), *sys.path])),
    }
    with head_of_ray(log, free_port(), {**os.environ, **environment}) as (head, address):
        yield WorkerPlace(
            "ray",
            ("--executor", "ray", "--ray-address", address),
            lambda _: [pid for pid in _descendants(head) if _title(pid) == TITLE],
            environment,
            timeout_s=600.0,  # one that is waited for in vain would count in what is exported
        )


@contextmanager
def head_of_ray(log: Path, port: int, environment: dict[str, str]) -> Iterator[tuple[int, str]]:
    """Start the head of a cluster at a port, in a whole environment; yield its process and address."""
    command = [
        sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block",
        "--node-ip-address", "127.0.0.1", "--port", str(port),
        "--num-cpus", str(CPUS), "--include-dashboard", "false",
        # any free ones, as by ray.init: `ray start` reserves 10002 to 19999, where its own may lie
        "--min-worker-port", "0", "--max-worker-port", "0",
    ]  # fmt: skip
    address = f"127.0.0.1:{port}"
    with log.open("wb") as said:
        head = subprocess.Popen(command, env=environment, stdout=said, stderr=subprocess.STDOUT)
    try:
        _wait_for(head, address, log)
        yield head.pid, address
    finally:
        started = _descendants(head.pid)
        head.send_signal(signal.SIGTERM)
        try:
            head.wait(timeout=30)
        finally:
            for pid in started:
                if _title(pid):
                    os.kill(pid, signal.SIGKILL)


def _wait_for(head: subprocess.Popen[bytes], address: str, log: Path) -> None:
    """Wait until a cluster says that it runs.

    Raises:
        RuntimeError: it does not.
    """
    for _ in range(int(START_S / 0.2)):
        if b"Ray runtime started" in log.read_bytes():
            return
        if head.poll() is not None:
            break
        time.sleep(0.2)
    raise RuntimeError(f"Ray does not start at {address}: {log.read_text(errors='replace')}")


def _descendants(pid: int) -> list[int]:
    return [found for child in children(pid) for found in (child, *_descendants(child))]


def _title(pid: int) -> str:
    """Return what a process calls itself, empty where it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ").strip()
    except OSError:
        return ""


def _timed_out(run: Path) -> int:
    ((late,),) = rows(run, "select count(*) from requests where code = 'timeout'")
    return int(late)


def _exported(folder: Path) -> dict[str, bytes]:
    """Return the files of an export of the run in a folder, by their path."""
    target = folder / "set"
    command = [sys.executable, "-m", "hipo", "export", str(folder / "run"), "--any", "-q"]
    subprocess.run([*command, "--to", "dialogues", "-o", str(target)], check=True)
    return {
        str(path.relative_to(target)): path.read_bytes()
        for path in target.rglob("*")
        if path.is_file()
    }
