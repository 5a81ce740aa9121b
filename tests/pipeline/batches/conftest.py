"""A local server with batch APIs, and a clock for the runs of this process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hipo.app import batching
from tests.pipeline.batches.runs import KEYS, QUICK
from tests.wire.server import WireServer


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask about batches a hundred times as often, with keys that the local server takes."""
    monkeypatch.setattr(batching, "RULES", QUICK)
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)


@pytest.fixture
def server() -> Iterator[WireServer]:
    with WireServer() as running:
        yield running
