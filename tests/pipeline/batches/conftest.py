"""A local server with batch APIs, and a clock for the runs of this process."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from hipo.app.models import batching, endpoints
from pipeline.batches import calls
from pipeline.providers.retry import RetryPolicy
from tests.pipeline.batches.runs import KEYS, PATIENT, QUICK
from tests.wire.server import WireServer


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask and try again a hundred times as often, with keys that the local server takes."""
    monkeypatch.setattr(batching, "RULES", QUICK)
    for module in (calls, endpoints):
        policy = partial(RetryPolicy, initial_s=0.01, max_pause_s=0.6)
        monkeypatch.setattr(module, "RetryPolicy", policy)
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)


@pytest.fixture
def patient(quick: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for what comes late until it comes."""
    monkeypatch.setattr(batching, "RULES", PATIENT)


@pytest.fixture
def server() -> Iterator[WireServer]:
    with WireServer() as running:
        yield running
