"""Workers that Ray places and supervises: the same workers over the same stream.

Ray decides on which machine of a cluster a worker runs and tells when it has died; no dialogue, reply
or dollar goes through Ray. Ray is imported here alone, when it is asked for.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from pipeline.executors.driver import Driver
from pipeline.executors.places import LEAVE_S, REFUSED, kept_going
from pipeline.executors.processes import module_path
from scenarios.errors import UsageError

LOOPBACK = "127.0.0.1"
KILLED = -9
"""Exit code that stands for a worker which Ray found dead."""
RunWorker = Callable[[str, int, str, str], None]
"""Joins the driver at (host, port) with a token under a name, and plays until the run is over."""


@dataclass(frozen=True, slots=True)
class RayCluster:
    """A connection to Ray: one that was started here for this run, or a cluster that was there."""

    ray: Any
    host: str
    """The address of this machine under which workers reach it."""

    def shares(self, count: int, *, accelerated: bool) -> dict[str, float]:
        """Return what each of ``count`` workers may take for itself, so that all fit at once.

        A worker mostly waits, so that a processor may be shared: with one each, fewer would be
        started than are asked for, and the run would wait for the others.

        Args:
            count: how many workers.
            accelerated: whether they compute on a GPU, where the cluster has any.
        """
        there = self.ray.cluster_resources()
        shares = {"num_cpus": _share(there.get("CPU", 0.0), count)}
        if accelerated and there.get("GPU"):
            shares["num_gpus"] = _share(there["GPU"], count)
        return shares


def _share(amount: float, count: int) -> float:
    """Return a share of at most 1, rounded down to what Ray can count."""
    return min(1.0, int(amount / count * 10_000) / 10_000)


@asynccontextmanager
async def ray_cluster(address: str | None) -> AsyncIterator[RayCluster]:
    """Connect to a cluster by its address, or start Ray on this machine alone; leave it afterwards.

    What is started here has no dashboard and reports nothing to anybody. Ray's own servers listen on
    every address of the machine, and answer those alone who know a token: that of the environment
    (``RAY_AUTH_TOKEN``), or one made for this process, in which Ray keeps the first that it sees.

    Raises:
        UsageError: Ray is not installed, or there is no cluster at the address.
    """
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    if address is None:
        os.environ["RAY_AUTH_MODE"] = "token"
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    try:
        import ray  # noqa: PLC0415 - optional, and heavy
    except ImportError as error:
        raise UsageError("--executor ray needs Ray", 'pip install "hipo[ray]"') from error
    if ray.is_initialized():
        raise UsageError(
            "Ray is in use in this process already", "run hipo in a process of its own"
        )
    own = {"_node_ip_address": LOOPBACK, "include_dashboard": False} if address is None else {}
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = module_path()  # of the processes that Ray starts on this machine
    try:
        await asyncio.to_thread(
            ray.init, address or "local", log_to_driver=True, logging_level=logging.ERROR, **own
        )
    except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
        said = str(error).partition("\n")[0]
        where = f"at {address}" if address else "on this machine"
        raise UsageError(f"Ray cannot be used {where}: {said}", "see: ray status") from error
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before
    try:
        host = LOOPBACK if address is None else ray.util.get_node_ip_address()
        yield RayCluster(ray, host)
    finally:
        await asyncio.to_thread(ray.shutdown)


@asynccontextmanager
async def ray_workers(
    cluster: RayCluster,
    driver: Driver,
    port: int,
    run_worker: RunWorker,
    *,
    count: int,
    notice: Callable[[str], None],
    accelerated: bool = False,
) -> AsyncIterator[None]:
    """Keep ``count`` workers running somewhere in a cluster; one that dies is replaced.

    Args:
        cluster: where.
        driver: that they join.
        port: where it listens, at the address of the cluster's ``host``.
        run_worker: what a worker does; found by its name wherever it runs.
        count: how many.
        notice: is told of a worker that dies.
        accelerated: whether workers compute on a GPU, where there is one.
    """
    shares = cluster.shares(count, accelerated=accelerated)
    task = cluster.ray.remote(max_retries=0, **shares)(run_worker)

    async def run(name: str) -> int:
        reference = task.remote(cluster.host, port, driver.token, name)
        try:
            await reference
        except asyncio.CancelledError:
            await asyncio.wait([asyncio.ensure_future(_ended(reference))], timeout=LEAVE_S)
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
