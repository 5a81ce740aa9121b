"""Workers, and the models that they share, which Ray places and supervises.

Ray decides on which machine of a cluster a worker runs and tells when it has died; no dialogue and no
dollar goes through Ray. Models that compute in the cluster are actors: Ray carries what they are
asked and answer. Ray is imported when it is asked for, here and where its token is shown.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from pipeline.executors.driver import Driver
from pipeline.executors.model_pools import (
    Answered,
    Failed,
    ModelHost,
    Pool,
    PoolAway,
    PooledModel,
)
from pipeline.executors.places import REFUSED, kept_going
from pipeline.executors.ray_addresses import listening, unusable
from pipeline.executors.ray_tokens import mode_of, token_shown
from pipeline.search_path import module_path
from scenarios.errors import UsageError

LOOPBACK = "127.0.0.1"
KILLED = -9
"""Exit code that stands for a worker which Ray found dead."""
MOST_RESTARTS = 5
"""So often an actor that died is started again; what it was asked when it died is asked anew."""
PLACING_S = 600.0
"""Seconds in which Ray has to start the actors: a cluster may have to grow first."""
RunWorker = Callable[[str, int, str, str, Mapping[str, Pool]], None]
"""Joins the driver at (host, port) with a token under a name, and plays until the run is over; asks
the pools, by name."""


@dataclass(frozen=True, slots=True)
class RayCluster:
    """A connection to Ray: one that was started here for this run, or a cluster that was there."""

    ray: Any
    host: str
    """The address of this machine under which workers reach it."""

    def cpu_share(self, count: int) -> float:
        """Return what each of ``count`` workers may take of the processors, so that all fit at once.

        A worker mostly waits, so that a processor may be shared: with one each, fewer would be
        started than are asked for, and the run would wait for the others.
        """
        return _share(self.ray.cluster_resources().get("CPU", 0.0), count)

    def gpu_share(self, count: int, wanted: float | None = None) -> float:
        """Return what each of ``count`` actors takes of the GPUs, so that all fit at once.

        Args:
            count: how many actors.
            wanted: what each is to take; None: as much as there is, up to 1.

        Raises:
            UsageError: there is not as much as is wanted.
        """
        there = int(self.ray.cluster_resources().get("GPU", 0.0))
        if wanted is None:
            return _share(there, count)
        fit = there * int(1 / wanted) if 0 < wanted <= 1 else there // max(1.0, wanted)
        if wanted > 0 and fit < count:
            raise UsageError(
                f"{count} models with {wanted:g} GPUs each do not fit: the cluster has {there} GPUs",
                "lower --ray-gpus-per-model or --ray-model-actors, or leave them out",
            )
        return wanted


def _share(amount: float, count: int) -> float:
    """Return a share of at most 1, rounded down to what Ray can count.

    No share is torn between two whole ones: three take a half each of two, as two thirds would
    leave no place for the third.
    """
    whole = int(amount)
    share = 1 / -(-count // whole) if whole else amount / count
    return int(share * 10_000) / 10_000


@asynccontextmanager
async def ray_cluster(address: str | None) -> AsyncIterator[RayCluster]:
    """Connect to a cluster by its address, or start Ray on this machine alone; leave it afterwards.

    What is started here has no dashboard and reports nothing to anybody. Ray's own servers listen on
    every address of the machine, and answer those alone who know a token: that of the environment
    (``RAY_AUTH_TOKEN``), or one made for this run.

    Raises:
        UsageError: Ray is not installed, or there is no cluster at the address that lets us in.
    """
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray  # noqa: PLC0415 - optional, and heavy
    except ImportError as error:
        raise UsageError("--executor ray needs Ray", 'pip install "hipo[ray]"') from error
    if ray.is_initialized():
        raise UsageError(
            "Ray is in use in this process already", "run hipo in a process of its own"
        )
    found = None if address is None else await listening(address)
    with token_shown(None if found is None else await mode_of(found)):
        await _connect(ray, found)
        try:
            host = LOOPBACK if found is None else ray.util.get_node_ip_address()
            yield RayCluster(ray, host)
        finally:
            await asyncio.to_thread(ray.shutdown)


async def _connect(ray: Any, address: str | None) -> None:
    own = {"_node_ip_address": LOOPBACK, "include_dashboard": False} if address is None else {}
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = module_path()  # of the processes that Ray starts on this machine
    try:
        await asyncio.to_thread(
            ray.init, address or "local", log_to_driver=True, logging_level=logging.ERROR, **own
        )
    except Exception as error:  # a bare one, too: where a node takes too long to start
        raise unusable(f"at {address}" if address else "on this machine", error) from error
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


class RayPool:
    """Actors that hold the same model; satisfies :class:`Pool` wherever it is sent to."""

    def __init__(self, name: str, actors: Sequence[Any]) -> None:
        """Ask ``actors`` in turn, as long as they live."""
        self._name = name
        self._actors = list(actors)
        self._turn = 0

    async def ready(self) -> None:
        """Wait until every actor is there.

        Raises:
            UsageError: a package is missing there, or Ray starts them nowhere.
        """
        import ray  # noqa: PLC0415 - whoever has actors has it

        references = [actor.ready.remote() for actor in self._actors]
        try:
            answers = await asyncio.wait_for(asyncio.gather(*references), PLACING_S)
        except TimeoutError:
            raise UsageError(
                f"Ray has found no place for {self._name} in {PLACING_S:g} s", "see: ray status"
            ) from None
        except ray.exceptions.RayError as error:
            said = str(error).strip().partition("\n")[0]
            raise UsageError(
                f"Ray cannot start a process for {self._name}: {said}",
                "install one version of hipo wherever models may run",
            ) from error
        for answer in answers:
            answer.result()

    async def ask(self, *question: Any) -> Any:
        """Return the answer of the actor whose turn it is; see :meth:`Pool.ask`."""
        import ray  # noqa: PLC0415 - whoever has actors has it

        while self._actors:
            self._turn += 1
            actor = self._actors[self._turn % len(self._actors)]
            reference = actor.ask.remote(*question)
            try:
                answer: Answered | Failed = await reference
            except asyncio.CancelledError:
                ray.cancel(reference)
                raise
            except ray.exceptions.RayTaskError:
                raise
            except ray.exceptions.ActorUnavailableError as error:
                raise PoolAway(f"{self._name} is away: its process died", gone=False) from error
            except ray.exceptions.RayError:
                self._actors = [other for other in self._actors if other is not actor]
            else:
                return answer.result()
        raise PoolAway(f"{self._name} has died, and is not started again", gone=True)


async def ray_pools(
    cluster: RayCluster,
    models: Mapping[str, PooledModel],
    *,
    actors: int = 1,
    gpus: float | None = None,
) -> dict[str, RayPool]:
    """Start the actors of models; each loads its model when it is first asked, once.

    They take no processors from the workers, which wait for them meanwhile.

    Args:
        cluster: where.
        models: what each is to hold, by the name of its pool.
        actors: of each model.
        gpus: what an actor takes of the GPUs; None: a share with which all fit.

    Raises:
        UsageError: they do not fit, or a package is missing there.
    """
    wanting = sum(model.takes_gpu for model in models.values()) * actors
    share = cluster.gpu_share(wanting, gpus) if wanting else 0.0
    hosts = len(models) * actors
    pools = {}
    for name, model in models.items():
        host = cluster.ray.remote(
            num_cpus=0, num_gpus=share if model.takes_gpu else 0, max_restarts=MOST_RESTARTS
        )(ModelHost)
        pools[name] = RayPool(model.label, [host.remote(model.open, hosts) for _ in range(actors)])
    await asyncio.gather(*(pool.ready() for pool in pools.values()))
    return pools


@asynccontextmanager
async def ray_workers(
    cluster: RayCluster,
    driver: Driver,
    port: int,
    run_worker: RunWorker,
    *,
    count: int,
    notice: Callable[[str], None],
    pools: Mapping[str, Pool],
    leave_s: float,
) -> AsyncIterator[None]:
    """Keep ``count`` workers running somewhere in a cluster; one that dies is replaced.

    Args:
        cluster: where.
        driver: that they join.
        port: where it listens, at the address of the cluster's ``host``.
        run_worker: what a worker does; found by its name wherever it runs.
        count: how many.
        notice: is told of a worker that dies.
        pools: what workers ask instead of loading models.
        leave_s: seconds that a worker is waited for when the run is over.
    """
    task = cluster.ray.remote(max_retries=0, num_cpus=cluster.cpu_share(count))(run_worker)

    async def run(name: str) -> int:
        reference = task.remote(cluster.host, port, driver.token, name, pools)
        try:
            await reference
        except asyncio.CancelledError:
            await asyncio.wait([asyncio.ensure_future(_ended(reference))], timeout=leave_s)
            raise
        except cluster.ray.exceptions.RayTaskError as error:
            return REFUSED if isinstance(error.cause, UsageError) else 1
        except cluster.ray.exceptions.RayError:
            return KILLED
        return 0

    names = [str(number) for number in range(1, count + 1)]
    async with kept_going(driver, {name: _bound(run, name) for name in names}, notice):
        yield


def _bound(run: Callable[[str], Any], name: str) -> Callable[[], Any]:
    return lambda: run(name)


async def _ended(reference: Any) -> None:
    """Wait until a worker is over, however it ended."""
    await asyncio.gather(reference, return_exceptions=True)
