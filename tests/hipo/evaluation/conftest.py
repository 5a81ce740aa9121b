"""A small run that was generated and judged offline, and a set exported of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from hipo.app.export.export import export
from hipo.app.generation.generate import generate
from hipo.app.verification.verify import verify
from pipeline.recipes.recipe import Recipe
from tests.wire.fixtures import wire_server

__all__ = ["wire_server"]


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight dialogues of two scenarios, of one to three exchanges."""
    folder = tmp_path_factory.mktemp("runs") / "demo"
    recipe = {
        "models": {"default": "offline/rules"},
        "scenarios": ["used_car", "bike_deposit"],
        "n": 8,
        "seed": 13,
    }
    generate(Recipe.model_validate(recipe), output=folder)
    verify(folder)
    return folder


@pytest.fixture(scope="session")
def benchmark(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run as an exported set, all in one split."""
    folder = tmp_path_factory.mktemp("sets") / "benchmark"
    export(
        run, "benchmark", folder,
        verdict="any", fractions=(0, 0, 100), parquet=False,
    )  # fmt: skip
    return folder
