from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.planning.shard import Shard
from pipeline.recipes.recipe import Recipe
from scenarios.errors import UsageError
from tests.pipeline.test_plan import shapes, small

shard_counts = st.integers(1, 12)


@given(shape=shapes, n=st.none() | st.integers(1, 300), of=shard_counts)
def test_shards_together_play_every_case_exactly_once(shape, n, of):
    plan = small(n, **shape)
    shards = [replace(plan, shard=Shard(index, of)) for index in range(1, of + 1)]
    played = [case.id for shard in shards for case in shard]
    assert Counter(played) == Counter(case.id for case in plan)


@given(shape=shapes, n=st.integers(1, 300), of=shard_counts)
def test_shards_differ_by_one_case_at_most_and_say_how_many_they_have(shape, n, of):
    plan = small(n, **shape)
    shards = [replace(plan, shard=Shard(index, of)) for index in range(1, of + 1)]
    sizes = [len(list(shard)) for shard in shards]
    assert max(sizes) - min(sizes) <= 1
    assert sizes == [len(shard) for shard in shards]


@given(shape=shapes, n=st.integers(1, 300), of=shard_counts, more=st.integers(0, 200))
def test_a_shard_of_a_larger_plan_goes_on_with_that_of_a_smaller_one(shape, n, of, more):
    first = {case.id for case in small(n, shard=Shard(1, of), **shape)}
    assert first <= {case.id for case in small(n + more, shard=Shard(1, of), **shape)}


@given(shape=shapes, n=st.integers(1, 300), of=shard_counts)
def test_exchanges_of_a_shard_are_those_of_its_cases(shape, n, of):
    plan = small(n, shard=Shard(of, of), **shape)
    assert plan.exchanges == sum(case.turns for case in plan)


@given(shape=shapes, of=shard_counts)
def test_a_shard_keeps_the_order_of_the_plan(shape, of):
    plan = small(None, **shape)
    place = {case.id: number for number, case in enumerate(plan)}
    of_shard = [place[case.id] for case in replace(plan, shard=Shard(1, of))]
    assert of_shard == sorted(of_shard)


@pytest.mark.parametrize("of", [2, 3, 4, 6])
def test_every_shard_has_all_goals_about_equally_often(of):
    for index in range(1, of + 1):
        goals = Counter(case.goal for case in small(None, facts=(20, 30), shard=Shard(index, of)))
        assert len(goals) == 2
        assert max(goals.values()) - min(goals.values()) <= of


def test_what_is_wanted_of_a_case_is_as_in_the_whole_plan():
    plan = small(40)
    assert replace(plan, shard=Shard(2, 5)).contexts() == plan.contexts()


@pytest.mark.parametrize(
    "text", ["0/4", "5/4", "4", "1/", "a/b", "1/0", "-1/4", "1/4/2", "1/200000"]
)
def test_what_is_no_shard_is_refused_with_what_would_be_one(text):
    with pytest.raises(UsageError, match="expected i/n"):
        Recipe().with_changes({"shard": text})


def test_of_parts_that_are_counted_from_0_those_from_1_are_named():
    with pytest.raises(UsageError, match=r"found '0/4', .*: 1/4 to 4/4"):
        Recipe().with_changes({"shard": "0/4"})


def test_a_shard_is_stored_as_it_is_always_written():
    assert Recipe().with_changes({"shard": " 03/08 "}).shard == "3/8"
