"""Providers of plugins: they keep to their time, and their bills can be added up."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace

import pytest

from pipeline.providers.errors import BadRequest, TimedOut, Unreachable
from pipeline.providers.foreign import ForeignProvider
from pipeline.providers.protocol import Choice, Reply, Usage

pytestmark = pytest.mark.anyio


class Mine:
    """Does what it is told to."""

    name, base_url, samples_per_request = "mine", None, True

    def __init__(self, do):
        self.do = do

    async def send(self, request, timeout_s):
        return await self.do()

    async def close(self):
        self.do = None


def sent(do, timeout_s=60.0):
    return ForeignProvider(Mine(do)).send(None, timeout_s)


async def test_one_that_hangs_is_ended_when_its_time_is_over():
    with pytest.raises(TimedOut):
        await sent(asyncio.Event().wait, 0.01)


@pytest.mark.parametrize(
    ("raised", "told"),
    [
        (TimeoutError("late"), TimedOut),
        (ConnectionRefusedError("nobody there"), Unreachable),
        (ConnectionResetError("gone"), Unreachable),
        (BadRequest("no"), BadRequest),
        (KeyError("bug"), KeyError),
    ],
)
async def test_what_python_calls_it_is_what_is_told(raised, told):
    async def fail():
        raise raised

    with pytest.raises(told):
        await sent(fail)


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        (None, None),
        (Usage(3, 4, cached=1), Usage(3, 4, cached=1)),
        (Usage(3.0, 4.0), Usage(3, 4)),
        (Usage(-3, 4), None),
        (Usage("3", 4), None),
        (Usage(3, float("nan")), None),
    ],
)
async def test_odd_counts_of_tokens_are_none_and_are_charged_at_their_worst(usage, counted):
    async def answer():
        return Reply((Choice("a", "stop"),), usage, "req")

    assert (await sent(answer)).usage == counted

    error = BadRequest("no", status=400)
    error.usage = usage

    async def fail():
        raise error

    with pytest.raises(BadRequest):
        await sent(fail)
    assert (error.billed, error.usage) == (usage is not None, counted)


REPLY = Reply((Choice("a", "stop"),), None, "req")


@pytest.mark.parametrize(
    "returned",
    [
        None,
        {"choices": []},
        replace(REPLY, choices=None),
        replace(REPLY, choices=("a",)),
        replace(REPLY, choices=(Choice(5, "stop"),)),
        replace(REPLY, body=5),
    ],
)
async def test_what_is_no_reply_is_told_where_the_call_is_counted(returned):
    async def answer():
        return returned

    with pytest.raises(TypeError, match=r"the provider 'mine' returned .*: not a Reply"):
        await sent(answer)


async def test_odd_names_and_no_counts_are_none():
    async def answer():
        return replace(REPLY, usage={"prompt": 1}, model=7, system_fingerprint=["a"])

    reply = await sent(answer)
    assert (reply.usage, reply.model, reply.system_fingerprint) == (None, None, None)
    assert reply.request_id == "req"


async def test_it_is_closed_with_the_run():
    mine = Mine(asyncio.sleep)
    await ForeignProvider(mine).close()
    assert mine.do is None


async def test_one_that_cannot_be_closed_is_told_of_and_ends_nothing(caplog):
    mine = Mine(asyncio.sleep)
    mine.close = mine.send  # it takes an argument more
    await ForeignProvider(mine).close()
    assert "the provider 'mine' could not be closed: TypeError" in caplog.text


@pytest.mark.parametrize(
    ("attribute", "value", "told"),
    [
        ("name", None, "its name is None, expected str"),
        ("base_url", 3, "its base_url is 3, expected str | None"),
        ("samples_per_request", "no", "its samples_per_request is 'no', expected bool"),
    ],
)
async def test_what_it_says_of_itself_is_of_the_types_of_the_protocol(attribute, value, told):
    mine = Mine(asyncio.sleep)
    setattr(mine, attribute, value)
    with pytest.raises(TypeError, match=re.escape(told)):
        ForeignProvider(mine)
