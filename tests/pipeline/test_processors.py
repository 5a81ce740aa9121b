"""Processors that a job was given, which may be fewer than its machine has."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from pipeline.executors.model_pools import ModelHost
from pipeline.executors.processes import _environment
from pipeline.processors import processors

pytestmark = pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="processes are held to processors on Linux alone"
)


@pytest.fixture(autouse=True)
def one_of_many(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Hold this process to one processor of a machine that has 64."""
    given = os.sched_getaffinity(0)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    os.sched_setaffinity(0, {min(given)})
    yield
    os.sched_setaffinity(0, given)


def test_processors_that_a_job_was_not_given_do_not_count() -> None:
    assert processors() == 1


def test_a_worker_and_a_host_of_models_begin_no_more_threads_than_that(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert _environment(2)["OMP_NUM_THREADS"] == "1"
    monkeypatch.setenv("OMP_NUM_THREADS", "unknown")
    ModelHost(lambda: pytest.fail("not asked for"))
    assert os.environ["OMP_NUM_THREADS"] == "1"
