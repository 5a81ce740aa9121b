"""An empty run, for all tests of verification."""

from __future__ import annotations

import pytest

from pipeline.store.run_store import RunStore
from scenarios.run_configuration import RunConfiguration
from tests.quality.scripted import ARM


@pytest.fixture
async def store(tmp_path):
    run = RunStore.create(tmp_path / "run", RunConfiguration())
    run.add_arm(ARM, {"strategy": "direct"})
    yield run
    run.close()
