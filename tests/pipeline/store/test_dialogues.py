from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.store.run_store import RunStore
from scenarios.case import make_case
from scenarios.dialogue import (
    Attempt,
    Candidate,
    Critique,
    Dialogue,
    Draft,
    TacticLabel,
    Trace,
    Turn,
)
from scenarios.errors import UsageError
from tests.factories import ARM
from tests.pipeline.store.samples import begun, case, dialogue

text = st.text(max_size=20)
number = st.floats(allow_nan=False, allow_infinity=False)
label = text | number | st.lists(text, max_size=3).map(tuple)
tactics = st.lists(st.builds(TacticLabel, text, label, text, st.none() | text), max_size=3).map(
    tuple
)
drafts = st.builds(Draft, text, label, tactics)
critiques = st.lists(st.builds(Critique, text, st.booleans(), text), max_size=2).map(tuple)
candidates = st.builds(
    Candidate, st.integers(0, 9), st.none() | drafts, st.none() | number, st.none() | text
)
traces = st.builds(
    Trace,
    text,
    st.lists(candidates, max_size=2).map(tuple),
    st.lists(st.builds(Attempt, drafts, critiques), max_size=2).map(tuple),
    st.integers(0, 3),
)
turns = st.builds(
    Turn,
    index=st.just(0),
    role=st.sampled_from(["initiator", "responder"]),
    text=text,
    kind=st.sampled_from(["opening", "improvised"]),
    wanted=st.lists(st.tuples(text, text), max_size=2).map(tuple),
    declared_goal=st.none() | label,
    tactic=tactics,
    trace=st.none() | traces,
)
cases = st.builds(
    make_case,
    scheme=text,
    scenario=text,
    scenario_fingerprint=text,
    fact=text,
    goal=text,
    turns=st.integers(1, 9),
    language=text,
    variation=st.dictionaries(text, text, max_size=2),
    repetition=st.integers(0, 2**40),
    seed=st.integers(0, 2**31),
)


def test_every_dialogue_comes_back_as_it_was(tmp_path):
    with begun(tmp_path / "run") as store:

        @settings(max_examples=20, deadline=None)
        @given(cases, st.lists(turns, max_size=4))
        def check(played, said):
            said = tuple(replace(turn, index=i) for i, turn in enumerate(said))
            original = Dialogue(played, ARM, said)

            async def save():
                await store.add_cases([played])
                if store.pending([played], ARM):
                    await store.finish(original, 0)
                    assert store.dialogue(f"{played.id}/{ARM}") == original

            asyncio.run(save())

        check()


@pytest.fixture
def store(tmp_path):
    with begun(tmp_path / "run", ARM, "arm-b") as store:
        yield store


@pytest.mark.anyio
async def test_pending_are_the_cases_without_an_outcome_in_the_order_asked(store):
    plan = [case(i) for i in range(5)]
    await store.add_cases(plan[:4])
    await store.finish(dialogue(1), 0)
    await store.fail(plan[2], ARM, "timeout", "no answer", 0)
    assert store.pending(plan[::-1], ARM) == [(plan[i], 0) for i in (4, 3, 0)]
    assert store.pending(plan, "arm-b") == [(c, 0) for c in plan]
    assert store.pending(plan, "unheard of") == [(c, 0) for c in plan]
    assert store.pending(plan, ARM, retry_failed=True) == [
        (plan[0], 0), (plan[2], 1), (plan[3], 0), (plan[4], 0)
    ]  # fmt: skip


@pytest.mark.anyio
async def test_a_retry_replaces_the_failure_and_keeps_its_reason(store):
    played = case()
    await store.add_cases([played])
    await store.fail(played, ARM, "timeout", "no answer", 0)
    await store.fail(played, ARM, "invalid", "no label", 1)
    assert store.state().failed == {"invalid": 1}
    assert store.pending([played], ARM, retry_failed=True) == [(played, 2)]
    await store.finish(dialogue(), 2)
    ending = store.reader.ending(played.id)
    assert (ending.status, ending.code, ending.epoch) == ("generated", None, 2)
    with closing(sqlite3.connect(store.folder / "run.sqlite")) as database:
        kept = database.execute("select code, reason from failures order by retry_epoch").fetchall()
    assert kept == [("timeout", "no answer"), ("invalid", "no label")]
    assert store.state().failed == {}
    assert store.state().generated == 1
    assert store.pending([played], ARM, retry_failed=True) == []


@pytest.mark.anyio
async def test_a_dialogue_is_never_overwritten(store):
    await store.add_cases([case()])
    await store.finish(dialogue(said="first"), 0)
    await store.finish(dialogue(said="second"), 1)
    await store.fail(case(), ARM, "timeout", "too late", 1)
    assert store.dialogue(case().id) == dialogue(said="first")
    assert store.state().failed == {}


@pytest.mark.anyio
async def test_an_unknown_case_or_arm_is_refused_and_the_others_are_stored(store):
    await store.add_cases([case()])
    results = await asyncio.gather(
        store.finish(dialogue(), 0),
        store.finish(dialogue(9), 0),
        store.finish(dialogue(arm="nobody"), 0),
        return_exceptions=True,
    )
    assert results[0] is None
    assert [type(result) for result in results[1:]] == [ValueError, ValueError]
    assert store.state().generated == 1


@pytest.mark.anyio
async def test_known_cases_and_arms_are_not_written_again(store):
    plan = [case(i) for i in range(3)]
    await store.add_cases(plan)
    with closing(sqlite3.connect(store.folder / "run.sqlite")) as spy:
        version = spy.execute("pragma data_version").fetchone()
        await store.add_cases(plan)
        store.add_arm(ARM, {})
        assert spy.execute("pragma data_version").fetchone() == version
        await store.add_cases([*plan, case(3)])
        assert spy.execute("pragma data_version").fetchone() != version
    assert store.state().planned == 4 * 2


@pytest.mark.anyio
async def test_dialogues_stream_in_the_order_of_cases_across_pages(store):
    plan = [case(i) for i in range(450)]
    await store.add_cases(plan)
    order = [*range(449, -1, -1)]
    await asyncio.gather(
        *(store.finish(dialogue(i), 0) for i in order if i != 7),
        *(store.finish(dialogue(i, arm="arm-b"), 0) for i in range(1, 151)),
        store.fail(plan[7], ARM, "timeout", "no answer", 0),
    )
    mine = list(store.reader.dialogues(arm=ARM))
    assert mine == [dialogue(i) for i in range(450) if i != 7]
    assert len(list(store.dialogues())) == 449 + 150
    bare = next(store.dialogues(traces=False))
    assert bare.turns[3].trace is None
    assert bare.turns[3].tactic == dialogue().turns[3].tactic
    words = next(store.dialogues(traces=False, labels=False))
    assert [turn.text for turn in words.turns] == [turn.text for turn in bare.turns]
    assert (words.turns[3].tactic, words.turns[3].wanted) == ((), ())
    (failed,) = store.reader.endings(status="failed")
    assert (failed.case, failed.arm, failed.code) == (plan[7], ARM, "timeout")
    assert sum(1 for _ in store.reader.endings()) == 450 + 150


@pytest.mark.anyio
async def test_only_dialogues_that_have_ended_since_are_read(store):
    assert store.reader.newest == 0
    await store.add_cases([case(i) for i in range(4)])
    await store.finish(dialogue(3), 0)
    before = store.reader.newest
    for repetition in (2, 0):
        await store.finish(dialogue(repetition), 0)
    since = [one.case.repetition for one in store.reader.dialogues(after=before)]
    assert since == [0, 2]
    assert list(store.reader.dialogues(after=store.reader.newest)) == []


@pytest.mark.anyio
async def test_a_dialogue_is_found_by_the_beginning_of_its_id(store):
    await store.add_cases([case(0), case(1)])
    await store.finish(dialogue(0), 0)
    await store.finish(dialogue(0, arm="arm-b"), 0)
    await store.fail(case(1), ARM, "timeout", "no answer", 0)
    assert store.dialogue(f"{case(0).id[:8]}/arm-b").arm == "arm-b"
    with pytest.raises(UsageError, match="fits several"):
        store.dialogue(case(0).id)
    with pytest.raises(UsageError, match="no dialogue"):
        store.dialogue("zzz")
    with pytest.raises(UsageError, match="no dialogue"):
        store.dialogue("")
    with pytest.raises(UsageError, match=r"failed \(timeout\): no answer"):
        store.dialogue(case(1).id)


@pytest.mark.anyio
async def test_the_beginning_of_an_id_is_found_without_reading_every_case(store):
    await store.add_cases([case(0), case(1)])
    await store.finish(dialogue(0), 0)
    asked = []
    store.reader._reader.set_trace_callback(asked.append)
    assert store.dialogue(case(0).id[:8]).case.id == case(0).id
    assert asked
    assert not [query for query in asked if "json_each(c.variation)" in query]


@pytest.mark.anyio
async def test_labels_can_be_queried_in_long_form(store):
    await store.add_cases([case()])
    await store.finish(dialogue(), 0)
    with closing(sqlite3.connect(store.folder / "run.sqlite")) as connection:
        rows = connection.execute("select turn, kind, dimension, value from labels").fetchall()
    assert sorted(rows) == [
        (3, "declared", "intention", "Convince"),
        (3, "declared", "veracity", "Quality"),
        (3, "wanted", "intention", "Convince"),
    ]


@pytest.mark.anyio
async def test_a_run_opened_for_reading_cannot_be_changed(tmp_path):
    begun(tmp_path / "run").close()
    with RunStore.open(tmp_path / "run", readonly=True) as store:
        for change in (
            store.add_cases([case()]),
            store.finish(dialogue(), 0),
            store.fail(case(), ARM, "x", "y", 0),
            store.calls.reserve(1.0, 1),
        ):
            with pytest.raises(ValueError, match="reading only"):
                await change
        with pytest.raises(ValueError, match="reading only"):
            store.set_state("running")
