"""Verification of a run: everything is judged once, and decided by policy."""

from __future__ import annotations

import pytest

from quality.gates.settings import gate_settings
from quality.verification.policy import Policy, Rule, load_policy
from scenarios.verdicts import Decision
from tests.quality.scripted import ARM, Asker, Oracle, dialogue, external_judge, self_judge
from tests.quality.verifying.bench import ALL_OFF, Bench, filled, store_keys

pytestmark = pytest.mark.anyio


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
