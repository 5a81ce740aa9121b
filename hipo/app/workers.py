"""Play a run in several processes of this machine: the driver here, the players in workers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from hipo.app.preparation import Prepared
from hipo.app.worker import run_worker
from hipo.app.worker_material import material_of
from pipeline.client import InFlight
from pipeline.endpoint import Sender
from pipeline.engine import Player
from pipeline.executors.driver import Driver
from pipeline.executors.processes import worker_processes
from pipeline.executors.ray import ray_cluster, ray_workers
from pipeline.providers.protocol import Provider
from pipeline.run_link import LocalRun
from scenarios.errors import UsageError

COMMAND = ("-m", "hipo.app.worker")
ACCELERATED = ("hf",)
"""Providers that compute in the worker itself."""
MOST_WORKERS = 256


@dataclass(frozen=True, slots=True)
class RayWorkers:
    """Workers that Ray places: on this machine, or on those of a cluster."""

    count: int
    address: str | None = None
    """Of a cluster, e.g. ``auto`` or ``host:6379``; None starts Ray on this machine alone."""


@dataclass(frozen=True, slots=True)
class WorkerConnections:
    """Workers of a run: their players are built, keys found, nothing sent yet."""

    prepared: Prepared
    driver: Driver

    def players(
        self,
        link: LocalRun,
        notice: Callable[[str], None],
        *,
        in_flight: InFlight | None = None,
        sender: Callable[[Provider, float], Sender] | None = None,
    ) -> dict[str, Player]:
        """Return one player per arm id, which plays in the workers.

        Requests in flight are shared within a worker: all arms of a case are played in one.

        Raises:
            UsageError: requests are to be sent in another way than each at once.
        """
        del in_flight
        if sender is not None:
            raise UsageError("workers send each request at once", "leave --workers out")
        return self.driver.players(
            (arm.id for arm in self.prepared.arms),
            link,
            timeout_for=self.prepared.recipe.limits.timeout_for,
            notice=notice,
        )


@asynccontextmanager
async def connected_workers(
    prepared: Prepared, workers: int | RayWorkers, notice: Callable[[str], None]
) -> AsyncIterator[WorkerConnections]:
    """Start workers and wait until their players are built; end them afterwards.

    Args:
        prepared: what is to be played.
        workers: how many processes of this machine, or how many Ray is to place where.
        notice: is told of a worker that ends before its time.

    Raises:
        UsageError: Ray is asked for and not there, a worker lacks a plugin, a package or a key, there are none or too many, or
            requests are to be sent in batches.
        RunError: the workers end before they are ready.
    """
    if prepared.recipe.limits.batch:
        raise UsageError(
            "--batch gathers what all dialogues of one process ask, and --workers are several",
            "leave one of them out: batches wait for the provider, not for the processor",
        )
    count = workers.count if isinstance(workers, RayWorkers) else workers
    if not 1 <= count <= MOST_WORKERS:
        raise UsageError(
            f"{count} workers cannot be started", f"--workers takes 1 to {MOST_WORKERS}"
        )
    driver = Driver(material_of(prepared))
    if isinstance(workers, RayWorkers):
        async with ray_cluster(workers.address) as cluster:
            port = await driver.listen(cluster.host)
            computing = _computes(prepared)
            async with ray_workers(
                cluster,
                driver,
                port,
                run_worker,
                count=count,
                notice=notice,
                accelerated=computing,
            ):
                yield WorkerConnections(prepared, driver)
        return
    port = await driver.listen()
    async with worker_processes(driver, port, COMMAND, count, notice):
        yield WorkerConnections(prepared, driver)


def _computes(prepared: Prepared) -> bool:
    """Whether workers compute themselves: models in process, or the encoder that votes."""
    models = any(use.spec.provider in ACCELERATED for use in prepared.uses.values())
    return models or any("encoder" in arm.settings for arm in prepared.arms)
