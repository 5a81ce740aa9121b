"""How far a plan is settled: never beyond a case that is not, and nothing is played or looked up twice."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.executors.local import LocalExecutor
from pipeline.planning.plan import Plan
from pipeline.planning.progress import PlanProgress, rest_of
from pipeline.planning.shard import Shard
from pipeline.playing.engine import Engine
from pipeline.playing.runner import RunOutcome
from pipeline.stopping.stop import Stop
from pipeline.store.run_store import RunStore
from scenarios.case import Case
from scenarios.dialogue import Dialogue, Turn
from scenarios.flow import Improvised
from scenarios.run_configuration import RunConfiguration
from tests.factories import make_scenario, make_scheme

ARMS = ("a", "b")


class Player:
    """Plays in any order, and asks to stop after some dialogues."""

    def __init__(self, arm: str, stop: Stop, most: int | None = None) -> None:
        self.arm, self.stop, self.most = arm, stop, most
        self.played: list[str] = []

    async def play(self, case: Case, epoch: int) -> Dialogue:
        for _ in range(int(case.id[:1], 16)):
            await asyncio.sleep(0)
        self.played.append(case.id)
        if len(self.played) == self.most:
            self.stop.request("that is enough")
        return Dialogue(case, self.arm, (Turn(0, "initiator", "Well?", "opening"),))


def plan_of(n: int, shard: Shard | None = None) -> Plan:
    return Plan(make_scheme(), [make_scenario()], turns=(1, 2), n=n, shard=shard)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    with RunStore.create(tmp_path / "run", RunConfiguration()) as opened:
        for arm in ARMS:
            opened.add_arm(arm, {})
        yield opened


async def play(
    store: RunStore, plan: Plan, most: int | None = None
) -> tuple[RunOutcome, list[Player]]:
    stop = Stop()
    players = [Player(arm, stop, most) for arm in ARMS]
    progress = PlanProgress(store, plan, ARMS)
    engine = Engine(store, {p.arm: p for p in players}, LocalExecutor(5), stop)
    outcome = await engine.run(progress.cases(), progress)
    store.set_state("running")  # what was sent before is written by then
    return outcome, players


def settled(store: RunStore, plan: Plan) -> list[bool]:
    """Whether every arm has a dialogue, case by case in the order they are played."""
    rest = replace(rest_of(store, plan, ARMS), mark=rest_of(store, plan, ("none",)).mark)
    cases = list(rest.cases())
    lacking = {case.id for arm in ARMS for case, _ in store.pending(cases, arm)}
    return [case.id not in lacking for case in cases]


@pytest.mark.anyio
@pytest.mark.parametrize("shard", [None, Shard(2, 3)])
async def test_a_plan_that_is_stopped_again_and_again_and_extended_is_played_once(
    store: RunStore, shard: Shard | None
) -> None:
    played: list[tuple[str, str]] = []
    for n, most in ((700, 40), (700, 90), (1500, 100), (1500, 150), (900, 50), (1900, None)):
        plan = plan_of(n, shard)
        before = rest_of(store, plan, ARMS)
        left = {case.id for case in before.cases()}
        assert len(left) == max(0, len(plan) - before.settled)
        turns = [(case.turns, plan.questions(case)) for case in before.cases()]
        assert before.improvised(20) == Improvised(*map(sum, zip(*turns[20:], strict=True)))
        _, players = await play(store, plan, most)
        for player in players:
            assert left.issuperset(player.played)
            played += [(player.arm, case) for case in player.played]
    plan = plan_of(1900, shard)
    assert len(played) == len(set(played))
    assert set(played) == {(arm, case.id) for case in plan for arm in ARMS}
    assert rest_of(store, plan, ARMS).settled == len(plan)
    assert not list(rest_of(store, plan, ARMS).cases())


@pytest.mark.anyio
async def test_no_case_before_the_mark_is_left_and_what_is_behind_it_is_played(
    store: RunStore,
) -> None:
    plan = plan_of(1300)
    outcome, _ = await play(store, plan, most=700)
    mark = rest_of(store, plan, ARMS).settled
    done = settled(store, plan)
    assert 0 < mark <= done.index(False)
    assert outcome.done == store.state().generated
    outcome, _ = await play(store, plan)
    assert outcome.present + outcome.done == 2 * 1300
    assert store.state().generated == 2 * 1300


@pytest.mark.anyio
async def test_failures_that_are_to_be_played_again_and_other_arms_begin_with_the_first_case(
    store: RunStore,
) -> None:
    plan = plan_of(600)
    await play(store, plan)
    assert rest_of(store, plan, ARMS).settled == 600
    assert rest_of(store, plan, ARMS, retry_failed=True).settled == 0
    assert rest_of(store, plan, ("a", "c")).settled == 0
    assert rest_of(store, replace(plan, seed=1), ARMS).settled == 0
    assert rest_of(store, replace(plan, turns=(2,)), ARMS).settled == 0
