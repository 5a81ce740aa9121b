"""Workers that Ray places, with Ray itself on this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hipo.cli.main import run
from pipeline.executors.ray import RayCluster

ray = pytest.importorskip("ray")
PLAN = ["generate", "-m", "offline/rules", "--scenarios", "products", "-n", "12", "-q"]


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
    runs = {"local": tmp_path / "a" / "run", "ray": tmp_path / "b" / "run"}
    for executor, folder in runs.items():
        more = ["--executor", "ray", "--workers", "3"] if executor == "ray" else []
        command = [sys.executable, "-m", "hipo", *PLAN, "-o", str(folder), *more]
        path = os.pathsep.join(filter(None, sys.path))
        subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": path})
        target = str(folder.parent / "set")
        assert run(["export", str(folder), "--to", "dialogues", "-o", target, "-q"]) == 0
    sets = [folder.parent / "set" for folder in runs.values()]
    files = [{p.relative_to(s): p.read_bytes() for p in s.rglob("*") if p.is_file()} for s in sets]
    assert files[0] == files[1]
