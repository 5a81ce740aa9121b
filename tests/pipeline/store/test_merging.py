"""Putting runs together, row by row."""

from __future__ import annotations

import asyncio
import re
import shutil
import sqlite3
import tempfile
from collections import Counter
from contextlib import closing
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

import pipeline.store.merging
from pipeline.store.call_rows import CallReport, add_lost, lost_row
from pipeline.store.checking import check_database
from pipeline.store.excess import Excess
from pipeline.store.merging import merge
from pipeline.store.merging.merge import Merged, merge_databases
from pipeline.store.recipe_file import write_recipe
from pipeline.store.run_store import RunStore
from pipeline.store.sqlite import DATABASE, connect_readonly
from pipeline.store.texts import parted
from scenarios.dialogue import Dialogue
from scenarios.run_configuration import RunConfiguration
from scenarios.verdicts import Assessment, Decision, Flag, JudgeRun
from tests.factories import (
    ARM,
    make_case,
    make_choice_row,
    make_dialogue,
    make_request_row,
    make_run,
)

NOT_COPIED = {
    *("totals", "tally", "verification_tally", "queue_tally"),
    *("answering_models", "evaluated", "answers"),
}
"""Counted by triggers, or of evaluations alone."""
PACKAGE = Path(pipeline.store.merging.__file__).parent

says = st.sampled_from([None, "failed", "It ran like a clock.", "It never ran."])
holdings = st.lists(st.lists(says, min_size=4, max_size=4), min_size=1, max_size=3)


async def judged(store: RunStore, dialogue: Dialogue, number: int) -> None:
    """Store a call, a judge, a flag and a decision beside a dialogue."""
    case = dialogue.case
    row = make_request_row(
        case=case.id, sent_at=1e9 + 100 * case.repetition + len(dialogue.turns[3].text)
    )
    texts = (("system", "# Rules\nall\n# Scene\ncar\n"), ("user", f"Question {case.repetition}?"))
    await store.calls.record(
        CallReport(f"{case.id}".encode(), parted(texts), [row], [make_choice_row()])
    )
    await store.judgements.record(JudgeRun(case.id, ARM, "self", "p/m", "j1", 0, True), [])
    flags = (Flag(case.id, ARM, 3, "self_veracity", "differs", None),)
    await store.judgements.assess(
        Assessment(case.id, ARM, "j1", flags),
        Decision(case.id, ARM, "pending", "policy:review", "flagged", ""),
    )


def run_of(folder: Path, held: list[str | None]) -> Path:
    cases = [make_case(repetition=number) for number in range(len(held))]
    ended = [(case, what) for case, what in zip(cases, held, strict=True) if what is not None]
    return make_run(
        folder,
        [make_dialogue("Why?", w, case=case) for case, w in ended if w != "failed"],
        arms={ARM: {"strategy": "direct", "models": {}, "settings": {}}},
        failed=[(case, ARM) for case, what in ended if what == "failed"],
        each=judged,
    )


def merged(folder: Path, sources: list[Path]) -> Merged:
    folder.mkdir()
    planned = [make_case(repetition=number).id for number in (3, 2, 1, 0)]
    result = merge_databases(sources, folder, "merged", RunConfiguration(), planned)
    write_recipe(folder, {})
    return result


def rows(folder: Path, query: str) -> list[tuple[object, ...]]:
    with closing(connect_readonly(folder / DATABASE)) as connection:
        return connection.execute(query).fetchall()


def counts(folder: Path) -> dict[str, int]:
    tables = [name for (name,) in rows(folder, "select name from sqlite_schema where type='table'")]
    return {name: int(str(rows(folder, f"select count(*) from {name}")[0][0])) for name in tables}


@settings(max_examples=5)
@given(holdings=holdings)
def test_every_case_is_there_once_and_the_first_run_that_generated_it_has_it(holdings):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sources = [run_of(folder / str(i), held) for i, held in enumerate(holdings)]
        result = merged(folder / "m", sources)
        wanted = {}
        for number in range(4):
            said = [held[number] for held in holdings if held[number] is not None]
            told = [what for what in said if what != "failed"]
            if said:
                wanted[number] = told[0] if told else "failed"
        found = rows(
            folder / "m",
            "select c.repetition, coalesce(t.text, 'failed') from dialogues d"
            " join cases c on c.seq = d.case_seq left join turns t on t.dialogue = d.seq and t.turn = 3",
        )
        assert sorted(found) == sorted(wanted.items())
        generated = [
            (number, held[number])
            for held in holdings
            for number in range(4)
            if held[number] not in (None, "failed")
        ]
        texts = Counter(number for number, _ in set(generated))
        repeated = len(generated) - len({number for number, _ in generated})
        assert result.conflicts == sum(1 for number, text in generated if text != wanted[number])
        assert result.conflicts + result.alike <= repeated + len(texts)
        assert check_database(folder / "m") == []
        again = merged(folder / "again", [folder / "m", *sources])
        assert again.conflicts == result.conflicts
        before, after = counts(folder / "m"), counts(folder / "again")
        # a tally keeps its row when it comes down to nothing
        assert after | {"tally": 0} == before | {"tally": 0}


def test_a_merged_run_has_every_row_of_its_only_source_in_every_table(tmp_path):
    source = run_of(tmp_path / "a", ["One.", "failed", "Two.", "Three."])
    merged(tmp_path / "m", [source])
    assert counts(tmp_path / "m") == counts(source)
    prompts = "select case_id, sent_at from requests order by 1"
    assert rows(tmp_path / "m", prompts) == rows(source, prompts)
    with (
        RunStore.open(tmp_path / "m", readonly=True) as new,
        RunStore.open(source, readonly=True) as old,
    ):
        assert set(new.dialogues()) == set(old.dialogues())
        for dialogue in old.dialogues():
            key = (dialogue.case.id, dialogue.arm)
            assert list(new.calls.of_case(key[0])) == list(old.calls.of_case(key[0]))
            assert new.judgements.decisions([key]) == old.judgements.decisions([key])
            assert new.judgements.assessments([key]) == old.judgements.assessments([key])
        assert new.state().cost_usd == old.state().cost_usd


def test_cases_come_in_the_order_of_the_plan(tmp_path):
    sources = [
        run_of(tmp_path / "a", ["One.", None, "Two.", None]),
        run_of(tmp_path / "b", [None, "Three.", None, "Four."]),
    ]
    merged(tmp_path / "m", sources)
    assert rows(tmp_path / "m", "select repetition from cases order by seq") == [
        (3,),
        (2,),
        (1,),
        (0,),
    ]


def test_a_failure_gives_way_to_a_dialogue_and_stays_as_history(tmp_path):
    sources = [
        run_of(tmp_path / "a", ["failed", None, None, None]),
        run_of(tmp_path / "b", ["It ran.", None, None, None]),
    ]
    merged(tmp_path / "m", sources)
    assert rows(tmp_path / "m", "select status from dialogues") == [("generated",)]
    assert rows(tmp_path / "m", "select code from failures") == [("timeout",)]
    assert check_database(tmp_path / "m") == []


def test_of_decisions_about_one_dialogue_the_latest_counts_whichever_run_is_first(tmp_path):
    older = run_of(tmp_path / "a", ["It ran.", None, None, None])
    newer = run_of(tmp_path / "b", ["It ran.", None, None, None])
    decide = "update decisions set verdict = 'accepted', \"by\" = 'expert', decided_at = 4e9"
    with closing(sqlite3.connect(newer / DATABASE)) as connection, connection:
        connection.execute(decide)
        connection.execute("update verification_tally set name = 'accepted' where kind = 'verdict'")
    for number, order in enumerate(([older, newer], [newer, older])):
        folder = tmp_path / f"m{number}"
        merged(folder, order)
        assert rows(folder, "select verdict from newest_decisions") == [("accepted",)]
        assert rows(folder, "select count(*) from newest_judge_runs") == [(1,)]
        assert check_database(folder) == []


def with_lost(folder: Path, times: list[float]) -> Path:
    """Return a run of which requests were in flight, at these times, when its processes died."""
    run = run_of(folder, ["One.", None, None, None])
    with closing(sqlite3.connect(run / DATABASE)) as connection, connection:
        add_lost(connection, [lost_row(sent_at=at, usd=0.5, tokens=9) for at in times])
    return run


def test_requests_that_were_lost_are_counted_once_and_none_for_another(tmp_path):
    one = with_lost(tmp_path / "one", [1.0, 2.0, 2.0])
    other = with_lost(tmp_path / "other", [2.0, 3.0])
    merged(tmp_path / "m", [one, other, one])
    lost = "select sent_at, charged_usd from requests where case_id = '' order by 1"
    assert rows(tmp_path / "m", lost) == [(1.0, 0.5), (2.0, 0.5), (2.0, 0.5), (3.0, 0.5)]
    assert check_database(tmp_path / "m") == []


def test_a_merge_takes_as_long_as_there_are_lost_requests(tmp_path, monkeypatch):
    create, steps = merge._created, Counter()

    def steps_with(lost):
        def counting(path):
            connection = create(path)
            connection.set_progress_handler(lambda: steps.update([lost]), 1000)
            return connection

        monkeypatch.setattr(merge, "_created", counting)
        halves = [float(i) for i in range(lost)], [float(-i) for i in range(lost)]
        sources = [with_lost(tmp_path / f"{i}-{lost}", half) for i, half in enumerate(halves)]
        merged(tmp_path / f"m-{lost}", sources)
        return steps[lost]

    assert steps_with(2_000) < 2.5 * steps_with(1_000)


def test_sources_are_only_read(tmp_path):
    source = run_of(tmp_path / "a", ["One.", "failed", "Two.", None])
    before = (source / DATABASE).read_bytes()
    merged(tmp_path / "m", [source])
    assert (source / DATABASE).read_bytes() == before


def test_what_was_reserved_by_a_process_that_died_is_still_reserved(tmp_path):
    source = run_of(tmp_path / "a", ["One.", None, None, None])
    with closing(sqlite3.connect(source / DATABASE)) as connection, connection:
        connection.execute("insert into reservations (usd, tokens, reserved_at) values (0.5, 9, 1)")
    merged(tmp_path / "m", [source])
    with (
        RunStore.open(tmp_path / "m", readonly=True) as store,
        RunStore.open(source, readonly=True) as old,
    ):
        assert store.spent() == old.spent()
        assert store.spent()[0] > 0.5


def test_the_merge_knows_every_table_of_a_run(tmp_path):
    """A new table has to be copied, or named as one that is not."""
    source = "\n".join(path.read_text() for path in PACKAGE.glob("*.py"))
    run = run_of(tmp_path / "a", ["One.", None, None, None])
    tables = {name for name in counts(run) if not name.startswith("sqlite_")}
    forgotten = {t for t in tables - NOT_COPIED if not re.search(rf'"{t}"|main\.{t}\b', source)}
    assert forgotten == set()


def test_a_policy_does_not_overrule_a_person_of_another_copy(tmp_path):
    source = run_of(tmp_path / "a", ["One.", None, None, None])
    copy = tmp_path / "b"
    shutil.copytree(source, copy)
    case = make_case(repetition=0).id
    with RunStore.open(source) as store:
        store.judgements.decide_now(Decision(case, ARM, "discarded", "expert", "no", ""))
    with RunStore.open(copy) as store:
        store.judgements.decide_now(Decision(case, ARM, "accepted", "policy:review", "fine", ""))
    for number, order in enumerate(([source, copy], [copy, source])):
        folder = tmp_path / f"m{number}"
        merged(folder, order)
        with RunStore.open(folder, readonly=True) as store:
            (said,) = store.judgements.decisions([(case, ARM)]).values()
            assert [one.verdict for one in said] == ["pending", "discarded"]
            assert store.state().verification.verdicts == {"discarded": 1}
        assert check_database(folder) == []


def test_of_two_failures_the_one_after_more_tries_counts(tmp_path):
    """Else the tries to come are those whose answers lie in the run, and fail as they did."""
    source = run_of(tmp_path / "a", ["failed", None, None, None])
    copy = tmp_path / "b"
    shutil.copytree(source, copy)
    case = make_case(repetition=0)
    with RunStore.open(copy) as store:
        for epoch in (1, 2):
            asyncio.run(store.fail(case, ARM, "refusal", f"try {epoch}", epoch))
    for number, order in enumerate(([source, copy], [copy, source])):
        folder = tmp_path / f"m{number}"
        merged(folder, order)
        with RunStore.open(folder, readonly=True) as store:
            assert store.pending([case], ARM, retry_failed=True) == [(case, 3)]
            assert store.state().failed == {"refusal": 1}
        assert rows(folder, "select retry_epoch from failures order by 1") == [(0,), (1,)]
        assert check_database(folder) == []


def test_of_what_endpoints_count_too_much_the_larger_holds_for_the_merged_run(tmp_path):
    one, other = ("compatible", "http://a/v1", "m"), ("openai", None, "n")
    known = [{one: Excess(7, 1.0)}, {}, {one: Excess(3, 2.5), other: Excess(0, 4.0)}]
    sources = [run_of(tmp_path / str(i), ["It ran.", None]) for i in range(len(known))]
    for source, excess in zip(sources, known, strict=True):
        with RunStore.open(source) as store:
            store.calls.keep_excess(excess)
    merged(tmp_path / "m", sources)
    with RunStore.open(tmp_path / "m", readonly=True) as store:
        assert store.calls.excess() == {one: Excess(7, 2.5), other: Excess(0, 4.0)}
