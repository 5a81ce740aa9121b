"""What is thought of dialogues: kept whole, never overwritten, counted exactly."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import pytest

from pipeline.store.migrations import migrate
from pipeline.store.run_store import RunStore
from pipeline.store.schema import create_tables
from scenarios.verdicts import Assessment, Decision, Flag, Judgement, JudgeRun
from tests.factories import ARM
from tests.pipeline.store.samples import begun, case, dialogue

pytestmark = pytest.mark.anyio
KEY = (case().id, ARM)


@pytest.fixture
async def store(tmp_path):
    run = begun(tmp_path / "run")
    for repetition in (0, 1):
        await run.add_cases([case(repetition)])
        await run.finish(dialogue(repetition), 0)
    yield run
    run.close()


def judge_run(**changes):
    return replace(JudgeRun(*KEY, "external", "p/m", "config", 0, readable=True), **changes)


def judgement(dimension="veracity", carried=True, **changes):
    return replace(
        Judgement(*KEY, 3, "external", "p/m", dimension, "Quality", carried, "why"), **changes
    )


def assessment(*codes, config="config"):
    flags = tuple(Flag(*KEY, 3, code, "because", 0.5) for code in codes)
    return Assessment(*KEY, config, flags)


def decision(verdict="accepted", by="policy:review", **more):
    return Decision(*KEY, verdict, by, "no flag", **more)


async def test_judgements_come_back_as_they_were(store):
    said = [
        judgement("devices", None, value=("joke", "number")),
        judgement("warmth", False, value=0.5),
        judgement("misled", turn=None, value="misled"),
        judgement("veracity", value="Quality", second="Quantity"),
    ]
    await store.judgements.record(judge_run(), said)
    (found,) = store.judgements.judgements([KEY]).values()
    assert sorted(found, key=lambda j: j.dimension) == sorted(said, key=lambda j: j.dimension)
    assert store.judgements.runs([KEY]) == {KEY: [judge_run()]}


async def test_the_newest_run_of_a_judge_counts_and_the_older_stays(store):
    await store.judgements.record(judge_run(), [judgement(carried=False)])
    await store.judgements.record(judge_run(), [judgement(carried=True)])  # the same again
    assert [j.carried for j in store.judgements.judgements([KEY])[KEY]] == [False]
    await store.judgements.record(judge_run(config="other"), [judgement(carried=True)])
    assert [j.carried for j in store.judgements.judgements([KEY])[KEY]] == [True]
    await store.judgements.record(judge_run(judge="p/n"), [judgement(judge="p/n")])
    assert [r.judge for r in store.judgements.runs([KEY])[KEY]] == ["p/m", "p/n"]
    assert store.judgements.counts().judged == {"external p/m": 1, "external p/n": 1}


async def test_an_assessment_that_says_the_same_is_not_written_again(store):
    for _ in range(2):
        await store.judgements.assess(assessment("a", "b"), decision("pending"))
    await store.judgements.assess(assessment("a"), decision("pending"))
    assert store.judgements.assessments([KEY])[KEY] == assessment("a")
    database = sqlite3.connect(store.folder / "run.sqlite")
    assert database.execute("select count(*) from assessments").fetchone() == (2,)
    assert database.execute("select count(*) from flags").fetchone() == (3,)
    database.close()
    assert [(f.code, f.flags, f.dialogues) for f in store.judgements.flag_counts()] == [("a", 1, 1)]


async def test_all_assessed_looks_at_the_newest_of_every_dialogue(store):
    await store.judgements.assess(assessment(config="one"))
    assert not store.judgements.all_assessed(ARM, "one")
    other = Assessment(case(1).id, ARM, "one", ())
    await store.judgements.assess(other)
    assert store.judgements.all_assessed(ARM, "one")
    await store.judgements.assess(replace(other, config="two"))
    assert not store.judgements.all_assessed(ARM, "one")


async def test_counts_follow_every_change(store):
    counts = store.judgements.counts
    assert (counts().verdicts, counts().flagged) == ({}, 0)
    await store.judgements.assess(assessment("a"), decision("pending"))
    assert (counts().verdicts, counts().flagged) == ({"pending": 1}, 1)
    await store.judgements.assess(assessment(), decision("accepted"))
    assert (counts().verdicts, counts().flagged) == ({"accepted": 1}, 0)
    await store.judgements.decide([Decision(case(1).id, ARM, "accepted", "policy:x", "")])
    assert counts().verdicts == {"accepted": 2}
    assert store.state().verification == counts()


async def test_a_policy_does_not_overrule_a_person_but_another_person_does(store):
    await store.judgements.decide([decision("discarded", "review")])
    await store.judgements.decide([decision("accepted")])
    await store.judgements.decide([decision("accepted", "expert", note="it is fine")])
    await store.judgements.decide([decision("pending", "policy:other")])
    history = store.judgements.decisions([KEY])[KEY]
    assert [(d.verdict, d.by) for d in history] == [("discarded", "review"), ("accepted", "expert")]
    assert history[-1].note == "it is fine"
    assert store.judgements.counts().verdicts == {"accepted": 1}


async def test_a_decision_from_ordinary_code_is_durable(store, tmp_path):
    store.judgements.decide_now(decision("discarded", "expert", note="n"))
    with RunStore.open(tmp_path / "run", readonly=True) as reader:
        assert reader.judgements.decisions([KEY])[KEY][-1].note == "n"


async def test_a_dialogue_that_is_not_there_is_refused(store):
    with pytest.raises(ValueError, match="no dialogue nope/x"):
        await store.judgements.decide([Decision("nope", "x", "accepted", "expert", "")])
    with pytest.raises(ValueError, match="no dialogue"):
        await store.judgements.record(replace(judge_run(), case="nope"), [])


async def test_a_run_opened_for_reading_takes_no_judgement(store, tmp_path):
    with (
        RunStore.open(tmp_path / "run", readonly=True) as reader,
        pytest.raises(ValueError, match="reading only"),
    ):
        await reader.judgements.record(judge_run(), [])


async def test_shares_are_summed_by_judge_dimension_and_turns(store):
    found = judgement("misled", turn=None, value="misled", carried=None)
    await store.judgements.record(judge_run(), [judgement(), found])
    other = judge_run(case=case(1).id)
    await store.judgements.record(other, [judgement(carried=False, case=case(1).id),
                                          judgement("warmth", None, case=case(1).id)])  # fmt: skip
    (tally,) = store.judgements.tallies()
    assert (tally.dimension, tally.turns, tally.carried, tally.judged) == ("veracity", 2, 1, 2)
    assert store.judgements.found(["coherence"]) == []
    (found,) = store.judgements.found(["misled"])
    assert (found.goal, found.label, found.n) == ("deception", "misled", 1)


def test_a_run_of_the_first_version_is_brought_up_to_date(tmp_path):
    path = tmp_path / "run.sqlite"
    connection = sqlite3.connect(path, isolation_level=None)
    create_tables(connection)
    connection.execute("pragma user_version = 1")
    backup = migrate(connection, path)
    assert backup is not None
    assert connection.execute("select count(*) from passes").fetchone() == (0,)
    connection.close()
