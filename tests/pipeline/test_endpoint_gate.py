"""Calls that wait at the gate of an endpoint: in whose turn they go, and how their wait ends."""

import asyncio

import pytest

from pipeline.endpoints.gate import EndpointGates
from pipeline.endpoints.signs import CallSign
from pipeline.endpoints.wait_rules import WaitRules
from pipeline.providers.rate_limiter import ModelAddress
from pipeline.stopping.stop import UNAVAILABLE, Stop, Stopped

ADDRESS = ModelAddress("compatible", "http://127.0.0.1:8000/v1", "m")
OTHER_MODEL = ADDRESS._replace(model="other")
QUICK = WaitRules(wait_s=60.0, confirm_s=0.01, probe_s=0.02)


class Gates(EndpointGates):
    def __init__(self, rules=QUICK, stop=None):
        self.said = []
        super().__init__(stop or Stop(), rules, self.said.append)


async def in_service(gate):
    gate.settle(await gate.enter("initiator"), CallSign("answered"))


async def cut_off(gate):
    gate.settle(await gate.enter("initiator"), CallSign("unconnected"))
    gate.settle(await gate.enter("initiator"), CallSign("unconnected"))


@pytest.mark.anyio
async def test_those_who_wait_go_when_the_first_call_is_answered():
    gate = Gates().gate(ADDRESS)
    first = await gate.enter("initiator")
    others = [asyncio.ensure_future(gate.enter("initiator")) for _ in range(5)]
    await asyncio.sleep(0)
    assert not any(other.done() for other in others)
    gate.settle(first, CallSign("answered"))
    assert len({admission.number for admission in await asyncio.gather(*others)}) == 5


@pytest.mark.anyio
async def test_answers_that_concern_nobody_who_waits_do_not_look_at_all_of_them(monkeypatch):
    """Hundreds of responders wait for the first of them while hundreds of initiators are answered."""
    gate = Gates().gate(ADDRESS)
    await in_service(gate)
    first = await gate.enter("responder")
    waiting = [asyncio.ensure_future(gate.enter("responder")) for _ in range(50)]
    await asyncio.sleep(0)
    looked = []
    admit = gate._availability.admit
    monkeypatch.setattr(
        gate._availability,
        "admit",
        lambda role, now, **how: looked.append(role) or admit(role, now, **how),
    )
    for _ in range(20):
        await in_service(gate)
    assert looked == ["initiator"] * 20
    gate.settle(first, CallSign("answered"))
    assert len(await asyncio.gather(*waiting)) == 50


@pytest.mark.anyio
async def test_in_an_outage_they_go_to_see_in_turn_and_all_of_them_when_it_is_over():
    gates = Gates()
    gate = gates.gate(ADDRESS)
    await in_service(gate)
    await cut_off(gate)
    order = []

    async def call(name, *signs):
        for sign in signs:
            admission = await gate.enter("initiator")
            order.append(name)
            gate.settle(admission, CallSign(sign))

    async with asyncio.TaskGroup() as group:
        group.create_task(call("a", "unconnected", "answered"))
        group.create_task(call("b", "unconnected", "answered"))
        group.create_task(call("c", "answered"))
    assert order == ["a", "b", "c", "a", "b"]
    assert len(gates.said) == 2


@pytest.mark.anyio
async def test_a_stop_ends_the_wait():
    stop = Stop()
    gate = Gates(WaitRules(probe_s=600.0, confirm_s=0.01), stop).gate(ADDRESS)
    await cut_off(gate)
    waiting = [asyncio.ensure_future(gate.enter("initiator")) for _ in range(3)]
    await asyncio.sleep(0)
    stop.request("interrupted")
    for outcome in await asyncio.gather(*waiting, return_exceptions=True):
        assert isinstance(outcome, Stopped)
        assert outcome.code == "interrupted"


@pytest.mark.anyio
async def test_an_endpoint_that_stays_away_stops_the_run_as_unavailable():
    stop = Stop()
    gate = Gates(WaitRules(wait_s=0.1, probe_s=0.02, confirm_s=0.01), stop).gate(ADDRESS)

    async def ask_for_ever():
        while True:
            gate.settle(await gate.enter("initiator"), CallSign("unconnected"))

    with pytest.raises(Stopped):
        await ask_for_ever()
    assert stop.code == UNAVAILABLE
    assert stop.reason.startswith("no connection to http://127.0.0.1:8000/v1 for ")


@pytest.mark.anyio
async def test_who_is_cancelled_while_it_waits_or_just_admitted_makes_way():
    gate = Gates().gate(ADDRESS)
    first = await gate.enter("initiator")
    gone, next_one = (asyncio.ensure_future(gate.enter("initiator")) for _ in range(2))
    await asyncio.sleep(0)
    gate.settle(first, CallSign("failed"))  # lets `gone` in, which is cancelled before it can go on
    gone.cancel()
    await asyncio.wait([gone])
    assert (await next_one).number > 0


@pytest.mark.anyio
async def test_models_behind_one_address_are_told_of_together_and_wait_each_for_itself():
    gates = Gates()
    one, other = gates.gate(ADDRESS), gates.gate(OTHER_MODEL)
    for gate in (one, other):
        await cut_off(gate)
    assert len(gates.said) == 1
    await in_service(one)
    assert len(gates.said) == 1
    await in_service(other)
    assert len(gates.said) == 2
    assert "takes requests again" in gates.said[1]


@pytest.mark.anyio
async def test_an_outage_of_one_endpoint_leaves_the_others_alone():
    gates = Gates(WaitRules(probe_s=600.0, confirm_s=600.0))
    away = gates.gate(ADDRESS)
    away.settle(await away.enter("initiator"), CallSign("unconnected"))
    elsewhere = gates.gate(ModelAddress("compatible", "http://127.0.0.1:9000/v1", "m"))
    here, there = (asyncio.ensure_future(gate.enter("initiator")) for gate in (away, elsewhere))
    await asyncio.sleep(0)
    assert there.done()
    assert not here.done()
    here.cancel()


@pytest.mark.anyio
async def test_what_is_waited_for_is_registered_until_all_models_behind_an_address_serve():
    gates = Gates()
    one, other = gates.gate(ADDRESS), gates.gate(OTHER_MODEL)
    for gate in (one, other):
        await in_service(gate)
        await cut_off(gate)
    assert gates.awaited.longest.what == f"no connection to {ADDRESS.base_url}"
    await in_service(one)
    assert gates.awaited.over == 0
    await in_service(other)
    assert (gates.awaited.longest, gates.awaited.over) == (None, 1)
