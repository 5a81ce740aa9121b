"""The local executor pulls jobs when workers are free, and never more than that."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Callable, Iterator
from gc import get_freeze_count  # before it is replaced for the tests

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.executors.local import LocalExecutor, width_for
from pipeline.rare_collections import rare_collections


class Jobs:
    """Counts what was taken and what is being worked on."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.taken = 0
        self.busy = 0
        self.most = 0
        self.ahead = 0
        self.done: list[int] = []

    async def stream(self) -> AsyncIterator[int]:
        for number in range(self.count):
            self.taken += 1
            self.ahead = max(self.ahead, self.taken - len(self.done))
            yield number

    async def work(self, number: int) -> None:
        self.busy += 1
        self.most = max(self.most, self.busy)
        for _ in range(number % 3 + 1):
            await asyncio.sleep(0)
        self.busy -= 1
        self.done.append(number)


@given(count=st.integers(0, 30), width=st.integers(1, 9))
def test_every_job_is_done_once_and_taken_only_when_somebody_is_free(
    count: int, width: int
) -> None:
    jobs = Jobs(count)
    asyncio.run(LocalExecutor(width).run(jobs.stream(), jobs.work))
    assert sorted(jobs.done) == list(range(count))
    assert jobs.most <= width
    assert jobs.ahead <= width + 1
    assert jobs.most == min(width, count)


@pytest.mark.anyio
async def test_the_first_error_ends_the_others_and_is_raised_as_it_is() -> None:
    jobs = Jobs(10_000)

    async def work(number: int) -> None:
        if number == 7:
            raise ValueError("seven")
        await jobs.work(number)

    with pytest.raises(ValueError, match="seven"):
        await LocalExecutor(4).run(jobs.stream(), work)
    assert len(jobs.done) < 20


def test_nobody_cannot_work() -> None:
    with pytest.raises(ValueError, match="at least 1 worker, got 0"):
        LocalExecutor(0)


def test_a_quarter_more_dialogues_live_than_requests_fly() -> None:
    assert [width_for(n) for n in (1, 4, 32, 256)] == [2, 8, 64, 512]


class Follows:
    """A width that is set from outside."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.changed: Callable[[], None] | None = None

    def now(self) -> int:
        return self.width

    def watch(self, changed: Callable[[], None] | None) -> None:
        self.changed = changed


@pytest.mark.anyio
async def test_workers_follow_a_width_that_changes() -> None:
    jobs, width, busy_at = Jobs(60), Follows(2), {}

    async def work(number: int) -> None:
        if number in {10, 30}:
            width.width = {10: 8, 30: 3}[number]
            assert width.changed is not None
            width.changed()
        await jobs.work(number)
        busy_at[number] = jobs.busy

    await LocalExecutor(width).run(jobs.stream(), work)
    assert sorted(jobs.done) == list(range(60))
    assert jobs.most == 8
    assert max(busy_at[number] for number in range(9)) < 2
    assert max(busy_at[number] for number in range(45, 60)) < 3
    assert width.changed is None


def collections_among(objects: int) -> int:
    """Return how often the young are searched for garbage while so many objects come to be."""
    before = gc.get_stats()[0]["collections"]
    kept = [[] for _ in range(objects)]
    assert len(kept) == objects
    return gc.get_stats()[0]["collections"] - before


def test_collections_are_rare_inside_and_as_before_outside() -> None:
    usual = collections_among(20_000)
    assert usual > 5
    with rare_collections():
        assert collections_among(20_000) <= 1
    assert collections_among(20_000) > 5


@pytest.fixture
def nothing_frozen(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Leave nothing out of garbage collections, and have that counted, as in a program of its own."""
    monkeypatch.setattr(gc, "get_freeze_count", get_freeze_count)
    gc.unfreeze()
    yield
    gc.freeze()


@pytest.mark.usefixtures("nothing_frozen")
def test_an_error_inside_leaves_the_settings_as_they_were() -> None:
    before = gc.get_threshold()
    with pytest.raises(ZeroDivisionError), rare_collections():
        raise ZeroDivisionError
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0


@pytest.mark.usefixtures("nothing_frozen")
def test_what_a_program_has_left_out_of_collections_stays_out() -> None:
    gc.freeze()
    with rare_collections():
        pass
    assert gc.get_freeze_count() > 0
