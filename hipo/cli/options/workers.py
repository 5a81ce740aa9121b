"""Options that say where dialogues are played: in this process, in several, or where Ray says."""

from __future__ import annotations

from typing import Literal

import typer

from hipo.app.options.groups import OptionGroup
from hipo.app.workers.wanted import MOST_WORKERS, RayWorkers
from hipo.cli.options.plain import with_group
from pipeline.processors import processors
from scenarios.errors import UsageError

Workers = int | RayWorkers | None
"""How many processes of this machine, or workers that Ray places; None: this process alone."""


def _workers(
    *,
    workers: int | None = typer.Option(
        None,
        "--workers",
        min=1,
        max=MOST_WORKERS,
        metavar="N",
        help="Play in N processes; one is enough below some 1,000 calls a second (docs/workers.md).",
    ),
    executor: Literal["local", "ray"] = typer.Option(
        "local",
        "--executor",
        hidden=True,
        help="ray: Ray places the workers (pip install 'hipo[ray]'); default --workers: one a processor.",
    ),
    ray_address: str | None = typer.Option(
        None,
        "--ray-address",
        metavar="ADDRESS",
        hidden=True,
        help="With --executor ray: of a cluster that is there, auto or HOST:PORT.",
    ),
    ray_model_actors: int | None = typer.Option(
        None,
        "--ray-model-actors",
        min=1,
        metavar="N",
        hidden=True,
        help="With --executor ray: processes for the encoder and for each hf/ model; default 1.",
    ),
    ray_gpus_per_model: float | None = typer.Option(
        None,
        "--ray-gpus-per-model",
        min=0.0,
        metavar="SHARE",
        hidden=True,
        help="With --executor ray: GPUs of each of these, e.g. 0.5; default: what lets all fit.",
    ),
) -> Workers:
    if executor == "ray":
        return RayWorkers(
            workers or min(processors(), MOST_WORKERS),
            ray_address,
            ray_model_actors or 1,
            ray_gpus_per_model,
        )
    of_ray = {
        "--ray-address": ray_address,
        "--ray-model-actors": ray_model_actors,
        "--ray-gpus-per-model": ray_gpus_per_model,
    }
    for option, value in of_ray.items():
        if value is not None:
            raise UsageError(f"{option} is of no use without Ray", "give --executor ray, too")
    return workers


with_workers = with_group("workers", _workers, heading=OptionGroup.LIMITS)
"""Gives a command the options of workers; it gets them as ``workers``."""
