"""Which arm plays next while others get no further."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.playing.arm_queues import MOST_WAITING, ArmQueues


@dataclass(frozen=True)
class Job:
    arm: str
    number: int


def jobs(arm: str, count: int, first: int = 0) -> list[Job]:
    return [Job(arm, number) for number in range(first, first + count)]


def taken(queues: ArmQueues[Job], count: int) -> list[Job]:
    found = (queues.take() for _ in range(count))
    return [job for job in found if job is not None]


def test_arms_take_turns_and_each_plays_in_the_order_of_the_plan() -> None:
    queues = ArmQueues[Job](["a", "b"])
    queues.add([*jobs("a", 30), *jobs("b", 30)])
    order: list[Job] = []
    under_way: list[Job] = []
    while (job := queues.take()) is not None:
        order.append(job)
        under_way.append(job)
        if len(under_way) == 5:
            queues.ended(under_way.pop(0))
    for arm in ("a", "b"):
        assert [job.number for job in order if job.arm == arm] == list(range(30))
    assert abs(sum(1 if job.arm == "a" else -1 for job in order[:31])) <= 1


def test_an_arm_that_gets_no_further_keeps_its_share_of_the_places_and_no_more() -> None:
    queues = ArmQueues[Job](["stuck", "free"])
    queues.add([*jobs("stuck", 100), *jobs("free", 100)])
    under_way = taken(queues, 8)
    for _ in range(50):
        ended = next(job for job in under_way if job.arm == "free")
        under_way.remove(ended)
        queues.ended(ended)
        under_way += taken(queues, 1)
        assert sum(job.arm == "stuck" for job in under_way) == 4


def test_more_is_wanted_for_an_arm_whose_turn_it_is_until_too_much_waits_for_the_others() -> None:
    queues = ArmQueues[Job](["stuck", "free"])
    assert queues.want_more
    queues.add([*jobs("stuck", 100), *jobs("free", 2)])
    under_way = taken(queues, 4)
    assert not queues.want_more
    for job in under_way:
        if job.arm == "free":
            queues.ended(job)
    assert queues.want_more
    queues.add(jobs("stuck", MOST_WAITING, 100))
    assert not queues.want_more


def test_nothing_is_looked_up_ahead_for_an_arm_that_has_played_everything_before() -> None:
    queues = ArmQueues[Job](["new", "done before"])
    queues.add(jobs("new", 10))
    assert len(taken(queues, 9)) == 9
    assert not queues.want_more
    assert len(taken(queues, 9)) == 1
    assert queues.want_more
