import pytest

from pipeline.store.run_store import RunStore
from scenarios.run_configuration import RunConfiguration
from tests.pipeline.providers.asking import echo
from tests.wire.server import WireServer


@pytest.fixture
def store(tmp_path):
    """A run in which nothing has been done yet."""
    with RunStore.create(tmp_path / "run", RunConfiguration()) as store:
        yield store


@pytest.fixture
def server(monkeypatch):
    """An endpoint that says the seed, and keys that it takes."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-0123456789")
    with WireServer(answer=echo) as running:
        yield running
