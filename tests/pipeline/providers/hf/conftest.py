"""A tiny random Llama, and the provider that asks it."""

from __future__ import annotations

import pytest

from pipeline.providers.registry import build_provider, parse_model
from tests.tiny_model import save_tiny_model


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return save_tiny_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture
async def hf():
    made = build_provider(parse_model("hf/any"), max_concurrency=8)
    yield made
    await made.close()
