"""What was answered in a study, read page by page, and the last word an expert has on it."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import orjson

from pipeline.store.annotations import LabelSource, add_pass
from pipeline.store.assignments import LABELS, given_label, item_from, label_rows, opinion_from
from pipeline.store.judgements import store_decision
from pipeline.store.people import PeopleFile
from pipeline.store.people_database import Note
from pipeline.store.sqlite import parsing
from pipeline.store.writer import Writer
from scenarios.annotations import ADJUDICATED
from scenarios.reviews import (
    Adjudication,
    AnnotatorTally,
    GivenLabel,
    Item,
    ReviewStudy,
    Sheet,
)
from scenarios.verdicts import Decision

PAGE = 500

_ITEM = "i.seq, c.id, a.id, i.category, i.reasons"
_OF_ITEM = """
    join dialogues d on d.seq = i.dialogue join cases c on c.seq = d.case_seq
    join arms a on a.seq = d.arm_seq"""
_SHEETS = f"""
    select s.seq, p.code, s.state, s.origin,
        v.issue, v.issue_reason, v.lead_s, v.note_id, {_ITEM}
    from assignments s cross join review_items i on i.seq = s.item {_OF_ITEM}
        join annotators p on p.seq = s.annotator
        left join newest_reviews v on v.assignment = s.seq
    where i.study = ? and s.state = 'done' and {{}} order by s.seq limit {PAGE}"""  # noqa: S608 - constants only
# Cross joins are done in the order in which they are written: other ways would go through every item.
_PAGE_OF_SHEETS = _SHEETS.format("s.seq > ?")
_SHEETS_OF_ITEM = _SHEETS.format("+s.seq > ? and s.item = ?")
_SHEETS_OF_ANNOTATOR = _SHEETS.format("s.seq > ? and s.annotator = ?")
_ITEMS = f"""
    select {_ITEM}, (select count(*) from assignments s where s.item = i.seq and s.state = 'done')
    from review_items i {_OF_ITEM} where i.study = ? order by i.seq"""  # noqa: S608 - constants only
_WAITING = """
    select i.seq from review_items i where i.study = ? and i.seq > ?
        and (select count(*) from assignments s where s.item = i.seq and s.state = 'done') >= ?
        and not exists (select 1 from adjudications j where j.item = i.seq)
    order by i.seq limit 1"""
_FILTERS = "select distinct category, reasons from review_items where study = ?"
_FOUND = f"""
    select {_ITEM} from review_items i {_OF_ITEM} where i.study = ? and i.seq = ?"""  # noqa: S608 - constants only
_ADJUDICATED = """
    select j.seq, j.item, p.code, j.verdict, j.note_id, j.adjudicated_at
    from newest_adjudications j cross join review_items i on i.seq = j.item
        join annotators p on p.seq = j.expert
    where i.study = ? {} order by j.item"""
_FINAL = """
    select a.seq, g.turn, x.id, g.value
    from json_each(?) j join adjudications a on a.seq = j.value join passes p on p.seq = a.pass
        join annotations g on g.source = p.source and g.dialogue = p.dialogue and g.pass = p.seq
        join dimensions x on x.seq = g.dimension
    order by a.seq, g.turn, x.id"""
_DECIDED = """
    select i.dialogue, p.code, t.id from review_items i join studies t on t.seq = i.study
        join annotators p on p.seq = ?
    where i.seq = ?"""
_LAST_WORD_AT = "select adjudicated_at from newest_adjudications where item = ?"
_STANDINGS = """
    select p.seq, p.code, p.role, s.state, v.lead_s, s.done_at,
        exists (select 1 from participations f where f.study = i.study and f.annotator = p.seq)
    from assignments s join review_items i on i.seq = s.item
        join annotators p on p.seq = s.annotator
        left join newest_reviews v on v.assignment = s.seq
    where i.study = ? and s.state <> 'given_back' order by p.seq, s.done_at"""

_LEAD_TIMES = """
    select v.lead_s from annotators p cross join assignments s on s.annotator = p.seq
        join review_items i on i.seq = s.item join newest_reviews v on v.assignment = s.seq
    where i.study = ? and s.state = 'done' and v.lead_s is not null"""


class SheetLog:
    """The answers of every study of a run."""

    def __init__(self, reader: sqlite3.Connection, writer: Writer, file: PeopleFile) -> None:
        """Read with ``reader``, write through ``writer``; notes are in ``file``."""
        self._reader = reader
        self._writer = writer
        self._file = file

    def sheets(
        self, study: ReviewStudy, *, item: int | None = None, annotator: int | None = None
    ) -> Iterator[Sheet]:
        """Yield every answer that is finished, in the order items were given out.

        Args:
            study: the study.
            item: only answers to this one.
            annotator: only answers of this person, whatever the item.
        """
        last, statement = 0, _PAGE_OF_SHEETS
        of: tuple[int, ...] = ()
        if annotator is not None:
            statement, of = _SHEETS_OF_ANNOTATOR, (annotator,)
        elif item is not None:
            statement, of = _SHEETS_OF_ITEM, (item,)
        while True:
            rows = self._reader.execute(statement, (study.seq, last, *of)).fetchall()
            if not rows:
                return
            last = rows[-1][0]
            notes = self._file.notes(row[7] for row in rows)
            with parsing(self._reader, "an answer"):
                labels = self._labels(LABELS, [row[0] for row in rows])
                page = [_sheet(row, labels[row[0]], notes[row[7]]) for row in rows]
            yield from page

    def items(self, study: ReviewStudy) -> list[tuple[Item, int]]:
        """Return every item with the number of answers it has, in the order they were added."""
        rows = self._reader.execute(_ITEMS, (study.seq,))
        with parsing(self._reader, "an item"):
            return [(item_from(row[:5]), row[5]) for row in rows]

    def next_waiting(self, study: ReviewStudy, after: int) -> int | None:
        """Return the next item after one that has all its answers and no last word; None: none has."""
        row = self._reader.execute(_WAITING, (study.seq, after, study.per_item)).fetchone()
        return None if row is None else int(row[0])

    def offered_filters(self, study: ReviewStudy) -> tuple[list[str], list[str]]:
        """Return the categories and the codes of flags of items, each once and in order."""
        rows = self._reader.execute(_FILTERS, (study.seq,)).fetchall()
        with parsing(self._reader, "an item"):
            codes = {code for _, reasons in rows for code in orjson.loads(reasons)}
        return sorted({category for category, _ in rows if category}), sorted(codes)

    def item(self, study: ReviewStudy, seq: int) -> Item | None:
        """Return one item of a study."""
        row = self._reader.execute(_FOUND, (study.seq, seq)).fetchone()
        with parsing(self._reader, "an item"):
            return None if row is None else item_from(row)

    def annotator_tallies(self, study: ReviewStudy) -> list[AnnotatorTally]:
        """Return how far everybody is who has been given an item."""
        rows = self._reader.execute(_STANDINGS, (study.seq,))
        return [_tally(list(own)) for _, own in groupby(rows, key=itemgetter(0))]

    def lead_times(self, study: ReviewStudy, *, annotator: int | None = None) -> list[float]:
        """Return the lead time of every answer of one person, else of everybody who annotates."""
        whose = "p.role = 'annotator'" if annotator is None else "p.seq = ?"
        values = (study.seq,) if annotator is None else (study.seq, annotator)
        return [lead_s for (lead_s,) in self._reader.execute(f"{_LEAD_TIMES} and {whose}", values)]

    def adjudications(
        self, study: ReviewStudy, *, item: int | None = None
    ) -> dict[int, Adjudication]:
        """Return the newest adjudication by item."""
        which, of = ("and j.item = ?", (item,)) if item is not None else ("", ())
        rows = self._reader.execute(_ADJUDICATED.format(which), (study.seq, *of)).fetchall()
        labels = self._labels(_FINAL, [row[0] for row in rows])
        notes = self._file.notes(row[4] for row in rows)
        return {
            number: Adjudication(number, code, verdict, tuple(labels[seq]), notes[note].note, at)
            for seq, number, code, verdict, note, at in rows
        }

    async def adjudicate(
        self,
        adjudication: Adjudication,
        expert: int,
        *,
        replaces: float | None,
        decision: Decision | None,
    ) -> bool:
        """Store the last word on an item, durable on return; earlier ones stay as history.

        Args:
            adjudication: the last word.
            expert: number of who has it.
            replaces: Unix time of the last word that the expert has seen; None: there was none.
            decision: what it says of the dialogue, stored with it or not at all.

        Returns:
            False where somebody else has had another one since: nothing is stored then.
        """
        dialogue, code, study = self._reader.execute(
            _DECIDED, (expert, adjudication.item)
        ).fetchone()

        def write(connection: sqlite3.Connection) -> bool:
            newest = connection.execute(_LAST_WORD_AT, (adjudication.item,)).fetchone()
            if newest != (None if replaces is None else (replaces,)):
                return False
            labels = label_rows(adjudication.labels)
            number = add_pass(
                connection,
                dialogue,
                LabelSource(ADJUDICATED, code, study),
                labels,
                at=adjudication.at,
            )
            connection.execute(
                "insert into adjudications (item, expert, verdict, note_id, adjudicated_at, pass)"
                " values (?, ?, ?, ?, ?, ?)",
                (
                    adjudication.item,
                    expert,
                    adjudication.verdict,
                    note_id,
                    adjudication.at,
                    number,
                ),
            )
            if decision is not None:
                store_decision(connection, dialogue, decision)
            return True

        note_id = await self._file.add_note(code, Note(adjudication.note))
        is_stored = False
        try:
            is_stored = await self._writer.post(write)
        finally:
            if not is_stored:
                self._file.drop_note(note_id)
        return is_stored

    def _labels(self, query: str, numbers: Iterable[int]) -> defaultdict[int, list[GivenLabel]]:
        found: defaultdict[int, list[GivenLabel]] = defaultdict(list)
        for seq, *label in self._reader.execute(query, (orjson.dumps(list(numbers)).decode(),)):
            found[seq].append(given_label(label))
        return found


def _tally(rows: Sequence[Sequence[Any]]) -> AnnotatorTally:
    """Return how far somebody is, of whom there is a row for each item."""
    _, code, role, *_, finished = rows[0]
    done = [(lead_s, done_at) for _, _, _, state, lead_s, done_at, _ in rows if state == "done"]
    return AnnotatorTally(
        code,
        role,
        done=len(done),
        open=len(rows) - len(done),
        seconds=tuple(lead_s for lead_s, _ in done if lead_s is not None),
        last=max((done_at for _, done_at in done if done_at), default=None),
        finished=bool(finished),
    )


def _sheet(row: Sequence[Any], labels: Sequence[GivenLabel], note: Note) -> Sheet:
    seq, code, state, origin = row[:4]
    opinion = None if row[6] is None else opinion_from(row[4:7], note)
    return Sheet(
        assignment=seq,
        item=item_from(row[8:]),
        annotator=code,
        state=state,
        labels=tuple(labels),
        opinion=opinion,
        origin=origin,
    )
