"""What verification does where something fails, or is told to stop."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipeline.providers.errors import RateLimited, Unauthorised
from pipeline.spending.budget import BudgetReached
from pipeline.stopping.rules import SAME_FAILURE, UNREADABLE_AT_FIRST
from pipeline.stopping.stop import Stop
from quality.gates.runner import GateChecks
from scenarios.errors import UsageError
from tests.quality.scripted import HIPO, Oracle, self_judge
from tests.quality.verifying.bench import ALL_OFF, Bench, filled

pytestmark = pytest.mark.anyio


async def test_where_a_judge_does_not_answer_the_dialogue_is_left_for_later(store):
    await filled(store, 2)
    bench = Bench(store)
    bench.other.raising = RateLimited("slow down")
    outcome = await bench.run()
    assert outcome.failed == {"rate_limited": 2}
    assert bench.verdicts() == {}
    asked = len(bench.own.contexts)
    bench.other.raising = None
    outcome = await bench.run()
    assert outcome.done == 2
    assert len(bench.own.contexts) == asked  # what had been judged stays judged
    assert bench.verdicts() == {"accepted": 2}


async def test_a_budget_stops_without_a_failure(store):
    await filled(store, 3)
    bench = Bench(store)
    bench.own.raising = BudgetReached("budget reached")
    outcome = await bench.run()
    assert (outcome.stopped, outcome.stop_code) == ("budget reached", "budget")
    assert (outcome.done, outcome.failed) == (0, {})


async def test_a_wrong_key_is_the_users_mistake(store):
    await filled(store, 2)
    bench = Bench(store)
    bench.other.raising = Unauthorised("bad key")
    with pytest.raises(UsageError, match="test/other: bad key"):
        await bench.run()


async def test_an_endpoint_that_is_down_stops_the_run(store):
    await filled(store, SAME_FAILURE + 10)
    bench = Bench(store)
    bench.own.raising = RateLimited("slow down")
    outcome = await bench.run(judges=(self_judge(bench.own),))
    assert "dialogues could not be judged in a row (rate_limited)" in (outcome.stopped or "")
    assert outcome.advice == "once the endpoint answers, go on with the same command"
    assert outcome.stop_code == "unavailable"
    assert outcome.failed["rate_limited"] < SAME_FAILURE + 10


async def test_a_judge_of_whom_nothing_can_be_read_is_found_out_unless_it_was_read_before(store):
    await filled(store, UNREADABLE_AT_FIRST + 10)
    bench = Bench(store)
    bench.other.answer = lambda messages, seed: "I would rather not say."
    outcome = await bench.run(at_once=1)
    assert (outcome.stop_code, outcome.done) == ("refused", UNREADABLE_AT_FIRST - 1)
    assert str(outcome.stopped).startswith("nothing that test/other says can be read, in 20 ")
    assert "--judge" in outcome.advice
    bench.stop, bench.other.answer = Stop(), Oracle()
    assert (await bench.run()).done == 11
    bench.other.answer = lambda messages, seed: "I would rather not say."
    outcome = await bench.run(retry_unreadable=True, at_once=1)
    assert (outcome.stopped, outcome.done) == (None, UNREADABLE_AT_FIRST)


async def test_an_exception_nobody_foresaw_leaves_one_dialogue_unverified_and_says_where(store):
    played = await filled(store, 3)
    bench = Bench(store)
    answers = bench.own.answer
    failing = iter([ZeroDivisionError("no turns")])

    def fails_once(*asked):
        for error in failing:
            raise error
        return answers(*asked)

    bench.own.answer = fails_once
    outcome = await bench.run()
    assert (outcome.done, outcome.failed, outcome.stopped) == (2, {"internal_error": 1}, None)

    def tracebacks():
        ids = [(d.case.id, d.arm) for d in played]
        return [text for one in ids if (text := store.reader.verification_traceback(*one))]

    (traceback,) = tracebacks()
    assert "in fails_once" in traceback
    assert "ZeroDivisionError: no turns" in traceback
    outcome = await bench.run()
    assert (outcome.done, outcome.present) == (1, 2)
    assert tracebacks() == []


async def test_a_gate_that_raises_fails_the_dialogue_it_was_given_and_no_other(store):
    played = await filled(store, 3)
    broken = replace(GateChecks.of(ALL_OFF, HIPO), gates=(BrokenGate(played[1].case.id),))
    bench = Bench(store)
    outcome = await bench.run(checks=broken)
    assert (outcome.done, outcome.failed) == (2, {"internal_error": 1})
    assert bench.verdicts() == {"accepted": 2}


class BrokenGate:
    """Raises at one case and flags nothing else."""

    code = "broken"

    def __init__(self, case):
        self.case = case

    def check(self, gated):
        if gated.dialogue.case.id == self.case:
            raise KeyError("flag")
        return []


async def test_a_stop_leaves_the_rest_for_the_next_time(store):
    await filled(store, 6)
    bench = Bench(store)
    bench.seen = Counting(lambda n: bench.stop.request("interrupted") if n == 2 else None)
    outcome = await bench.run(at_once=1)
    assert (outcome.stopped, outcome.done) == ("interrupted", 2)
    bench.stop, bench.seen = Stop(), []
    assert (await bench.run()).done == 4


class Counting(list):
    def __init__(self, told):
        super().__init__()
        self.told = told

    def append(self, item):
        super().append(item)
        self.told(sum(one.kind == "done" for one in self))
