"""Start an endpoint on this machine that speaks the OpenAI format and answers by rules.

python endpoint.py 8123        answers everything, after 0.1 s
python endpoint.py 8123 0.4    breaks down (status 500) on that share of all requests

It goes on in the background; the number that is printed ends it (kill NUMBER).
"""

from __future__ import annotations

import asyncio
import subprocess
import sys

SERVE = "--serve"


async def serve(port: int, broken: float = 0.0) -> None:
    """Serve on a port of 127.0.0.1 until the process is ended."""
    from benchmarks.night_server import Misfortunes, NightServer  # noqa: PLC0415 - takes a second

    plan = Misfortunes(refused=0, broken=broken, reset=0, hang=0, poison=0, latency_s=0.1)
    print(await NightServer(plan, port=port).serve(), flush=True)
    await asyncio.Event().wait()


def start(*given: str) -> None:
    """Start a process that serves, and leave it alone once it listens."""
    command = [sys.executable, __file__, SERVE, *given]
    serving = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert serving.stdout is not None
    if not serving.stdout.readline():
        raise SystemExit(serving.communicate()[1])
    print(serving.pid)


if __name__ == "__main__":
    if SERVE in sys.argv:
        port, *broken = sys.argv[2:]
        asyncio.run(serve(int(port), *map(float, broken)))
    else:
        start(*sys.argv[1:])
