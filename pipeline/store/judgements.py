"""Judgements, flags and decisions of a run: written in whole transactions, read page by page."""

from __future__ import annotations

import sqlite3
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import partial

import orjson

from pipeline.store.annotations import (
    OF_KEYS,
    Key,
    LabelRow,
    LabelSource,
    add_pass,
    as_json,
    read_annotations,
)
from pipeline.store.queries.judgements import (
    FlagCount,
    FoundCount,
    Tally,
    read_flag_counts,
    read_found,
    read_tallies,
)
from pipeline.store.queries.verdict_counts import VerdictCounts, read_verdict_counts
from pipeline.store.writer import Writer, required
from scenarios.annotations import AS_DECLARED, FOIL, FOILED, Annotation
from scenarios.verdicts import Assessment, Decision, Flag, Judgement, JudgeRun, Source, Trial

JUDGES: tuple[Source, ...] = ("self", "external")

_DIALOGUE = """
    select d.seq from dialogues d join cases c on c.seq = d.case_seq
        join arms a on a.seq = d.arm_seq
    where c.id = ? and a.id = ? and d.status = 'generated'"""
_RUNS = (
    "select c.id, a.id, r.kind, r.judge, r.config, r.epoch, r.readable"
    f" {OF_KEYS} join newest_judge_runs r on r.dialogue = d.seq order by j.key, r.seq"
)
_ASSESSED = (
    f"select c.id, a.id, s.seq, s.config {OF_KEYS}"
    " join newest_assessments s on s.dialogue = d.seq order by j.key"
)
_FLAGS = """
    select assessment, turn, code, reason, severity from flags
    where assessment in (select value from json_each(?)) order by assessment, position"""
_DECIDED = (
    "select c.id, a.id, e.verdict, e.by, e.reason, e.note"
    f" {OF_KEYS} join decisions e on e.dialogue = d.seq order by j.key, e.seq"
)
_NEWEST_RUN = """
    select config, epoch from newest_judge_runs where dialogue = ? and kind = ? and judge = ?"""
_JUDGED_OTHERWISE = """
    select count(distinct d.seq) from json_each(?) j
        join label_sources s on s.kind = json_extract(j.value, '$[1]')
            and s.who = json_extract(j.value, '$[2]') and s.config <> json_extract(j.value, '$[3]')
        join passes p on p.source = s.seq and p.newest
        join dialogues d on d.seq = p.dialogue
        join arms a on a.seq = d.arm_seq and a.id = json_extract(j.value, '$[0]')"""
_HAS_READ = """
    select exists (select 1 from newest_judge_runs where kind = ? and judge = ? and readable)"""
_NEWEST_DECISION = """
    select verdict, by, reason, note from decisions where dialogue = ? order by seq desc limit 1"""
_UNASSESSED = """
    select exists (
        select 1 from dialogues d join arms a on a.seq = d.arm_seq
            left join newest_assessments s on s.dialogue = d.seq
        where d.status = 'generated' and a.id = ? and (s.seq is null or s.config <> ?))"""
_TRIED = (
    "select c.id, a.id, s.who, s.config"
    f" {OF_KEYS} join passes p on p.dialogue = d.seq and p.newest"
    " join label_sources s on s.seq = p.source and s.kind = 'foil'"
)
_FOILED = (
    "select c.id, a.id, s.who, s.config, g.turn, x.id, g.value"
    f" {OF_KEYS} join passes p on p.dialogue = d.seq and p.newest"
    " join label_sources s on s.seq = p.source and s.kind = 'foil'"
    " join annotations g on g.source = s.seq and g.dialogue = d.seq and g.pass = p.seq"
    f" and g.part = '{FOILED}' join dimensions x on x.seq = g.dimension order by g.turn, g.position"
)
_STORE_TRACEBACK = "insert or replace into tracebacks values (?, 'verification', 0, ?)"
_FORGET_TRACEBACK = "delete from tracebacks where dialogue = ? and stage = 'verification'"


class JudgementLog:
    """What is thought of the dialogues of one run; nothing in it is ever taken back."""

    def __init__(self, reader: sqlite3.Connection, writer: Writer | None) -> None:
        """Read with ``reader``; without a writer the log is read-only."""
        self._reader = reader
        self._writer = writer

    async def record(self, run: JudgeRun, judgements: Sequence[Judgement]) -> None:
        """Store what one judge says about one dialogue; durable on return.

        Nothing is written where the judge's newest run has the same configuration and epoch.

        Raises:
            ValueError: there is no such dialogue.
        """
        rows = [
            LabelRow(j.turn, j.dimension, j.value, j.reason, j.carried, second=j.second)
            for j in judgements
        ]
        now = time.time()

        def write(connection: sqlite3.Connection) -> None:
            dialogue = _dialogue(connection, run.case, run.arm)
            newest = connection.execute(_NEWEST_RUN, (dialogue, run.source, run.judge)).fetchone()
            if newest == (run.config, run.epoch):
                return
            source = LabelSource(run.source, run.judge, run.config)
            add_pass(
                connection, dialogue, source, rows, at=now, epoch=run.epoch, readable=run.readable
            )

        await required(self._writer).post(write)

    async def record_trials(
        self, key: Key, judge: str, config: str, trials: Sequence[Trial]
    ) -> None:
        """Store which labels of a dialogue a judge accepts that was shown them; durable on return.

        Args:
            key: (case, arm) of the dialogue.
            judge: who was shown them.
            config: of the judge, and of what it was shown.
            trials: label by label.

        Raises:
            ValueError: there is no such dialogue.
        """
        rows = [
            LabelRow(
                t.turn, t.dimension, t.value, carried=t.accepted,
                part=FOILED if t.foil else AS_DECLARED,
            )
            for t in trials
        ]  # fmt: skip
        now = time.time()

        def write(connection: sqlite3.Connection) -> None:
            source = LabelSource(FOIL, judge, config)
            dialogue = _dialogue(connection, *key)
            readable = all(trial.accepted is not None for trial in trials)
            add_pass(connection, dialogue, source, rows, at=now, readable=readable)

        await required(self._writer).post(write)

    def tried(self, keys: Iterable[Key]) -> dict[Key, set[tuple[str, str]]]:
        """Return (judge, configuration) of the newest trials with foils, by dialogue."""
        found: defaultdict[Key, set[tuple[str, str]]] = defaultdict(set)
        for case, arm, judge, config in self._reader.execute(_TRIED, (as_json(keys),)):
            found[case, arm].add((judge, config))
        return found

    def foiled(
        self, keys: Iterable[Key]
    ) -> dict[Key, dict[tuple[str, str], list[tuple[int, str, object]]]]:
        """Return the wrong labels of those trials, by dialogue, and by judge and configuration.

        Each is (turn, dimension, label), in the order in which they were shown.
        """
        found: dict[Key, dict[tuple[str, str], list[tuple[int, str, object]]]] = {}
        for case, arm, judge, config, *foil in self._reader.execute(_FOILED, (as_json(keys),)):
            by_judge = found.setdefault((case, arm), {})
            by_judge.setdefault((judge, config), []).append((foil[0], foil[1], foil[2]))
        return found

    async def assess(self, assessment: Assessment, decision: Decision | None = None) -> None:
        """Store the flags of a dialogue and what is decided on them, in one transaction.

        Nothing is written where the newest assessment says the same, or the newest decision; a
        policy never overrules a person.

        Raises:
            ValueError: there is no such dialogue.
        """

        def write(connection: sqlite3.Connection) -> None:
            dialogue = _dialogue(connection, assessment.case, assessment.arm)
            _store_assessment(connection, dialogue, assessment)
            connection.execute(_FORGET_TRACEBACK, (dialogue,))
            if decision is not None:
                store_decision(connection, dialogue, decision)

        await required(self._writer).post(write)

    async def fail(self, case: str, arm: str, traceback: str) -> None:
        """Store where judging a dialogue raised an exception, until it is assessed.

        Raises:
            ValueError: there is no such dialogue.
        """

        def write(connection: sqlite3.Connection) -> None:
            connection.execute(_STORE_TRACEBACK, (_dialogue(connection, case, arm), traceback))

        await required(self._writer).post(write)

    async def decide(self, decisions: Sequence[Decision]) -> None:
        """Store decisions in one transaction; see :meth:`assess` for what is left out.

        Raises:
            ValueError: there is no such dialogue.
        """
        if decisions:
            await required(self._writer).post(partial(_store_decisions, decisions=decisions))

    def decide_now(self, *decisions: Decision) -> None:
        """Store decisions from ordinary code in one transaction; durable on return."""
        if decisions:
            required(self._writer).run(partial(_store_decisions, decisions=decisions))

    # Reading; every method takes some hundreds of keys at once

    def runs(self, keys: Iterable[Key]) -> dict[Key, list[JudgeRun]]:
        """Return the newest run of every judge, by dialogue."""
        found: defaultdict[Key, list[JudgeRun]] = defaultdict(list)
        rows = self._reader.execute(_RUNS, (as_json(keys),))
        for case, arm, source, judge, config, epoch, readable in rows:
            run = JudgeRun(case, arm, source, judge, config, epoch, bool(readable))
            found[case, arm].append(run)
        return found

    def judgements(self, keys: Iterable[Key]) -> dict[Key, list[Judgement]]:
        """Return what every judge said when it was last asked, by dialogue."""
        found: defaultdict[Key, list[Judgement]] = defaultdict(list)
        for annotation in read_annotations(self._reader, keys, JUDGES):
            judgement = _judgement(annotation)
            found[judgement.case, judgement.arm].append(judgement)
        return found

    def assessments(self, keys: Iterable[Key]) -> dict[Key, Assessment]:
        """Return the newest assessment by dialogue; those not assessed yet are left out."""
        rows = self._reader.execute(_ASSESSED, (as_json(keys),)).fetchall()
        numbers = orjson.dumps([seq for _, _, seq, _ in rows]).decode()
        flags: defaultdict[int, list[tuple[int | None, str, str, float | None]]] = defaultdict(list)
        for assessment, *flag in self._reader.execute(_FLAGS, (numbers,)):
            flags[assessment].append((flag[0], flag[1], flag[2], flag[3]))
        return {
            (case, arm): Assessment(
                case, arm, config, tuple(Flag(case, arm, *flag) for flag in flags[seq])
            )
            for case, arm, seq, config in rows
        }

    def decisions(self, keys: Iterable[Key]) -> dict[Key, list[Decision]]:
        """Return every decision, oldest first, by dialogue; the last one counts."""
        found: defaultdict[Key, list[Decision]] = defaultdict(list)
        for row in self._reader.execute(_DECIDED, (as_json(keys),)):
            decision = Decision(*row)
            found[decision.case, decision.arm].append(decision)
        return found

    def has_read(self, source: str, judge: str) -> bool:
        """Whether any dialogue was judged in full by this judge when it was last asked."""
        row = self._reader.execute(_HAS_READ, (source, judge)).fetchone()
        return bool(row[0])

    def judged_otherwise(self, seats: Iterable[tuple[str, Source, str, str]]) -> int:
        """Return how many dialogues a judge judged last in another configuration than it has now.

        Args:
            seats: the id of an arm, and source, name and configuration of a judge of its dialogues.
        """
        listed = orjson.dumps([list(seat) for seat in seats]).decode()
        row = self._reader.execute(_JUDGED_OTHERWISE, (listed,)).fetchone()
        return int(row[0])

    def all_assessed(self, arm: str, config: str) -> bool:
        """Whether the newest assessment of every dialogue of an arm has this configuration."""
        row = self._reader.execute(_UNASSESSED, (arm, config)).fetchone()
        return not row[0]

    def counts(self) -> VerdictCounts:
        """Return how far verification is, in a time that does not grow with the run."""
        return read_verdict_counts(self._reader)

    def tallies(self) -> list[Tally]:
        """Return how often judges agree, by judge, dimension and number of turns."""
        return read_tallies(self._reader)

    def found(self, dimensions: Sequence[str]) -> list[FoundCount]:
        """Return what external judges name of some dimensions, by judge and goal."""
        return read_found(self._reader, dimensions)

    def flag_counts(self) -> list[FlagCount]:
        """Return how often each flag was raised, the commonest first."""
        return read_flag_counts(self._reader)


def _store_assessment(
    connection: sqlite3.Connection, dialogue: int, assessment: Assessment
) -> None:
    """Add an assessment unless the newest one says the same."""
    flags = [(f.turn, f.code, f.reason, f.severity) for f in assessment.flags]
    newest = connection.execute(
        "select seq, config from assessments where dialogue = ? order by seq desc limit 1",
        (dialogue,),
    ).fetchone()
    if newest is not None and newest[1] == assessment.config:
        before = connection.execute(
            "select turn, code, reason, severity from flags where assessment = ? order by position",
            (newest[0],),
        ).fetchall()
        if before == flags:
            return
    added = connection.execute(
        "insert into assessments (dialogue, config, flagged, assessed_at) values (?, ?, ?, ?)",
        (dialogue, assessment.config, bool(flags), time.time()),
    )
    connection.executemany(
        "insert into flags values (?, ?, ?, ?, ?, ?)",
        [(added.lastrowid, position, *flag) for position, flag in enumerate(flags)],
    )


def _store_decisions(connection: sqlite3.Connection, decisions: Iterable[Decision]) -> None:
    for decision in decisions:
        store_decision(connection, _dialogue(connection, decision.case, decision.arm), decision)


def store_decision(connection: sqlite3.Connection, dialogue: int, decision: Decision) -> None:
    """Add a decision unless the newest one is the same, or a person's that a policy must leave."""
    row = connection.execute(_NEWEST_DECISION, (dialogue,)).fetchone()
    if row is not None:
        newest = Decision(decision.case, decision.arm, *row)
        if newest == decision or (decision.by_policy and not newest.by_policy):
            return
    connection.execute(
        "insert into decisions (dialogue, verdict, by, reason, note, decided_at)"
        " values (?, ?, ?, ?, ?, ?)",
        (
            dialogue, decision.verdict, decision.by, decision.reason, decision.note, time.time(),
        ),
    )  # fmt: skip


def _dialogue(connection: sqlite3.Connection, case: str, arm: str) -> int:
    row: tuple[int] | None = connection.execute(_DIALOGUE, (case, arm)).fetchone()
    if row is None:
        raise ValueError(f"there is no dialogue {case}/{arm} in this run")
    return row[0]


def _judgement(annotation: Annotation) -> Judgement:
    subject = annotation.subject
    return Judgement(
        case=subject.case,
        arm=subject.arm,
        turn=subject.turn,
        source="self" if annotation.kind == "self" else "external",
        judge=annotation.who,
        dimension=annotation.dimension,
        value=annotation.value,
        carried=annotation.carried,
        reason=annotation.rationale,
        second=annotation.second,
    )
