"""Version 2 of the tables of a run: what judges said, what was flagged, what was decided.

Nothing is overwritten. The newest run of a judge, the newest assessment and the newest decision of
a dialogue count; what was before stays as history. The tallies are kept exact by triggers.
"""

from __future__ import annotations

import sqlite3

_TABLES = (
    """create table judge_runs (
        seq integer primary key,
        dialogue integer not null references dialogues(seq),
        source text not null check (source in ('self', 'external')),
        judge text not null, config text not null, epoch integer not null,
        readable integer not null check (readable in (0, 1)), judged_at real not null)
        strict""",
    "create index judge_runs_dialogue on judge_runs(dialogue, source, judge, seq)",
    """create table judgements (
        judge_run integer not null references judge_runs(seq),
        turn integer not null, dimension text not null,
        value any, carried integer check (carried in (0, 1)), reason text not null,
        primary key (judge_run, turn, dimension)) strict, without rowid""",
    """create table assessments (
        seq integer primary key,
        dialogue integer not null references dialogues(seq),
        config text not null, flagged integer not null check (flagged in (0, 1)),
        assessed_at real not null) strict""",
    "create index assessments_dialogue on assessments(dialogue, seq)",
    """create table flags (
        assessment integer not null references assessments(seq), position integer not null,
        turn integer, code text not null, reason text not null, severity real,
        primary key (assessment, position)) strict, without rowid""",
    """create table decisions (
        seq integer primary key,
        dialogue integer not null references dialogues(seq),
        verdict text not null check (verdict in ('accepted', 'discarded', 'pending')),
        by text not null, reason text not null, note text not null, decided_at real not null)
        strict""",
    "create index decisions_dialogue on decisions(dialogue, seq)",
)

_NEWEST = (
    """create view newest_judge_runs as
        select * from judge_runs r where seq = (
            select max(seq) from judge_runs o
            where o.dialogue = r.dialogue and o.source = r.source and o.judge = r.judge)""",
    """create view newest_assessments as
        select * from assessments a
        where seq = (select max(seq) from assessments o where o.dialogue = a.dialogue)""",
    """create view newest_decisions as
        select * from decisions d
        where seq = (select max(seq) from decisions o where o.dialogue = d.dialogue)""",
)

_COUNTS = (
    """create table verification_tally (
        kind text not null, name text not null, n integer not null,
        primary key (kind, name)) strict, without rowid""",
    """create trigger judge_runs_counted after insert on judge_runs
        when not exists (
            select 1 from judge_runs where dialogue = new.dialogue and source = new.source
                and judge = new.judge and seq <> new.seq)
        begin
            insert into verification_tally values ('judged', new.source || ' ' || new.judge, 1)
                on conflict do update set n = n + 1;
        end""",
    """create trigger assessments_counted after insert on assessments begin
        update verification_tally set n = n - coalesce((
            select flagged from assessments where dialogue = new.dialogue and seq < new.seq
            order by seq desc limit 1), 0) where kind = 'flagged' and name = '';
        insert into verification_tally values ('flagged', '', new.flagged)
            on conflict do update set n = n + new.flagged; end""",
    """create trigger decisions_counted after insert on decisions begin
        update verification_tally set n = n - 1 where kind = 'verdict' and name = (
            select verdict from decisions where dialogue = new.dialogue and seq < new.seq
            order by seq desc limit 1);
        insert into verification_tally values ('verdict', new.verdict, 1)
            on conflict do update set n = n + 1; end""",
)


def add_judgements(connection: sqlite3.Connection) -> None:
    """Lead from version 1 to 2, inside the caller's transaction."""
    for statement in _TABLES + _NEWEST + _COUNTS:
        connection.execute(statement)
