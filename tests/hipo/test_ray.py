"""Workers that Ray places, with Ray itself on this machine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hipo.cli.main import run
from pipeline.executors.local import width_for
from pipeline.executors.ray import RayCluster
from tests.pipeline.integration.command import Hipo, environment
from tests.pipeline.integration.records import count, rows
from tests.processes import children
from tests.wire.server import WireServer

ray = pytest.importorskip("ray")
PLAN = ["generate", "-m", "offline/rules", "--scenarios", "products", "-n", "12", "-q"]
WORKER = b"ray::run_worker"
"""What Ray calls the process of a worker."""


class FakeRay:
    def __init__(self, **resources: float) -> None:
        self.resources = resources

    def cluster_resources(self) -> dict[str, float]:
        return self.resources


@pytest.mark.parametrize("count", [1, 2, 3, 7, 100])
def test_all_workers_fit_on_two_processors_at_once(count: int) -> None:
    share = RayCluster(FakeRay(CPU=2.0), "").shares(count, accelerated=True)
    assert share.keys() == {"num_cpus"}
    assert 0 < share["num_cpus"] * count <= 2.0


def test_gpus_are_shared_by_workers_that_compute() -> None:
    cluster = RayCluster(FakeRay(CPU=8.0, GPU=2.0), "")
    assert cluster.shares(4, accelerated=True)["num_gpus"] == 0.5
    assert "num_gpus" not in cluster.shares(4, accelerated=False)


def test_an_address_without_ray_is_refused(tmp_path, capsys) -> None:
    assert run([*PLAN, "-o", str(tmp_path / "r"), "--ray-address", "auto"]) == 2
    assert "--executor ray" in capsys.readouterr().err


@pytest.mark.slow  # starts Ray: some ten seconds
def test_exports_are_the_same_bytes_as_those_of_one_process(tmp_path: Path) -> None:
    plan = [*PLAN, "--strategy", "direct,consistency"]  # the latter with an encoder in each worker
    Hipo(tmp_path)(*plan, "-o", "a/run")
    Hipo(tmp_path)(*plan, "-o", "b/run", "--executor", "ray", "--workers", "3")
    assert exported(tmp_path / "a") == exported(tmp_path / "b")


def exported(folder: Path) -> dict[Path, bytes]:
    """Return the files of an export of the run in a folder, by their path."""
    target = folder / "set"
    assert run(["export", str(folder / "run"), "--to", "dialogues", "-o", str(target), "-q"]) == 0
    return {p.relative_to(target): p.read_bytes() for p in target.rglob("*") if p.is_file()}


def workers_of(pid: int) -> list[int]:
    """Return the processes of Ray's workers below that of a command."""
    below = [found for child in children(pid) for found in (child, *workers_of(child))]
    return [p for p in below if Path(f"/proc/{p}/cmdline").read_bytes().startswith(WORKER)]


@pytest.mark.slow
def test_a_killed_worker_and_a_killed_driver_cost_no_case_and_at_most_what_was_in_flight(
    tmp_path: Path,
) -> None:
    hipo, width = Hipo(tmp_path), 4
    with WireServer(latency_s=0.3, keep=False) as server:
        plan = [
            "generate", "--model", "compatible/rules", "--base-url", server.openai_url, "-n", "24",
            "--turns", "1", "--openings", "by-goal", "--max-concurrency", str(width),
        ]  # fmt: skip
        hipo(*plan, "-o", "a/run")
        needed = server.count
        by_ray = [*plan, "-o", "b/run", "--executor", "ray", "--workers", "2"]

        def killed(whom: Callable[[int], int], at: int) -> subprocess.Popen[str]:
            process = hipo.start(*by_ray)
            while server.count < at:
                assert process.poll() is None, process.communicate()[1]
                time.sleep(0.01)
            os.kill(whom(process.pid), signal.SIGKILL)
            return process

        killed(lambda pid: pid, needed + 8).communicate(timeout=60)
        again = killed(lambda pid: workers_of(pid)[0], needed + width_for(width) + 16)
        _, said = again.communicate(timeout=300)
        assert again.returncode == 0, said
        requests = server.count - needed
    assert "has ended (SIGKILL)" in said
    played = tmp_path / "b" / "run"
    assert rows(played, "select count(*), count(distinct case_seq) from dialogues") == [(24, 24)]
    assert count(played, "reservations") == 0
    assert count(played, "choices") == needed
    assert requests <= needed + 2 * width_for(width)
    assert exported(tmp_path / "a") == exported(tmp_path / "b")


TWICE = """
from hipo import generate, load_recipe
from hipo.app.workers import RayWorkers

small = load_recipe("hipo-paper").with_changes({"n": 2, "models": {"default": "offline/rules"}})
for name in ("first", "second"):
    assert generate(small, output=name, workers=RayWorkers(1)).outcome.failed == {}
"""


@pytest.mark.slow
def test_one_program_plays_two_runs_with_ray(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", TWICE], cwd=tmp_path, env=environment(), check=True)
    done = "select count(*) > 1 from dialogues where status = 'generated'"
    assert [rows(tmp_path / name, done) for name in ("first", "second")] == [[(1,)], [(1,)]]


PLUGIN = """
import sys
from pipeline.providers.registry import ProviderExtension
from pipeline.providers.offline import build

if "hipo.cli.main" not in sys.modules:  # on another machine than that of the command, say
    import not_installed_there
EXTENSIONS = [ProviderExtension(name="mine", build=build)]
"""


@pytest.mark.slow
def test_a_worker_that_cannot_import_a_plugin_says_so_before_anything_is_made(
    tmp_path: Path,
) -> None:
    (tmp_path / "mine.py").write_text(PLUGIN)
    plan = ["generate", "--plugin", "mine.py", "-m", "mine/rules", "-n", "4", "-o", "run"]
    done = Hipo(tmp_path)(*plan, "--executor", "ray", "--workers", "2", code=2)
    assert "not_installed_there" in done.stderr
    assert not (tmp_path / "run").exists()
