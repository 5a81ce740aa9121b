"""Options that say where dialogues are played: in this process, in several, or where Ray says."""

from __future__ import annotations

import os
from enum import StrEnum

import typer

from hipo.app.option_groups import OptionGroup
from hipo.app.workers import MOST_WORKERS, RayWorkers
from hipo.cli.options import with_group
from scenarios.errors import UsageError

Workers = int | RayWorkers | None
"""How many processes of this machine, or workers that Ray places; None: this process alone."""


class ExecutorChoice(StrEnum):
    """Who starts the workers."""

    LOCAL = "local"
    RAY = "ray"


def _workers(
    *,
    workers: int | None = typer.Option(
        None,
        "--workers",
        min=1,
        max=MOST_WORKERS,
        metavar="N",
        help="Play in N processes; one is enough below some 1,000 calls a second.",
    ),
    executor: ExecutorChoice = typer.Option(
        ExecutorChoice.LOCAL,
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
) -> Workers:
    if executor is ExecutorChoice.RAY:
        return RayWorkers(workers or min(os.cpu_count() or 1, MOST_WORKERS), ray_address)
    if ray_address is not None:
        raise UsageError("--ray-address is of no use without Ray", "give --executor ray, too")
    return workers


with_workers = with_group("workers", _workers, heading=OptionGroup.LIMITS)
"""Gives a command the options of workers; it gets them as ``workers``."""
