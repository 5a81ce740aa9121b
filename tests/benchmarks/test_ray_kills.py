"""The cluster of the benchmark starts at whatever free port is drawn for it."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from benchmarks import ray_kills

OF_WORKERS = range(10002, 20000)
"""What ``ray start`` reserves for workers, unless told otherwise."""

pytestmark = pytest.mark.slow


def free_port_of_workers() -> int:
    for port in OF_WORKERS:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)):
                return port
    raise AssertionError("all taken")


def test_a_cluster_starts_at_a_port_that_ray_would_give_its_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ray")
    monkeypatch.setattr(ray_kills, "free_port", free_port_of_workers)
    with ray_kills._cluster(tmp_path / "cluster.log") as place:
        assert int(place.options[-1].partition(":")[2]) in OF_WORKERS
