"""A program that starts Ray twice; Ray itself is not imported before, as it reads there how it is used."""

from __future__ import annotations

import os
from collections.abc import Sequence

from hipo.app.generation.generate import generate
from hipo.app.running.tracing import exporting_spans
from hipo.app.workers.wanted import RayWorkers
from pipeline.recipes.recipe import Recipe
from scenarios.errors import UsageError


def recipe(model: str, **changes: object) -> Recipe:
    models = {"default": {"model": model, "temperature": 1}}
    plain = {"models": models, "scenarios": "used_car", "turns": 1, "n": 4}
    return Recipe.model_validate({**plain, **changes})


def asking_the_tiny_model() -> Recipe:
    return recipe("hf/tiny", strategies=["direct", "consistency"])


def twice_with_ray(folders: Sequence[str]) -> None:
    """Play a run in workers, and ask for another, whose plugin is not there where workers are."""
    first, second = folders
    with exporting_spans():
        run = generate(asking_the_tiny_model(), output=first, workers=RayWorkers(2))
    assert run.outcome is not None
    assert run.outcome.failed == {}
    os.environ["DRIVER"] = str(os.getpid())
    try:
        generate(recipe("mine/rules", plugins=["mine.py"]), output=second, workers=RayWorkers(1))
    except UsageError as error:
        print(error)
