"""Programs that use Ray twice."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence

from hipo.app.generation.generate import generate
from hipo.app.running.tracing import exporting_spans
from hipo.app.workers.wanted import RayWorkers
from pipeline.executors.ray import RayCluster, ray_cluster
from pipeline.executors.ray_tokens import lets_in
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


class Echo:
    """An actor; those of a program that shows a token to a cluster without one never start."""

    def say(self, what: int) -> int:
        return what


def in_a_cluster_and_here(addresses: Sequence[str]) -> None:
    """Start an actor in a cluster, and in a Ray of this machine, and knock at the latter."""
    asyncio.run(_in_a_cluster_and_here(addresses[0]))


async def _in_a_cluster_and_here(address: str) -> None:
    async with ray_cluster(address) as cluster:
        print(_echoed(cluster))
    async with ray_cluster(None) as cluster:
        print(_echoed(cluster))
        here = cluster.ray.get_runtime_context().gcs_address
        for mode in ("disabled", "token"):
            print(f"{mode}:{await lets_in(here, mode)}")


def _echoed(cluster: RayCluster) -> object:
    return cluster.ray.get(cluster.ray.remote(Echo).remote().say.remote(5), timeout=60)
