"""Servers of pages for tests: in a thread each, and gone soon after they are told to go."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import uvicorn


class _Hasty:
    """What uvicorn takes for asyncio: it looks whether to end every 10 ms, not every 100."""

    def __getattr__(self, name: str) -> Any:
        return getattr(asyncio, name)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / 10)


@contextmanager
def serving(server: uvicorn.Server, listener: socket.socket) -> Iterator[None]:
    """Serve on a socket from when the server is ready until the block ends."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(uvicorn.server, "asyncio", _Hasty())
        thread = threading.Thread(
            target=lambda: asyncio.run(server.serve(sockets=[listener])), daemon=True
        )
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive(), "the server did not start"
                thread.join(0.01)
            yield
        finally:
            server.should_exit = True
            thread.join(10)
