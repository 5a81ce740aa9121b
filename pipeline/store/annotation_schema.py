"""One relation for every label: declared, wanted, judged, given by people and decided on.

A label has a source (kind, who, configuration) and belongs to a pass: one source, once, through one
dialogue. Declared and wanted labels come with the dialogue; their pass is 0. Nothing is overwritten:
a new pass makes the earlier one of the same source history (``newest`` is 0).

The key begins with the source, so that the labels of one kind lie together: an export that reads
declared labels touches no page of what judges wrote. A label's ``value`` keeps its kind: TEXT is a
label, REAL a number, BLOB the JSON array of several labels. Turn -1 is the dialogue as a whole.
"""

from __future__ import annotations

import sqlite3

DECLARED_SOURCE, WANTED_SOURCE = 1, 2
"""Numbers of the two sources that every run has."""

_TABLES = (
    "create table dimensions (seq integer primary key, id text not null unique) strict",
    """create table label_sources (
        seq integer primary key, kind text not null, who text not null, config text not null,
        unique (kind, who, config)) strict""",
    """insert into label_sources values
        (1, 'declared', 'responder', ''),
        (2, 'wanted', 'design', '')""",
    """create table passes (
        seq integer primary key,
        dialogue integer not null references dialogues(seq),
        source integer not null references label_sources(seq),
        epoch integer not null, readable integer not null check (readable in (0, 1)),
        newest integer not null check (newest in (0, 1)), made_at real not null) strict""",
    "create index passes_dialogue on passes(dialogue, source)",
    """create table annotations (
        source integer not null references label_sources(seq),
        dialogue integer not null references dialogues(seq),
        turn integer not null, pass integer not null, position integer not null,
        dimension integer not null references dimensions(seq),
        value any, carried integer check (carried in (0, 1)), rationale text not null, raw text,
        last_turn integer, part text,
        primary key (source, dialogue, turn, pass, position)) strict, without rowid""",
)

# Passes keep the numbers of the judge runs they were; those of people come after them.
_COPIED = (
    """insert into dimensions (id)
        select dimension from labels union select dimension from judgements
        union select dimension from review_answers union select dimension from adjudicated_labels""",
    """insert into label_sources (kind, who, config)
        select distinct source, judge, config from judge_runs order by 1 desc, 2, 3""",
    """insert into label_sources (kind, who, config)
        select distinct 'human', p.code, t.id from review_answers w
            join assignments g on g.seq = w.assignment join annotators p on p.seq = g.annotator
            join review_items i on i.seq = g.item join studies t on t.seq = i.study
        union select distinct 'adjudicated', p.code, t.id from adjudications j
            join annotators p on p.seq = j.expert join review_items i on i.seq = j.item
            join studies t on t.seq = i.study""",
    """insert into annotations
        select case l.source when 'declared' then 1 else 2 end, l.dialogue, l.turn, 0, l.position,
            x.seq, l.value, null, coalesce(l.rationale, ''), l.raw, null, null
        from labels l join dimensions x on x.id = l.dimension
        where l.source in ('declared', 'wanted') order by l.source, l.dialogue, l.turn, l.position""",
    """insert into passes
        select r.seq, r.dialogue, s.seq, r.epoch, r.readable, r.seq = (
                select max(o.seq) from judge_runs o where o.dialogue = r.dialogue
                    and o.source = r.source and o.judge = r.judge), r.judged_at
        from judge_runs r join label_sources s
            on s.kind = r.source and s.who = r.judge and s.config = r.config""",
    """insert into annotations
        select p.source, p.dialogue, g.turn, p.seq,
            row_number() over (partition by p.seq, g.turn order by g.dimension) - 1,
            x.seq, g.value, g.carried, g.reason, null, null, null
        from passes p join judgements g on g.judge_run = p.seq
            join dimensions x on x.id = g.dimension order by 1, 2, 3, 4""",
    """create temp table answer_passes as
        select (select coalesce(max(seq), 0) from passes)
                + row_number() over (order by w.assignment, w.revision) as pass,
            w.assignment, w.revision, i.dialogue, s.seq as source,
            coalesce(v.answered_at, g.labelled_at, g.opened_at) as made_at
        from (select distinct assignment, revision from review_answers) w
            join assignments g on g.seq = w.assignment join annotators p on p.seq = g.annotator
            join review_items i on i.seq = g.item join studies t on t.seq = i.study
            join label_sources s on s.kind = 'human' and s.who = p.code and s.config = t.id
            left join reviews v on v.assignment = w.assignment and v.revision = w.revision""",
    """insert into passes
        select w.pass, w.dialogue, w.source, 0, 1, w.revision = (
            select max(o.revision) from answer_passes o where o.assignment = w.assignment), w.made_at
        from answer_passes w""",
    """insert into annotations
        select w.source, w.dialogue, a.turn, w.pass,
            row_number() over (partition by w.pass, a.turn order by a.dimension) - 1,
            x.seq, a.value, null, '', null, null, null
        from answer_passes w
            join review_answers a on a.assignment = w.assignment and a.revision = w.revision
            join dimensions x on x.id = a.dimension order by 1, 2, 3, 4""",
    """create temp table adjudication_passes as
        select (select coalesce(max(seq), 0) from passes) + row_number() over (order by j.seq) as pass,
            j.seq as adjudication, j.item, i.dialogue, s.seq as source, j.adjudicated_at as made_at
        from adjudications j join annotators p on p.seq = j.expert
            join review_items i on i.seq = j.item join studies t on t.seq = i.study
            join label_sources s on s.kind = 'adjudicated' and s.who = p.code and s.config = t.id""",
    """insert into passes
        select j.pass, j.dialogue, j.source, 0, 1, j.adjudication = (
            select max(o.adjudication) from adjudication_passes o where o.item = j.item), j.made_at
        from adjudication_passes j""",
    """insert into annotations
        select j.source, j.dialogue, a.turn, j.pass,
            row_number() over (partition by j.pass, a.turn order by a.dimension) - 1,
            x.seq, a.value, null, '', null, null, null
        from adjudication_passes j join adjudicated_labels a on a.adjudication = j.adjudication
            join dimensions x on x.id = a.dimension order by 1, 2, 3, 4""",
    "alter table adjudications add column pass integer references passes(seq)",
    """update adjudications set pass = (
        select pass from adjudication_passes where adjudication = adjudications.seq)""",
    "drop table answer_passes",
    "drop table adjudication_passes",
)

_DROPPED = (
    "drop view newest_judge_runs",
    "drop view newest_answers",
    "drop trigger judge_runs_counted",
    "drop table labels",
    "drop table judgements",
    "drop table judge_runs",
    "drop table review_answers",
    "drop table adjudicated_labels",
)

_NEWEST = (
    """create view newest_judge_runs as
        select p.seq, p.dialogue, p.source, s.kind, s.who as judge, s.config, p.epoch, p.readable
        from passes p join label_sources s on s.seq = p.source
        where p.newest and s.kind not in ('human', 'adjudicated')""",
    """create view newest_annotations as
        select g.*, s.kind, s.who, s.config
        from label_sources s join annotations g on g.source = s.seq
        where g.pass = 0 or (select newest from passes p where p.seq = g.pass)""",
    """create view labels as
        select c.id as case_id, a.id as arm, g.dialogue,
            case when g.turn >= 0 then g.turn end as turn, g.last_turn, g.part,
            s.kind, s.who, s.config, x.id as dimension, g.value, g.carried, g.rationale, g.raw,
            g.pass, coalesce(p.newest, 1) as newest
        from annotations g join label_sources s on s.seq = g.source
            join dimensions x on x.seq = g.dimension join dialogues d on d.seq = g.dialogue
            join cases c on c.seq = d.case_seq join arms a on a.seq = d.arm_seq
            left join passes p on p.seq = g.pass""",
    """create trigger passes_counted after insert on passes
        when (select kind from label_sources where seq = new.source)
                not in ('human', 'adjudicated')
            and not exists (
                select 1 from passes p join label_sources s on s.seq = p.source
                    join label_sources t on t.seq = new.source
                where p.dialogue = new.dialogue and p.seq <> new.seq
                    and s.kind = t.kind and s.who = t.who)
        begin
            insert into verification_tally
                select 'judged', kind || ' ' || who, 1 from label_sources where seq = new.source
                on conflict do update set n = n + 1;
        end""",
)


def add_annotations(connection: sqlite3.Connection) -> None:
    """Move the four stores of labels into one relation, inside the caller's transaction."""
    for statement in _TABLES + _COPIED + _DROPPED + _NEWEST:
        connection.execute(statement)
