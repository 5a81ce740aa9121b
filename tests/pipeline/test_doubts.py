"""Jobs that failed for an endpoint that was away: when they are done again, and when they are not."""

import pytest

from pipeline.executors.local import LocalExecutor
from pipeline.playing.runner import Runner
from pipeline.providers.errors import BadRequest, ServerFault
from pipeline.stopping.rules import StopRules
from pipeline.stopping.stop import INTERRUPTED, UNAVAILABLE, Stop


class Calling:
    """Does what jobs are called; a failure is that of the first try alone unless it stays."""

    def __init__(self, stop):
        self.stop = stop
        self.tried = []
        self.done = []
        self.failed = []

    def scenario_of(self, job):
        return "calls"

    async def work(self, job):
        again = job in self.tried
        self.tried.append(job)
        what = job.partition(" ")[0]
        if what == "outage":
            self.stop.awaited.begin("no connection", 0.0)
        if what == "over":
            self.stop.awaited.end("no connection")
        if what in (INTERRUPTED, UNAVAILABLE):
            self.stop.request("it was asked for", what)
        if what == "refused":
            raise BadRequest("too long")
        if what == "stays" or (what == "fails" and not again):
            raise ServerFault("502")

    async def record(self, job, result):
        self.done.append(job)

    async def record_failure(self, job, failure):
        self.failed.append(job)


async def run(*jobs):
    stop = Stop()
    calling = Calling(stop)
    rules = {arm: StopRules("calls failed", "try again") for arm in ("", "other")}
    runner = Runner(calling, stop, lambda job: rules["other" if "other" in job else ""])
    outcome = await runner.run_all(jobs, LocalExecutor(1))
    assert sum(outcome.failed.values()) == len(calling.failed)
    assert outcome.done == len(calling.done)
    return calling


@pytest.mark.anyio
async def test_a_failure_stands_as_soon_as_another_job_is_done_and_no_outage_was_over():
    calling = await run("fails", "refused", "goes", "outage", "over", "goes on")
    assert calling.failed == ["refused", "fails"]
    assert calling.tried.count("fails") == 1


@pytest.mark.anyio
async def test_what_failed_before_an_outage_is_done_again_after_it_before_the_others():
    calling = await run("fails", "fails too", "refused", "outage other", "over", "goes on")
    assert calling.failed == ["refused"]
    assert calling.tried[-3:] == ["fails", "fails too", "goes on"]


@pytest.mark.anyio
async def test_the_last_ones_are_done_again_when_nothing_else_is_left():
    calling = await run("outage", "fails", "over other")
    assert (calling.tried.count("fails"), calling.failed) == (2, [])


@pytest.mark.anyio
async def test_a_second_try_that_fails_is_a_failure_whatever_comes_after():
    calling = await run("stays", "outage other", "over", "goes", "outage other 2", "over 2")
    assert (calling.tried.count("stays"), calling.failed) == (2, ["stays"])


@pytest.mark.anyio
async def test_what_others_do_says_nothing_about_jobs_under_other_rules():
    calling = await run("fails", "goes other", "outage other", "over")
    assert (calling.tried.count("fails"), calling.failed) == (2, [])


@pytest.mark.anyio
async def test_an_interrupt_leaves_in_waiting_what_may_have_failed_for_the_endpoint():
    assert (await run("fails", "outage other", "interrupted other")).failed == []


@pytest.mark.anyio
async def test_where_an_endpoint_stays_away_what_failed_has_failed():
    assert (await run("fails", "outage other", "unavailable other")).failed == ["fails"]
