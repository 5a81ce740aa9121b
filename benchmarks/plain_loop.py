"""The yardstick: the same calls as a bare aiohttp loop that stores nothing and checks nothing."""

from __future__ import annotations

import asyncio
import time

import aiohttp
import orjson


async def plain_loop(
    base_url: str, bodies: list[dict[str, object]], concurrency: int
) -> list[float]:
    """Post every body with at most ``concurrency`` in flight.

    Returns:
        The seconds after which each answer was there and read, in ascending order.
    """
    todo = iter(bodies)
    there: list[float] = []

    async def worker(session: aiohttp.ClientSession) -> None:
        for body in todo:
            async with session.post(
                f"{base_url}/chat/completions",
                data=orjson.dumps(body),
                headers={"Content-Type": "application/json"},
            ) as response:
                reply = orjson.loads(await response.read())
            orjson.loads(reply["choices"][0]["message"]["content"])
            there.append(time.perf_counter() - started)

    connector = aiohttp.TCPConnector(limit=concurrency)
    async with aiohttp.ClientSession(connector=connector) as session:
        started = time.perf_counter()
        await asyncio.gather(*(worker(session) for _ in range(concurrency)))
    return there
