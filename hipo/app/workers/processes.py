"""Play a run in several processes of this machine: the driver here, the players in workers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from hipo.app.preparation.players import embeds
from hipo.app.preparation.prepared import Prepared
from hipo.app.running.tracing import SENT_IN_S, spans_are_sent
from hipo.app.workers.material import material_of
from hipo.app.workers.wanted import MOST_WORKERS, RayWorkers, check_sent_at_once
from hipo.app.workers.worker import run_worker
from pipeline.calls.client import InFlight
from pipeline.endpoints.endpoint import Sender
from pipeline.endpoints.run_link import LocalRun
from pipeline.executors.driver import Driver
from pipeline.executors.model_pools import (
    ENCODER,
    PooledModel,
    PooledProvider,
    open_encoder,
    open_local_model,
)
from pipeline.executors.places import LEAVE_S
from pipeline.executors.processes import worker_processes
from pipeline.executors.ray import ray_cluster, ray_pools, ray_workers
from pipeline.executors.worker_session import SILENT_S, SILENT_WITH_PLUGINS_S
from pipeline.playing.engine import Player
from pipeline.providers.hf.prompt import model_key
from pipeline.providers.places import places_at
from pipeline.providers.protocol import Provider
from scenarios.arms import Parameters
from scenarios.errors import UsageError

COMMAND = ("-P", "-m", "hipo.app.workers.worker")
"""What a worker is started with; ``-P`` keeps modules of the user's folder from being taken for ours."""


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
        del notice, in_flight  # the driver knows whom to tell
        if sender is not None:
            raise UsageError("workers send each request at once", "leave --workers out")
        return self.driver.players(
            (arm.id for arm in self.prepared.arms),
            link,
            timeout_for=self.prepared.recipe.limits.timeout_for,
        )

    async def leave(self) -> None:
        """Let the workers end, and take in what they say of requests that are under way."""
        await self.driver.close()


@asynccontextmanager
async def connected_workers(
    prepared: Prepared, workers: int | RayWorkers, notice: Callable[[str], None]
) -> AsyncIterator[WorkerConnections]:
    """Start workers and wait until their players are built; end them afterwards.

    Args:
        prepared: what is to be played.
        workers: how many processes of this machine, or how many Ray is to place where.
        notice: is told what workers learn, and of one that ends before its time.

    Raises:
        UsageError: Ray is asked for and not there, a worker lacks a plugin, a package or a key, there are none or too many, or
            requests are to be sent in batches.
        RunError: the workers end before they are ready.
    """
    check_sent_at_once(batch=prepared.recipe.limits.batch)
    count = workers.count if isinstance(workers, RayWorkers) else workers
    if not 1 <= count <= MOST_WORKERS:
        raise UsageError(
            f"{count} workers cannot be started", f"--workers takes 1 to {MOST_WORKERS}"
        )
    silent_s = SILENT_WITH_PLUGINS_S if prepared.config.plugins else SILENT_S
    driver = Driver(material_of(prepared), notice, silent_s=silent_s)
    leave_s = SENT_IN_S if spans_are_sent() else LEAVE_S
    if isinstance(workers, RayWorkers):
        async with ray_cluster(workers.address) as cluster:
            port = await driver.listen(cluster.host)
            pools = await ray_pools(
                cluster,
                pooled_models(prepared),
                actors=workers.model_actors,
                gpus=workers.gpus_per_model,
            )
            async with ray_workers(
                cluster, driver, port, run_worker, count=count, notice=notice, pools=pools,
                leave_s=leave_s,
            ):  # fmt: skip
                yield WorkerConnections(prepared, driver)
        return
    port = await driver.listen()
    async with worker_processes(driver, port, COMMAND, count=count, notice=notice, leave_s=leave_s):
        yield WorkerConnections(prepared, driver)


def pooled_models(prepared: Prepared) -> dict[str, PooledModel]:
    """Return what a run computes itself: the encoder that votes, and its models of ``hf/``."""
    found = {}
    recipe = prepared.recipe
    if embeds(prepared):
        embedding = recipe.embedding
        opened = partial(open_encoder, embedding.model, embedding.device)
        found[ENCODER] = PooledModel("the encoder", opened, embedding.device != "cpu")
    for use in prepared.uses.values():
        if use.spec.provider == PooledProvider.name:
            parameters = use.spec.parameters or Parameters()
            most = places_at(use.spec.provider, recipe.limits.max_concurrency).most
            found[model_key(use.spec.model, parameters)] = PooledModel(
                use.spec.name,
                partial(open_local_model, use.spec.name, most),
                parameters.extra.get("device") != "cpu",
            )
    return found
