"""Programs that use Ray."""

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


def asking_by_ray(folders: Sequence[str]) -> None:
    """Play a run in workers that Ray places on this machine."""
    with exporting_spans():
        run = generate(asking_the_tiny_model(), output=folders[0], workers=RayWorkers(2))
    assert run.outcome is not None
    assert run.outcome.failed == {}


class Echo:
    """An actor; those of a program that shows a token to a cluster without one never start."""

    def say(self, what: int) -> int:
        return what


def in_a_cluster_and_here(addresses: Sequence[str]) -> None:
    """Ask for a run whose plugin workers lack, start an actor there and here, and knock at the latter."""
    os.environ["DRIVER"] = str(os.getpid())
    workers = RayWorkers(1, addresses[0])
    try:
        generate(recipe("mine/rules", plugins=["mine.py"]), output="run", workers=workers)
    except UsageError as error:
        print(str(error).partition("\n")[0])
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
