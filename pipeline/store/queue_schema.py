"""Version 14 of the tables of a run: which items of a study still need answers, and how many.

An item waits until it has as many answers as its study asks, or an expert has decided on it. Whoever
reviews is shown how many items there are for them on every page, so they are counted as they change.
"""

from __future__ import annotations

import sqlite3

_WAITS = """(select count(*) from assignments a where a.item = {item} and a.state = 'done')
        < (select s.per_item from studies s join review_items o on o.study = s.seq
            where o.seq = {item})
    and not exists (select 1 from adjudications j where j.item = {item})"""
_LOOKED_AT = "update review_items set waiting = {waits} where seq = {item}"
WAITS = f"({_WAITS.format(item='review_items.seq')})"
"""Whether an item of ``review_items`` waits, by its answers and decisions."""
RECOUNT = f"update review_items set waiting = {WAITS}"  # noqa: S608 - constants only
"""Looks at every item again, which adjusts what is counted."""


def _on(name: str, event: str, row: str) -> str:
    waits = _WAITS.format(item=f"{row}.item")
    changed = _LOOKED_AT.format(waits=waits, item=f"{row}.item")
    return f"create trigger {name} after {event} begin {changed}; end"


_TABLES = (
    """alter table review_items add column
        waiting integer not null default 1 check (waiting in (0, 1))""",
    RECOUNT,
    """create table queue_tally (
        study integer not null, category text not null, reasons text not null,
        n integer not null, primary key (study, category, reasons)) strict, without rowid""",
    """insert into queue_tally
        select study, category, reasons, sum(waiting) from review_items group by 1, 2, 3""",
    """create index review_items_waiting on review_items(study, category, reasons, rank)
        where waiting = 1""",
    """create index assignments_leased on assignments(leased_until)
        where state in ('open', 'labelled')""",
    """create trigger items_counted after insert on review_items begin
        insert into queue_tally values (new.study, new.category, new.reasons, new.waiting)
            on conflict do update set n = n + new.waiting; end""",
    """create trigger items_recounted after update of waiting on review_items
        when new.waiting <> old.waiting begin
        update queue_tally set n = n + new.waiting - old.waiting where study = new.study
            and category = new.category and reasons = new.reasons; end""",
    _on("answers_added", "insert on assignments when new.state = 'done'", "new"),
    _on(
        "answers_changed",
        "update of state on assignments when (new.state = 'done') <> (old.state = 'done')",
        "new",
    ),
    _on("answers_deleted", "delete on assignments when old.state = 'done'", "old"),
    _on("decisions_added", "insert on adjudications", "new"),
    _on("decisions_deleted", "delete on adjudications", "old"),
)


def add_queue_tally(connection: sqlite3.Connection) -> None:
    """Add to items whether they wait, and count those that do, inside the caller's transaction."""
    for statement in _TABLES:
        connection.execute(statement)
