"""The benchmark of large plans makes the run that it says it does."""

import asyncio

from benchmarks import million
from hipo.app.preparation.prepared import prepare
from pipeline.planning.progress import rest_of
from pipeline.store.run_store import RunStore


def test_what_is_settled_for_the_benchmark_is_what_its_plan_has_left_out(tmp_path):
    asyncio.run(million._settle(tmp_path / "run", 40, 30))
    prepared = prepare(million._recipe(40))
    with RunStore.open(tmp_path / "run") as store:
        assert store.state().settled == 30
        arms = [arm.id for arm in prepared.arms]
        rest = list(rest_of(store, prepared.plan, arms).cases())
        assert store.unknown(rest) == len(rest) == 10
