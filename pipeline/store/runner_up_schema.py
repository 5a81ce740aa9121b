"""Version 9 of the tables of a run: judges name labels, and the label that comes next.

Before, external judges were shown the declared label, which stood again as the value of their
annotation, and answered two questions that no scheme had: ``coherence`` and ``misled``, with a yes
or no in ``carried``. Now ``value`` is a label that the judge named itself: rows about declared
labels lose the copy, and the two questions get the labels that schemes have for them, ``carried``
being whether it is the one that is expected under the goal.
"""

from __future__ import annotations

import sqlite3

_COLUMN = "alter table annotations add column second any"
_OF_EXTERNAL = """source in (select seq from label_sources where kind = 'external')
    and dimension = (select seq from dimensions where id = '{}')"""
_GOAL = """(select c.goal from dialogues d join cases c on c.seq = d.case_seq
    where d.seq = annotations.dialogue)"""
_REWRITTEN = (
    f"""update annotations set value = null
        where source in (select seq from label_sources where kind = 'external')
            and not ({_OF_EXTERNAL.format("coherence")})
            and not ({_OF_EXTERNAL.format("misled")})""",  # noqa: S608 - constants only
    f"""update annotations set value = iif(carried, 'coherent', 'incoherent')
        where carried is not null and value is null and {_OF_EXTERNAL.format("coherence")}""",  # noqa: S608
    f"""update annotations set value = iif(carried, 'misled', 'not misled'),
            carried = case {_GOAL} when 'deception' then carried
                when 'truthful non-disclosure' then 1 - carried end
        where carried is not null and value is null and {_OF_EXTERNAL.format("misled")}""",  # noqa: S608
)
_VIEWS = (
    "drop view newest_judge_runs",
    """create view newest_judge_runs as
        select p.seq, p.dialogue, p.source, s.kind, s.who as judge, s.config, p.epoch, p.readable
        from passes p join label_sources s on s.seq = p.source
        where p.newest and s.kind not in ('human', 'adjudicated', 'foil')""",
    "drop view newest_annotations",
    """create view newest_annotations as
        select g.*, s.kind, s.who, s.config
        from label_sources s join annotations g on g.source = s.seq
        where g.pass = 0 or (select newest from passes p where p.seq = g.pass)""",
    "drop view labels",
    """create view labels as
        select c.id as case_id, a.id as arm, g.dialogue,
            case when g.turn >= 0 then g.turn end as turn, g.last_turn, g.part,
            s.kind, s.who, s.config, x.id as dimension, g.value, g.second, g.carried, g.rationale,
            g.raw, g.pass, coalesce(p.newest, 1) as newest
        from annotations g join label_sources s on s.seq = g.source
            join dimensions x on x.seq = g.dimension join dialogues d on d.seq = g.dialogue
            join cases c on c.seq = d.case_seq join arms a on a.seq = d.arm_seq
            left join passes p on p.seq = g.pass""",
    "drop trigger passes_counted",
    """create trigger passes_counted after insert on passes
        when (select kind from label_sources where seq = new.source)
                not in ('human', 'adjudicated', 'foil')
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


def add_runner_up(connection: sqlite3.Connection) -> None:
    """Give judges' annotations a second label, inside the caller's transaction."""
    for statement in (_COLUMN, *_REWRITTEN, *_VIEWS):
        connection.execute(statement)
