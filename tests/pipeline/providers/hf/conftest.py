"""A tiny random Llama, and the provider that asks it."""

from __future__ import annotations

import gc

import pytest

from pipeline.providers.registry import build_provider, parse_model
from tests.tiny_model import save_tiny_model


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = save_tiny_model(tmp_path_factory.mktemp("models") / "tiny")
    gc.freeze()  # each provider collects garbage at its end: torch and all that tests import stay
    return folder


@pytest.fixture
async def hf():
    made = build_provider(parse_model("hf/any"), max_concurrency=8)
    yield made
    await made.close()
