"""A worker of a run: the one thing that another executor has to start, anywhere.

``run_worker(host, port, token)`` in a process of its own is all there is to it, as a task of a
cluster, say: it returns when the run is over. ``python -m hipo.app.workers.worker`` reads the same from
standard input, and is what ``--workers`` starts.
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

import orjson

from hipo.app.preparation.players import connected
from hipo.app.running.tracing import exporting_spans
from hipo.app.workers.material import prepared_from
from pipeline.endpoints.run_link import RunLink
from pipeline.executors.frames import StreamBroken
from pipeline.executors.model_pools import Pool
from pipeline.executors.places import REFUSED
from pipeline.executors.worker import work
from pipeline.playing.engine import Player
from pipeline.rare_collections import rare_collections
from scenarios.errors import UsageError

IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGTTOU)
"""Signals that a service manager sends to all processes of a command, which the driver handles; the
last one would halt a worker that writes to a terminal which takes that from the foreground alone."""


def run_worker(
    host: str, port: int, token: str, name: str = "", pools: Mapping[str, Pool] | None = None
) -> None:
    """Play what a driver sends until its run is over; nothing has to be there beforehand.

    Args:
        host: where the driver listens (:meth:`pipeline.executors.driver.Driver.listen`).
        port: of it.
        token: :attr:`pipeline.executors.driver.Driver.token`.
        name: what people call this worker; by default its machine and process.
        pools: what it asks instead of loading models itself.

    Raises:
        StreamBroken: the driver is not there, does not take the token, or has gone away.
        UsageError: a plugin, a package or a key is missing here; the driver was told.
    """
    called = name or f"{socket.gethostname()}:{os.getpid()}"
    with rare_collections(), exporting_spans():
        asyncio.run(work(host, port, token, partial(_players, pools), name=called))


@asynccontextmanager
async def _players(
    pools: Mapping[str, Pool] | None,
    material: Mapping[str, Any],
    link: RunLink,
    notice: Callable[[str], None],
) -> AsyncIterator[Mapping[str, Player]]:
    async with connected(prepared_from(material), notice, pools=pools) as connections:
        yield connections.players(link, notice)


def main() -> int:
    """Read where to join from standard input, work, and return the exit code.

    Signals are for the driver to handle: it lets what is in flight finish.
    """
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    joining = orjson.loads(sys.stdin.buffer.readline())
    sys.stdin.close()
    with suppress(StreamBroken):  # the driver is gone: there is nothing left to do, nor to tell
        try:
            run_worker(**joining)
        except UsageError:
            return REFUSED
        return 0
    return 1


if __name__ == "__main__":
    code = main()
    gc.freeze()  # else Python looks for garbage in all there is once more before it ends
    sys.exit(code)
