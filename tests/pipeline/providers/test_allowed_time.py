"""How long an answer is waited for, and what a process that stood still makes of it."""

import asyncio

import pytest

from pipeline.providers.allowed_time import GRACE_S, AllowedTime
from tests.virtual_time import run_virtually


async def answered_after(steps, *, stood_still_s):
    """Wait 10 s for an answer that comes so many steps of the loop after the process stood still."""
    loop = asyncio.get_running_loop()
    answer = loop.create_future()

    def come(left):
        if left:
            loop.call_soon(come, left - 1)
        else:
            answer.set_result("paid")

    def stand_still():
        loop._virtual.now += stood_still_s
        if steps is not None:
            loop.call_soon(come, steps)

    loop.call_later(3.0, stand_still)
    try:
        with AllowedTime(10.0):
            return await answer
    except TimeoutError:
        return loop.time()


@pytest.mark.parametrize("steps", [0, 1, 5])
def test_an_answer_that_came_while_the_process_stood_still_is_read(steps):
    assert run_virtually(answered_after(steps, stood_still_s=3600.0)) == "paid"


@pytest.mark.parametrize(
    ("stood_still_s", "ends"), [(0.0, 10.0), (6.0, 10.0), (3600.0, 3603.0 + GRACE_S)]
)
def test_an_answer_that_does_not_come_is_waited_for_no_longer(stood_still_s, ends):
    assert run_virtually(answered_after(None, stood_still_s=stood_still_s)) == ends


def test_what_is_done_in_time_leaves_no_timer_behind():
    async def quick():
        with AllowedTime(10.0):
            await asyncio.sleep(1.0)
        await asyncio.sleep(100.0)
        return "done"

    assert run_virtually(quick()) == "done"


@pytest.mark.parametrize("after_s", [5.0, 10.0])
def test_whoever_is_asked_to_end_meanwhile_ends(after_s):
    """Also in the moment in which the time is over."""

    async def waiting():
        try:
            with AllowedTime(10.0):
                await asyncio.sleep(100.0)
        except TimeoutError:
            return "late"

    async def asked():
        task = asyncio.create_task(waiting())
        asyncio.get_running_loop().call_later(after_s, task.cancel)
        with pytest.raises(asyncio.CancelledError):
            await task
        return "ended"

    assert run_virtually(asked()) == "ended"


def test_time_that_is_over_says_nothing_of_the_rest_of_the_task():
    async def tried_again():
        for _ in range(2):
            with pytest.raises(TimeoutError), AllowedTime(10.0):
                await asyncio.sleep(100.0)
        await asyncio.sleep(1.0)
        return asyncio.current_task().cancelling(), asyncio.get_running_loop().time()

    assert run_virtually(tried_again()) == (0, 21.0)


def test_the_shorter_of_two_times_ends_both():
    async def nested():
        try:
            with AllowedTime(10.0), AllowedTime(20.0):
                await asyncio.sleep(100.0)
        except TimeoutError:
            return asyncio.get_running_loop().time()

    assert run_virtually(nested()) == 10.0
