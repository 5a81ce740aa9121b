"""Verification of a run: everything is judged once, stopped anywhere, and decided by policy."""

from __future__ import annotations

import asyncio
import pickle
from dataclasses import replace

import numpy as np
import pytest

from pipeline.budget import BudgetReached
from pipeline.executors.local import LocalExecutor
from pipeline.providers.errors import RateLimited, Unauthorised
from pipeline.stop import Stop
from pipeline.stop_rules import SAME_FAILURE, UNREADABLE_AT_FIRST
from pipeline.store.run_store import RunStore
from quality import unverified
from quality.gates.runner import GateChecks
from quality.gates.settings import gate_settings
from quality.policy import Policy, Rule, load_policy
from quality.unverified import VerificationSetup, missing_epochs
from quality.verify import Verification
from scenarios.errors import UsageError
from scenarios.run_configuration import RunConfiguration
from scenarios.verdicts import Decision, JudgeRun
from tests.quality.scripted import (
    ARM,
    CAR,
    HIPO,
    Asker,
    Oracle,
    dialogue,
    external_judge,
    self_judge,
)

pytestmark = pytest.mark.anyio
ALL_OFF = gate_settings(
    {"off": ("near_duplicate", "repeated_turn", "unmet_requirement", "word_count")}
)
REVIEW = load_policy("review")


@pytest.fixture
async def store(tmp_path):
    run = RunStore.create(tmp_path / "run", RunConfiguration())
    run.add_arm(ARM, {"strategy": "direct"})
    yield run
    run.close()


async def filled(store, count=3, **more):
    played = [dialogue(repetition=i, **more) for i in range(count)]
    await store.add_cases([d.case for d in played])
    for one in played:
        await store.finish(one, 0)
    return played


class Bench:
    """One store, one self judge and one external judge, verified again and again."""

    def __init__(self, store, policy=REVIEW, settings=ALL_OFF):
        self.store = store
        self.own, self.other = Asker(Oracle()), Asker(Oracle())
        self.policy = policy
        self.settings = settings
        self.stop = Stop()
        self.seen = []

    def setup(self, **more):
        judges = (self_judge(self.own), external_judge(self.other))
        return VerificationSetup(
            self.store.judgements,
            scheme=HIPO,
            scenario_of=lambda _: CAR,
            judges={ARM: more.pop("judges", judges)},
            checks=more.pop("checks", None) or GateChecks.of(self.settings, HIPO),
            policy=self.policy,
            **more,
        )

    def verification(self, **more):
        return Verification(self.setup(**more), self.stop, self.seen.append)

    async def run(self, *, at_once=4, **more):
        verification = self.verification(**more)
        return await verification.run(self.store.dialogues(traces=False), LocalExecutor(at_once))

    @property
    def calls(self):
        return len(self.own.contexts) + len(self.other.contexts)

    def verdicts(self):
        return dict(self.store.judgements.counts().verdicts)


async def test_every_dialogue_is_judged_by_everybody_and_decided_on(store):
    played = await filled(store, 3, turns=2)
    bench = Bench(store)
    outcome = await bench.run()
    assert (outcome.done, outcome.present, outcome.stopped) == (3, 0, None)
    assert bench.calls == 3 * (2 + 1) * 2
    keys = [(d.case.id, d.arm) for d in played]
    judgements = store.judgements.judgements(keys)
    assert {len(judgements[key]) for key in keys} == {2 * 3 + 1 + 2 * 4 + 2}
    assert bench.verdicts() == {"accepted": 3}
    assert store.state().verification.judged == {"self test/own": 3, "external test/other": 3}


async def test_a_second_run_asks_nothing(store):
    await filled(store)
    bench = Bench(store)
    await bench.run()
    before = bench.calls
    outcome = await bench.run()
    assert (bench.calls, outcome.done, outcome.present) == (before, 0, 3)


async def test_only_what_is_new_is_judged(store):
    await filled(store, 2)
    bench = Bench(store)
    await bench.run()
    before = bench.calls
    await filled(store, 3)
    outcome = await bench.run()
    assert (outcome.done, outcome.present) == (1, 2)
    assert bench.calls == before + 4


async def test_a_disagreement_waits_or_is_discarded_as_the_policy_says(store):
    await filled(store, 2)
    bench = Bench(store)
    bench.own.answer = Oracle(labels={"veracity": "Manner"})
    await bench.run()
    assert bench.verdicts() == {"pending": 2}
    before = bench.calls
    bench.policy = load_policy("auto")
    outcome = await bench.run()
    assert bench.calls == before
    assert outcome.present == 2
    assert bench.verdicts() == {"discarded": 2}
    ((key, history),) = list(store.judgements.decisions(store_keys(store)).items())[:1]
    assert [d.by for d in history] == ["policy:review", "policy:auto"]
    assert history[-1].reason == "self_veracity"
    assert store.judgements.assessments([key])[key].flags[0].code == "self_veracity"


def store_keys(store):
    return [(d.case.id, d.arm) for d in store.dialogues(traces=False)]


async def test_a_persons_decision_outlives_every_policy(store):
    await filled(store, 1)
    bench = Bench(store)
    await bench.run()
    (key,) = store_keys(store)
    expert = Decision(*key, "discarded", "expert", "goal is plain", note="seen twice")
    await store.judgements.decide([expert])
    bench.policy = Policy(name="other")
    bench.own.answer = Oracle(labels={"veracity": "Manner"})
    await bench.run(retry_unreadable=True)
    await bench.run(judges=(self_judge(bench.own, name="test/third"),))
    assert store.judgements.decisions([key])[key][-1] == expert
    assert bench.verdicts() == {"discarded": 1}


async def test_gates_flag_beside_the_judges(store):
    played = await filled(store, 1, goal="truthful non-disclosure")
    bench = Bench(store)
    await bench.run()
    assessment = store.judgements.assessments(store_keys(store))[played[0].case.id, ARM]
    assert "label_contradiction" in {flag.code for flag in assessment.flags}


async def test_other_thresholds_are_applied_without_a_call(store):
    await filled(store, 1)
    bench = Bench(store)
    await bench.run()
    before = bench.calls
    bench.settings = gate_settings({"max_sentences": 1, "off": ALL_OFF.off})
    outcome = await bench.run()
    assert (outcome.done, bench.calls) == (1, before)


async def test_of_two_dialogues_that_are_alike_the_later_is_flagged(store):
    same = [dialogue(repetition=0), dialogue(repetition=1)]
    turns = (*same[1].turns[:3], same[0].turns[3])
    same[1] = type(same[1])(same[1].case, ARM, turns)
    await store.add_cases([d.case for d in same])
    for one in same:
        await store.finish(one, 0)
    bench = Bench(store, settings=gate_settings({"off": ("unmet_requirement", "word_count")}))
    await bench.run()
    flagged = store.judgements.assessments(store_keys(store))
    assert [
        [f.code for f in flagged[d.case.id, ARM].flags if f.code == "near_duplicate"] for d in same
    ] == [[], ["near_duplicate"]]


async def test_another_model_or_prompt_means_judging_anew(store):
    await filled(store, 1)
    bench = Bench(store)
    await bench.run()
    before = len(bench.own.contexts)
    await bench.run(judges=(self_judge(bench.own, name="test/newer"), external_judge(bench.other)))
    assert len(bench.own.contexts) == before + 2
    assert store.judgements.counts().judged["self test/newer"] == 1


async def test_the_judges_named_now_are_the_panel_and_the_others_keep_their_votes(store):
    await filled(store, 1)
    bench = Bench(store)
    strict = Asker(Oracle(labels={"veracity": "Manner"}))
    await bench.run(judges=(external_judge(strict, name="test/strict"),))
    assert bench.verdicts() == {"pending": 1}
    await bench.run(judges=(external_judge(bench.other),))
    assert bench.verdicts() == {"accepted": 1}
    await bench.run(
        judges=(external_judge(strict, name="test/strict"), external_judge(bench.other))
    )
    assert bench.verdicts() == {"pending": 1}  # a tie objects
    assert len(strict.contexts) == 2


async def test_an_unreadable_answer_is_flagged_and_asked_again_on_request(store):
    await filled(store, 1)
    bench = Bench(store)
    bench.own.answer = Oracle(garbled="Utterance to judge")
    await bench.run()
    assert bench.verdicts() == {"pending": 1}
    before = bench.calls
    await bench.run()
    assert bench.calls == before
    bench.own.answer = Oracle()
    await bench.run(retry_unreadable=True)
    assert bench.verdicts() == {"accepted": 1}
    assert bench.own.contexts[-1].epoch == 1


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


async def test_what_is_left_to_verify_can_be_sent_to_another_process(store):
    (played,) = await filled(store, 1)
    setup = Bench(store).setup()
    task = await setup.task(played)
    sent = pickle.loads(pickle.dumps(task))
    assert sent == task
    assert [setup.judge(ARM, seat).seat for seat, _ in sent.seats] == [s for s, _ in task.seats]


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


async def test_a_dialogue_can_be_verified_as_it_is_finished(store):
    (played,) = await filled(store, 1)
    bench = Bench(store)
    verification = bench.verification()
    await verification.take(played)
    assert bench.verdicts() == {"accepted": 1}
    before = bench.calls
    assert (await bench.run()).present == 1
    assert bench.calls == before


async def test_a_policy_file_may_ignore_a_judge(store):
    await filled(store, 1)
    mine = Policy(name="mine", rules=(Rule(flags=("self_*",), then="ignore"),))
    bench = Bench(store, policy=mine)
    bench.own.answer = Oracle(labels={"veracity": "Manner"})
    await bench.run()
    assert bench.verdicts() == {"accepted": 1}


def test_who_has_yet_to_judge_follows_from_the_newest_run_of_each_judge():
    own = self_judge(Asker(Oracle())).seat
    done = JudgeRun("c", "a", "self", own.judge, own.config, 0, readable=True)
    broken = JudgeRun("c", "a", "self", own.judge, own.config, 2, readable=False)
    older = JudgeRun("c", "a", "self", own.judge, "another", 0, readable=True)
    assert missing_epochs([own], []) == [0]
    assert missing_epochs([own], [done]) == [None]
    assert missing_epochs([own], [older]) == [0]
    assert missing_epochs([own], [broken]) == [None]
    assert missing_epochs([own], [broken], retry=True) == [3]


class CountingEncoder:
    """Embeds a text as a unit vector, and counts texts."""

    def __init__(self):
        self.texts = []

    async def encode(self, texts):
        self.texts += texts
        return np.eye(max(8, len(texts)), dtype=np.float32)[: len(texts)]


async def test_the_next_page_is_embedded_while_the_dialogues_of_one_are_judged(store, monkeypatch):
    monkeypatch.setattr(unverified, "PAGE", 2)
    played = await filled(store, 6)
    encoder = CountingEncoder()
    setup = Bench(store).setup(checks=GateChecks.of(gate_settings({}), HIPO, encoder))
    tasks = setup.tasks(played, stopped=lambda: False, count_present=lambda _: None)
    first = await anext(tasks)
    for _ in range(5):
        await asyncio.sleep(0)
    assert len(encoder.texts) == 4, "two of the page that is judged, two of the next"
    rest = [task async for task in tasks]
    assert [task.dialogue for task in (first, *rest)] == played
    assert len(encoder.texts) == 6


async def test_what_is_embedded_ahead_is_given_up_where_verification_stops(store, monkeypatch):
    monkeypatch.setattr(unverified, "PAGE", 2)
    played = await filled(store, 6)
    checks = GateChecks.of(gate_settings({}), HIPO, CountingEncoder())
    left = iter((False, False, True))
    before = asyncio.all_tasks()
    tasks = (
        Bench(store)
        .setup(checks=checks)
        .tasks(played, stopped=lambda: next(left), count_present=lambda _: None)
    )
    assert [task.dialogue async for task in tasks] == played[:1]
    assert asyncio.all_tasks() <= before, "nothing is left that nobody waits for"
