"""The local endpoint itself: the fault plan hits what it says, the same way every time."""

import asyncio
import socket
import subprocess
import sys
import time
from contextlib import suppress

import aiohttp
import pytest

from tests.pipeline.providers.asking import echo
from tests.wire.faults import Faults
from tests.wire.fixtures import wire_server
from tests.wire.server import WireServer

__all__ = ["wire_server"]


def test_a_fault_plan_hits_its_share_of_requests_whatever_their_order():
    plan = Faults(rates={"rate_limited": 0.2, "server_error": 0.1}, seed=5)
    bodies = [b"body %d" % i for i in range(2000)]
    hits = [plan.strike(i, body, 0) for i, body in enumerate(bodies)]
    assert hits.count("rate_limited") == pytest.approx(400, abs=60)
    assert hits.count("server_error") == pytest.approx(200, abs=45)
    shuffled = [plan.strike(i, body, 0) for i, body in enumerate(reversed(bodies))]
    assert shuffled[::-1] == hits


def test_a_request_sent_again_is_not_bound_to_fail_again():
    plan = Faults(rates={"server_error": 0.5})
    assert len({plan.strike(0, b"body", again) for again in range(20)}) == 2


@pytest.mark.anyio
async def test_what_arrived_can_be_searched_afterwards(wire_server):
    wire_server.answer = echo
    body = {"model": "m", "messages": [{"role": "user", "content": "the secret"}], "n": 2}
    async with aiohttp.ClientSession() as session:
        url = f"{wire_server.openai_url}/chat/completions"
        async with session.post(url, json=body, headers={"X-Tenant": "a"}) as response:
            answer = await response.json()
    assert len(answer["choices"]) == 2
    (seen,) = wire_server.seen
    assert "the secret" in seen.raw
    assert (seen.body, seen.headers["x-tenant"], seen.fault) == (body, "a", None)


def test_it_runs_as_a_process_of_its_own():
    command = [sys.executable, "-m", "tests.wire.server", "--fault", "server_error=0.1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        process.kill()
    openai_url, anthropic_url = line.split()
    assert openai_url == f"{anthropic_url}/v1"
    assert openai_url.startswith("http://127.0.0.1:")


@pytest.mark.anyio
async def test_a_server_that_hangs_can_be_closed():
    async with aiohttp.ClientSession() as session:
        with WireServer(answer=echo, faults=Faults(script=("hang",))) as server:
            asking = asyncio.ensure_future(
                session.post(f"{server.openai_url}/chat/completions", json={})
            )
            while server.count == 0:
                await asyncio.sleep(0.005)
        with pytest.raises(aiohttp.ClientError):
            await asking


def test_a_server_that_goes_away_breaks_off_what_it_has_just_accepted():
    with WireServer() as server:
        server._loop.call_soon_threadsafe(time.sleep, 0.1)  # they all wait to be accepted
        clients = [socket.create_connection(("127.0.0.1", server.port), 5) for _ in range(20)]
        server.go_away()
        for client in clients:
            with client, suppress(ConnectionResetError):
                assert client.recv(1) == b""
