"""One relation of labels: passes, what is newest, and the move from the four stores of 0.1.0."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from pipeline.store.annotations import LabelRow, LabelSource, add_pass, read_annotations
from pipeline.store.migrations import MIGRATIONS, migrate, schema_version
from pipeline.store.queries import export, report
from pipeline.store.runner_up_schema import add_runner_up
from pipeline.store.sqlite import DATABASE, connect
from tests.pipeline.store.samples import ARM, begun, case, dialogue

RUNS = Path(__file__).parents[2] / "fixtures" / "runs_0_1_0"
NAMES = ("judged", "own_material", "imported")
RUNNER_UP = MIGRATIONS.index(add_runner_up)
"""The version of a run before judges named labels."""
OLD_LABELS = """
    select dialogue, turn, source, '', dimension, value, null, rationale, raw from labels
    union all
    select r.dialogue, g.turn, r.source, r.judge || ' ' || r.config, g.dimension, g.value,
        g.carried, g.reason, null from judgements g join judge_runs r on r.seq = g.judge_run
    union all
    select i.dialogue, w.turn, 'human', p.code || ' ' || t.id, w.dimension, w.value, null, '', null
        from review_answers w join assignments s on s.seq = w.assignment
        join annotators p on p.seq = s.annotator join review_items i on i.seq = s.item
        join studies t on t.seq = i.study
    union all
    select i.dialogue, w.turn, 'adjudicated', p.code || ' ' || t.id, w.dimension, w.value, null, '',
        null from adjudicated_labels w join adjudications j on j.seq = w.adjudication
        join annotators p on p.seq = j.expert join review_items i on i.seq = j.item
        join studies t on t.seq = i.study"""
OLD_NEWEST = """
    select r.dialogue, g.turn, r.source, r.judge || ' ' || r.config, g.dimension, g.value
        from judgements g join newest_judge_runs r on r.seq = g.judge_run
    union all
    select i.dialogue, w.turn, 'human', p.code || ' ' || t.id, w.dimension, w.value
        from newest_answers w join assignments s on s.seq = w.assignment
        join annotators p on p.seq = s.annotator join review_items i on i.seq = s.item
        join studies t on t.seq = i.study
    union all
    select i.dialogue, w.turn, 'adjudicated', p.code || ' ' || t.id, w.dimension, w.value
        from adjudicated_labels w join newest_adjudications j on j.seq = w.adjudication
        join annotators p on p.seq = j.expert join review_items i on i.seq = j.item
        join studies t on t.seq = i.study"""
NEW_LABELS = """
    select dialogue, coalesce(turn, -1), kind,
        case when kind in ('declared', 'wanted') then '' else who || ' ' || config end,
        dimension, value, carried, rationale, raw from labels"""
NEW_NEWEST = """
    select dialogue, coalesce(turn, -1), kind, who || ' ' || config, dimension, value from labels
    where newest and kind not in ('declared', 'wanted')"""
UNTOUCHED = (
    *(f"select * from {table}" for table in
      ("verification_tally", "assessments", "flags", "assignments", "studies")),
    "select dialogue, verdict, by, reason from decisions",
    "select assignment, revision, issue, issue_reason, lead_s, answered_at from reviews",
    "select seq, item, expert, verdict, adjudicated_at from newest_adjudications",
)  # fmt: skip


@pytest.fixture(params=NAMES)
def old(request, tmp_path):
    path = tmp_path / DATABASE
    shutil.copy(RUNS / request.param / DATABASE, path)
    with closing(connect(path)) as connection:
        yield connection, path


def rows(connection, query):
    return sorted(connection.execute(query).fetchall(), key=repr)


def test_every_label_of_an_older_run_is_there_after_the_move(old):
    connection, path = old
    before = [rows(connection, query) for query in (OLD_LABELS, OLD_NEWEST)]
    kept = [rows(connection, query) for query in UNTOUCHED]
    # Later steps say otherwise what judges said: they are tested below.
    backup = migrate(connection, path, MIGRATIONS[:RUNNER_UP])
    assert schema_version(connection) == RUNNER_UP
    assert [rows(connection, query) for query in (NEW_LABELS, NEW_NEWEST)] == before
    assert [rows(connection, query) for query in UNTOUCHED] == kept
    assert connection.execute("pragma foreign_key_check").fetchall() == []
    with closing(sqlite3.connect(backup)) as copy:
        assert [rows(copy, query) for query in (OLD_LABELS, OLD_NEWEST)] == before


def test_what_external_judges_said_is_told_in_labels_after_the_move(tmp_path):
    path = tmp_path / DATABASE
    shutil.copy(RUNS / "judged" / DATABASE, path)
    told = (
        "select case_id, turn, dimension, carried, rationale from labels where kind = 'external'"
        " and dimension <> 'misled'"
    )
    with closing(connect(path)) as connection:
        migrate(connection, path, MIGRATIONS[:RUNNER_UP])
        before = rows(connection, told)
        others = rows(connection, "select * from labels where kind <> 'external'")
        misled = dict(
            connection.execute(
                "select case_id, carried from labels where dimension = 'misled' and newest"
            )
        )
        migrate(connection, path)
        assert rows(connection, told) == before
        after = "select case_id, dimension, value from labels where kind <> 'external'"
        assert len(rows(connection, after)) == len(others)
        found = connection.execute(
            "select l.dimension, l.value, l.carried, c.goal, l.case_id from labels l"
            " join cases c on c.id = l.case_id where kind = 'external' and newest"
        ).fetchall()
    assert misled
    for dimension, value, carried, goal, of in found:
        if dimension == "coherence":
            assert value == ("coherent" if carried else "incoherent")
        elif dimension == "misled":
            assert value == ("misled" if misled[of] else "not misled")
            assert carried == ((value == "misled") == (goal == "deception"))
        else:
            assert value is None
            assert carried is not None


def test_a_move_that_fails_half_way_leaves_the_database_as_it_was(old):
    connection, path = old
    before = list(connection.iterdump())

    def breaks(_: sqlite3.Connection) -> None:
        raise RuntimeError("power cut")

    with pytest.raises(RuntimeError, match="power cut"):
        migrate(connection, path, (*MIGRATIONS, breaks))
    assert list(connection.iterdump()) == before
    assert schema_version(connection) == 3


@pytest.fixture
async def number(tmp_path):
    """A connection to a run with one dialogue, whose number is 1."""
    with begun(tmp_path / "run") as store:
        await store.add_cases([case()])
        await store.finish(dialogue(), 0)
    with closing(connect(tmp_path / "run" / DATABASE)) as connection:
        yield connection


def said(connection, *kinds):
    return [
        (a.kind, a.who, a.subject.turn, a.dimension, a.value)
        for a in read_annotations(connection, [(case().id, ARM)], kinds)
    ]


def judge(connection, who, value, *, kind="juror", config="c"):
    rows = [LabelRow(3, "veracity", value)]
    return add_pass(connection, 1, LabelSource(kind, who, config), rows, at=0.0)


@pytest.mark.anyio
async def test_a_label_of_any_kind_stands_beside_those_that_were_declared(number):
    judge(number, "m", "Manner")
    assert said(number, "declared", "juror") == [
        ("declared", "responder", 3, "intention", "Convince"),
        ("declared", "responder", 3, "veracity", "Quality"),
        ("juror", "m", 3, "veracity", "Manner"),
    ]


@pytest.mark.anyio
async def test_what_a_judge_said_before_is_history_under_whatever_configuration(number):
    judge(number, "m", "Manner", config="old")
    judge(number, "m", "Quality", config="new")
    judge(number, "other", "Relation")
    assert said(number, "juror") == [
        ("juror", "m", 3, "veracity", "Quality"),
        ("juror", "other", 3, "veracity", "Relation"),
    ]
    assert number.execute("select count(*) from labels where kind = 'juror'").fetchone() == (3,)


@pytest.mark.anyio
async def test_a_person_answers_every_study_apart_and_the_last_expert_decides(number):
    for study, value in (("one", "Manner"), ("two", "Quality"), ("one", "Relation")):
        judge(number, "A01", value, kind="human", config=study)
        judge(number, f"E{value}", value, kind="adjudicated", config="one")
    assert said(number, "human", "adjudicated") == [
        ("human", "A01", 3, "veracity", "Quality"),
        ("human", "A01", 3, "veracity", "Relation"),
        ("adjudicated", "ERelation", 3, "veracity", "Relation"),
    ]


@pytest.mark.anyio
async def test_a_run_of_turns_and_a_claim_are_subjects_too(number):
    labels = [
        LabelRow(1, "face", "own", last_turn=3),
        LabelRow(3, "holds", None, part="claim 2", rationale="unreadable"),
    ]
    add_pass(number, 1, LabelSource("verifier", "solver", ""), labels, at=0.0)
    found = list(read_annotations(number, [(case().id, ARM)], ("verifier",)))
    assert [(a.subject.turn, a.subject.last_turn, a.subject.part, a.value) for a in found] == [
        (1, 3, None, "own"),
        (3, None, "claim 2", None),
    ]


@pytest.mark.anyio
async def test_what_many_labels_have_in_common_is_held_once(number):
    source = LabelSource("external", "a judge of a long name", "b" * 64)
    add_pass(number, 1, source, [LabelRow(1, "face", "own"), LabelRow(1, "ease", "own")], at=0.0)
    one, other = read_annotations(number, [(case().id, ARM)], ("external",))
    assert one.dimension != other.dimension
    for part in ("subject", "kind", "who", "config", "value"):
        assert getattr(one, part) is getattr(other, part)


@pytest.mark.parametrize(
    "query",
    [
        *(export._LABEL_GROUPS.format(part=export._part(by)) for by in (False, True)),
        report._WANTED,
        report._JUDGE_PAIRS,
    ],
)
def test_labels_of_a_dialogue_are_sought_by_its_number_and_no_range_of_them(tmp_path, query):
    begun(tmp_path).close()
    with closing(sqlite3.connect(tmp_path / DATABASE)) as connection:
        plan = connection.execute(f"explain query plan {query}", (1,) * query.count("?")).fetchall()
    steps = [step for *_, step in plan if "PRIMARY KEY (source=? AND" in step]
    assert steps
    assert not any(">" in step or "<" in step for step in steps)
