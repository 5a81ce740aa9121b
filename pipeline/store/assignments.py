"""Who is given which item: never more people than a study asks, each in an order of their own."""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import orjson

from pipeline.store.annotations import WHOLE, LabelRow, LabelSource, add_pass
from pipeline.store.people_database import Note
from pipeline.store.sqlite import parsing
from pipeline.store.traces import label_from
from scenarios.annotations import HUMAN
from scenarios.reviews import (
    AnswerRefused,
    Assignment,
    GivenLabel,
    Item,
    Opinion,
    ReviewStudy,
)

NoteOf = Callable[[int | None], Note]
"""Returns the note of a number, from beside the run."""
PRIME = 2_147_483_647
"""Ranks are multiplied modulo this: another multiplier is another order of the same items."""
LISTED = 32
"""Items of somebody's order that are found at a time: it takes a look at all that wait."""

ASSIGNMENT = """
    select s.seq, s.annotator, s.state, s.leased_until, s.opened_at, s.done_at,
        i.seq, c.id, a.id, i.category, i.reasons
    from assignments s join review_items i on i.seq = s.item
        join dialogues d on d.seq = i.dialogue join cases c on c.seq = d.case_seq
        join arms a on a.seq = d.arm_seq"""
_ANSWERED = """
    select i.dialogue, p.code, t.id from assignments s join review_items i on i.seq = s.item
        join studies t on t.seq = i.study join annotators p on p.seq = s.annotator
    where s.seq = ?"""
LABELS = f"""
    select s.seq, g.turn, x.id, g.value
    from json_each(?) j join assignments s on s.seq = j.value
        join review_items i on i.seq = s.item join studies t on t.seq = i.study
        join annotators p on p.seq = s.annotator
        join label_sources r on r.kind = '{HUMAN}' and r.who = p.code and r.config = t.id
        join passes q on q.dialogue = i.dialogue and q.source = r.seq and q.newest
        join annotations g on g.source = r.seq and g.dialogue = i.dialogue and g.pass = q.seq
        join dimensions x on x.seq = g.dimension
    order by s.seq, g.turn, x.id"""  # noqa: S608 - constants only
"""The newest (assignment, turn, dimension, value) of some assignments."""
_LIVE = """(select count(*) from assignments o where o.item = {item}
    and o.annotator <> ? and (o.state = 'done' or o.leased_until > ?))"""
_WISHED = """(? = '' or i.category = ?)
    and (? = '' or exists (select 1 from json_each(i.reasons) where value = ?))"""
_OPEN = f"""
    select s.seq from assignments s cross join review_items i on i.seq = s.item
    where i.study = ? and s.annotator = ? and s.state in ('open', 'labelled')
        and (s.leased_until > ? or {_LIVE.format(item="i.seq")} < ?)
        and not exists (select 1 from adjudications j where j.item = i.seq)
    order by s.opened_at desc limit 1"""  # noqa: S608 - constants only
# Which items are taken is found once: to look it up for each item would take twice as long. The
# indices are named, as SQLite would look at all assignments or items, of which it knows no number.
_TAKEN = """
    select item from assignments where annotator = ?
    union select l.item from assignments l indexed by assignments_leased
        where l.state in ('open', 'labelled') and l.leased_until > ?
        group by l.item having count(*) + (
            select count(*) from assignments d where d.item = l.item and d.state = 'done') >= ?"""
_WAITING = f"where i.study = ? and {_WISHED}"
_TALLY = f"select coalesce(sum(i.n), 0) from queue_tally i {_WAITING}"  # noqa: S608 - constants only
_TAKEN_OF_TALLY = f"""
    select count(*) from (select item from ({_TAKEN})) t
        cross join review_items i on i.seq = t.item {_WAITING} and i.waiting = 1"""  # noqa: S608
_NEXT = f"""
    select i.seq from review_items i indexed by review_items_waiting
    {_WAITING} and i.waiting = 1 and i.seq not in ({_TAKEN})
    order by (i.rank * ?) % {PRIME}, i.seq limit {LISTED}"""  # noqa: S608 - constants only
_IS_FREE = f"""
    select 1 from review_items i where i.seq = ? and i.waiting = 1
        and not exists (select 1 from assignments o where o.item = i.seq and o.annotator = ?)
        and {_LIVE.format(item="i.seq")} < ?"""  # noqa: S608 - constants only
_INSERT = """
    insert into assignments (item, annotator, state, leased_until, opened_at, origin)
    values (?, ?, 'open', ?, ?, 'page')"""


def take(
    connection: sqlite3.Connection,
    study: ReviewStudy,
    annotator: int,
    *,
    multiplier: int,
    ahead: deque[int],
    now: float,
    lease_s: float,
    category: str = "",
    reason: str = "",
) -> int | None:
    """Give an annotator an item, inside the caller's transaction.

    That is the one they have begun, unless it went to somebody else meanwhile, or else the next in
    their order that still needs people. What others let go of comes when ``ahead`` is used up.

    Args:
        connection: in a transaction that writes.
        study: the study.
        annotator: who asks.
        multiplier: makes the order theirs; 1 to ``PRIME - 1``.
        ahead: what came next in their order, of this category and reason, when it was last looked
            at; begin with none, and give it again. It is a hint: where the transaction is undone,
            what was passed over comes when the rest is used up.
        now: Unix time in seconds.
        lease_s: for how long nobody else is given the item, in seconds.
        category: only items of this category; empty for all.
        reason: only items with a flag of this code; empty for all.

    Returns:
        The number of the assignment; None where nothing is left for them.
    """
    begun = connection.execute(
        _OPEN, (study.seq, annotator, now, annotator, now, study.per_item)
    ).fetchone()
    if begun is not None:
        renew(connection, begun[0], now + lease_s)
        return int(begun[0])
    while ahead:
        item = ahead.popleft()
        if connection.execute(
            _IS_FREE, (item, annotator, annotator, now, study.per_item)
        ).fetchone():
            break
    else:
        wished, taken = _wished(study, category, reason), (annotator, now, study.per_item)
        ahead.extend(seq for (seq,) in connection.execute(_NEXT, (*wished, *taken, multiplier)))
        if not ahead:
            return None
        item = ahead.popleft()
    return connection.execute(_INSERT, (item, annotator, now + lease_s, now)).lastrowid


def count_free(
    connection: sqlite3.Connection,
    study: ReviewStudy,
    annotator: int,
    *,
    now: float,
    category: str = "",
    reason: str = "",
) -> int:
    """Return how many items an annotator could still be given, besides those they have begun."""
    wished = _wished(study, category, reason)
    (waiting,) = connection.execute(_TALLY, wished).fetchone()
    (taken,) = connection.execute(
        _TAKEN_OF_TALLY, (annotator, now, study.per_item, *wished)
    ).fetchone()
    return int(waiting - taken)


def renew(connection: sqlite3.Connection, assignment: int, until: float) -> None:
    """Keep an item for its annotator until then."""
    connection.execute("update assignments set leased_until = ? where seq = ?", (until, assignment))


def hold(
    connection: sqlite3.Connection,
    study: ReviewStudy,
    assignment: int,
    annotator: int,
    *,
    now: float,
    lease_s: float,
) -> Assignment:
    """Return an assignment that its annotator may still answer, with its lease renewed.

    Raises:
        AnswerRefused: it is not theirs, went to somebody else, or is closed.
    """
    found = find(connection, study, assignment, annotator)
    if found is None:
        raise AnswerRefused("unknown", "There is no such item among yours.")
    if found.state == "given_back":
        raise AnswerRefused("taken", "You gave this item back; somebody else gets it.")
    if _is_closed(connection, study, found):
        raise AnswerRefused("closed", "This item is closed; its answers can no longer be changed.")
    if is_lost(connection, study, found, now):
        raise AnswerRefused(
            "taken",
            "You were away for so long that this item was given to somebody else;"
            " your answer to it was not counted.",
        )
    if found.state != "done":
        renew(connection, assignment, now + lease_s)
    return found


def is_lost(
    connection: sqlite3.Connection, study: ReviewStudy, found: Assignment, now: float
) -> bool:
    """Tell whether an item that was begun went to others, as its annotator was away too long."""
    if found.state == "done" or found.leased_until > now:
        return False
    (others,) = connection.execute(
        f"select {_LIVE.format(item='?')}", (found.item.seq, found.annotator, now)
    ).fetchone()
    return bool(others >= study.per_item)


def find(
    connection: sqlite3.Connection, study: ReviewStudy, assignment: int, annotator: int
) -> Assignment | None:
    """Return one assignment of an annotator; None where it is not theirs or not of the study."""
    row = connection.execute(
        f"{ASSIGNMENT} where s.seq = ? and s.annotator = ? and i.study = ?",
        (assignment, annotator, study.seq),
    ).fetchone()
    with parsing(connection, "an item"):
        return None if row is None else assignment_from(row)


def give_back(connection: sqlite3.Connection, held: Assignment) -> None:
    """Let go of an item for good: somebody else gets it, and its annotator never again.

    What is answered stays answered.
    """
    if held.state != "done":
        connection.execute(
            "update assignments set state = 'given_back', leased_until = 0 where seq = ?",
            (held.seq,),
        )


def lock_labels(
    connection: sqlite3.Connection,
    held: Assignment,
    labels: Sequence[GivenLabel],
    now: float,
) -> None:
    """Store labels for good: from now on the declared ones may be shown.

    Storing the same labels again does nothing.

    Raises:
        AnswerRefused: others are stored already.
    """
    if held.state != "open":
        if set(read_labels(connection, held.seq)) == set(labels):
            return
        raise AnswerRefused(
            "locked", "Your labels were locked when the declared ones were shown to you."
        )
    _store_labels(connection, held.seq, labels, now)
    connection.execute(
        "update assignments set state = 'labelled', labelled_at = ? where seq = ?", (now, held.seq)
    )


def submit(
    connection: sqlite3.Connection,
    held: Assignment,
    labels: Sequence[GivenLabel] | None,
    opinion: Opinion,
    now: float,
    *,
    note_id: int | None,
    note_of: NoteOf,
) -> bool:
    """Store an answer as a whole; the same answer again, from a lost reply, stores nothing.

    Args:
        connection: in a transaction that writes.
        held: what :func:`hold` returned.
        labels: None where they are locked already.
        opinion: the rest of the answer.
        now: Unix time in seconds.
        note_id: number of the note that goes with it, stored already.
        note_of: returns the note of a number.

    Returns:
        Whether anything was new.
    """
    before = read_opinion(connection, held.seq, note_of)
    if held.state == "done" and before is not None:
        same = said(before[1]) == said(opinion)
        if same and (labels is None or set(read_labels(connection, held.seq)) == set(labels)):
            return False
    revision = 1 if before is None else before[0] + 1
    if labels is not None:
        _store_labels(connection, held.seq, labels, now)
    connection.execute(
        "insert into reviews"
        " (assignment, revision, issue, issue_reason, lead_s, answered_at, note_id)"
        " values (?, ?, ?, ?, ?, ?, ?)",
        (held.seq, revision, opinion.issue, opinion.issue_reason, opinion.lead_s, now, note_id),
    )
    if held.state != "done":
        connection.execute(
            "update assignments set state = 'done', done_at = ? where seq = ?", (now, held.seq)
        )
    return True


def read_labels(connection: sqlite3.Connection, assignment: int) -> tuple[GivenLabel, ...]:
    """Return the newest labels of an assignment."""
    rows = connection.execute(LABELS, (f"[{assignment}]",))
    return tuple(given_label(row[1:]) for row in rows)


def read_opinion(
    connection: sqlite3.Connection, assignment: int, note_of: NoteOf
) -> tuple[int, Opinion] | None:
    """Return the newest (revision, opinion) of an assignment."""
    row = connection.execute(
        "select revision, issue, issue_reason, lead_s, note_id from newest_reviews"
        " where assignment = ?",
        (assignment,),
    ).fetchone()
    return None if row is None else (row[0], opinion_from(row[1:4], note_of(row[4])))


def given_label(row: Sequence[Any]) -> GivenLabel:
    """Return a label from (turn, dimension, value)."""
    turn, dimension, value = row
    return GivenLabel(None if turn == WHOLE else turn, dimension, label_from(value))


def label_rows(labels: Sequence[GivenLabel]) -> list[LabelRow]:
    """Return labels as rows of a pass."""
    return [LabelRow(label.turn, label.dimension, label.value) for label in labels]


def opinion_from(row: Sequence[Any], note: Note) -> Opinion:
    """Return an opinion from (issue, reason, seconds) and its note."""
    issue, reason, lead_s = row
    return Opinion(
        issue=None if issue is None else bool(issue),
        issue_reason=reason,
        scenario_problem=note.scenario_problem,
        note=note.note,
        lead_s=lead_s,
    )


def assignment_from(row: Sequence[Any]) -> Assignment:
    """Return an assignment from the columns of ``ASSIGNMENT``."""
    seq, annotator, state, leased_until, opened_at, done_at, *item = row
    return Assignment(seq, item_from(item), annotator, state, leased_until, opened_at, done_at)


def item_from(row: Sequence[Any]) -> Item:
    """Return an item from (seq, case, arm, category, reasons)."""
    seq, case, arm, category, reasons = row
    return Item(seq, case, arm, category, tuple(orjson.loads(reasons)))


def _wished(study: ReviewStudy, category: str, reason: str) -> tuple[object, ...]:
    return (study.seq, category, category, reason, reason)


def _is_closed(connection: sqlite3.Connection, study: ReviewStudy, found: Assignment) -> bool:
    row: tuple[int] = connection.execute(
        "select exists (select 1 from adjudications where item = ?)"
        " or exists (select 1 from participations where study = ? and annotator = ?)",
        (found.item.seq, study.seq, found.annotator),
    ).fetchone()
    return bool(row[0])


def _store_labels(
    connection: sqlite3.Connection, assignment: int, labels: Sequence[GivenLabel], now: float
) -> None:
    dialogue, code, study = connection.execute(_ANSWERED, (assignment,)).fetchone()
    source = LabelSource(HUMAN, code, study)
    add_pass(connection, dialogue, source, label_rows(labels), at=now)


def said(opinion: Opinion) -> tuple[object, ...]:
    """Return what counts as the answer; looking at it for longer is no change."""
    return (opinion.issue, opinion.issue_reason, opinion.scenario_problem, opinion.note)
