"""The reviews of a run: opened beside whatever writes the run, in short transactions."""

from __future__ import annotations

import sqlite3
import time
from collections import deque
from collections.abc import Sequence
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import Self

from pipeline.store import assignments
from pipeline.store.attention import AttentionLog
from pipeline.store.judgements import JudgementLog
from pipeline.store.locks import RunLock, refuse_network_disk
from pipeline.store.migrations import is_older, migrate
from pipeline.store.people import PeopleFile
from pipeline.store.people_database import refuse_emptied, run_mark
from pipeline.store.queries.dialogues import DialogueReader
from pipeline.store.review_imports import IncomingAnswer, MergeResult, merge_answer, own_words
from pipeline.store.review_people import PeopleLog
from pipeline.store.review_sheets import SheetLog
from pipeline.store.review_studies import StudyLog
from pipeline.store.run_store import RunStore
from pipeline.store.sqlite import DATABASE, EagerConnection, connect, connect_readonly, explained
from pipeline.store.writer import Writer
from scenarios.errors import UsageError
from scenarios.fingerprint import seed_from
from scenarios.reviews import (
    Assignment,
    FormDraft,
    GivenLabel,
    Opinion,
    ReviewStudy,
)
from scenarios.text_file import typed_path


class ReviewStore:
    """The reviews of one run. Open it with :meth:`open`, and close it.

    Several may be open at once, beside a generation that writes the same run: every write is one
    short ``begin immediate`` transaction, gathered with others by the writer thread.
    """

    def __init__(
        self,
        folder: Path,
        reader: sqlite3.Connection,
        writing: sqlite3.Connection,
        file: PeopleFile,
    ) -> None:
        """Join the parts; use :meth:`open`."""
        self.folder = folder
        self._reader = reader
        self._writer = Writer(writing)
        self.studies = StudyLog(reader, self._writer)
        self._file = file
        self.people = PeopleLog(reader, self._writer, file)
        self.sheets = SheetLog(reader, self._writer, file)
        self.attention = AttentionLog(file)
        self.judgements = JudgementLog(reader, self._writer)
        self.dialogues = DialogueReader(reader)
        self._ahead: dict[tuple[int, int, str, str], deque[int]] = {}
        """What comes next, by study, annotator, category and reason."""

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open the reviews of the run in ``folder``, brought up to date if it is older.

        Raises:
            UsageError: there is no run, it was written by a newer hipo, it is older and another
                process is writing it, or it lies on a network file system.
        """
        path = folder / DATABASE
        if not RunStore.exists(folder):
            raise UsageError(
                f"there is no run in {folder}", f"hipo generate -o {typed_path(folder)} begins one"
            )
        refuse_network_disk(folder)
        with ExitStack() as undo:
            undo.enter_context(explained(path))
            writing = undo.enter_context(closing(connect(path, EagerConnection)))
            if is_older(writing, path):
                lock = RunLock(folder)
                undo.callback(lock.release)
                migrate(writing, path)
                lock.release()
            reader = undo.enter_context(closing(connect_readonly(path)))
            refuse_emptied(folder, reader)
            file = undo.enter_context(closing(PeopleFile.open(folder, run_mark(reader))))
            store = cls(folder, reader, writing, file)
            undo.pop_all()
        return store

    def close(self) -> None:
        """Bring everything to disk and close; harmless when repeated."""
        # The reader goes first: the last to close tidies up the log, and may have to write.
        self._reader.close()
        self._writer.close()
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Giving out and taking back

    async def take(
        self,
        study: ReviewStudy,
        annotator: int,
        *,
        lease_s: float,
        category: str = "",
        reason: str = "",
    ) -> int | None:
        """Give an annotator an item; see :func:`pipeline.store.assignments.take`."""
        multiplier = 1 + seed_from(study.seed, "order", annotator) % (assignments.PRIME - 1)
        ahead = self._ahead.setdefault((study.seq, annotator, category, reason), deque())
        return await self._writer.post(
            lambda connection: assignments.take(
                connection,
                study,
                annotator,
                multiplier=multiplier,
                ahead=ahead,
                now=time.time(),
                lease_s=lease_s,
                category=category,
                reason=reason,
            )
        )

    def assignment(self, study: ReviewStudy, assignment: int, annotator: int) -> Assignment | None:
        """Return an assignment; None where it is not this annotator's."""
        return assignments.find(self._reader, study, assignment, annotator)

    def is_lost(self, study: ReviewStudy, assignment: Assignment) -> bool:
        """Tell whether an item that was begun went to others meanwhile."""
        return assignments.is_lost(self._reader, study, assignment, time.time())

    def latest_done(
        self, study: ReviewStudy, annotator: int, *, before: int | None = None
    ) -> int | None:
        """Return the item an annotator answered last, or the one before ``before``."""
        row = self._reader.execute(
            "select s.seq from assignments s join review_items i on i.seq = s.item"
            " where i.study = ? and s.annotator = ? and s.state = 'done' and (? is null or"
            " s.done_at < (select coalesce(done_at, 1e12) from assignments where seq = ?))"
            " order by s.done_at desc, s.seq desc limit 1",
            (study.seq, annotator, before, before),
        ).fetchone()
        return None if row is None else int(row[0])

    def done_times(self, study: ReviewStudy, annotator: int) -> list[tuple[float, int]]:
        """Return (Unix time, assignment) of everything an annotator has answered."""
        return self._reader.execute(
            "select s.done_at, s.seq from assignments s join review_items i on i.seq = s.item"
            " where i.study = ? and s.annotator = ? and s.state = 'done'",
            (study.seq, annotator),
        ).fetchall()

    def holds_item(self, study: ReviewStudy, annotator: int) -> bool:
        """Whether an annotator has begun an item that nobody else can be given yet."""
        row = self._reader.execute(
            "select 1 from assignments s join review_items i on i.seq = s.item"
            " where i.study = ? and s.annotator = ? and s.state in ('open', 'labelled')"
            " and s.leased_until > ?"
            " and not exists (select 1 from adjudications j where j.item = i.seq)",
            (study.seq, annotator, time.time()),
        ).fetchone()
        return row is not None

    def progress(
        self, study: ReviewStudy, annotator: int, *, category: str = "", reason: str = ""
    ) -> tuple[int, int]:
        """Return (items an annotator has answered, items there are for them in all)."""
        rows = self._reader.execute(
            "select s.state = 'done', count(*) from assignments s"
            " join review_items i on i.seq = s.item"
            " where i.study = ? and s.annotator = ? and s.state <> 'given_back' group by 1",
            (study.seq, annotator),
        ).fetchall()
        counts = dict(rows)
        done, begun = counts.get(1, 0), counts.get(0, 0)
        free = assignments.count_free(
            self._reader, study, annotator, now=time.time(), category=category, reason=reason
        )
        return done, done + begun + free

    def labels_of(self, assignment: int) -> tuple[GivenLabel, ...]:
        """Return the newest labels of an assignment."""
        return assignments.read_labels(self._reader, assignment)

    def opinion_of(self, assignment: int) -> Opinion | None:
        """Return the newest opinion of an assignment."""
        newest = assignments.read_opinion(self._reader, assignment, self._file.note)
        return None if newest is None else newest[1]

    def draft_of(self, assignment: int) -> FormDraft | None:
        """Return the draft of an assignment."""
        return self._file.draft(assignment)

    async def save_draft(
        self,
        study: ReviewStudy,
        assignment: int,
        annotator: int,
        draft: FormDraft,
        *,
        lease_s: float,
    ) -> bool:
        """Keep a half-filled form and the item with it; durable on return.

        Returns:
            False where a newer form of the item is there, and stays.

        Raises:
            AnswerRefused: the item is not theirs (any more), or closed.
        """

        def write(connection: sqlite3.Connection) -> None:
            now = time.time()
            assignments.hold(connection, study, assignment, annotator, now=now, lease_s=lease_s)

        await self._writer.post(write)
        return await self.keep_draft(assignment, annotator, draft)

    async def keep_draft(self, number: int, annotator: int, draft: FormDraft) -> bool:
        """Do so under a number; that of an attention item is negative."""
        return await self._file.save_draft(self.people.code(annotator), number, draft)

    async def lock_labels(
        self,
        study: ReviewStudy,
        assignment: int,
        annotator: int,
        labels: Sequence[GivenLabel],
        *,
        lease_s: float,
    ) -> None:
        """Store labels for good, so that the declared ones can be shown; durable on return.

        Raises:
            AnswerRefused: the item is not theirs (any more), closed, or locked with other labels.
        """

        def write(connection: sqlite3.Connection) -> None:
            now = time.time()
            held = assignments.hold(
                connection, study, assignment, annotator, now=now, lease_s=lease_s
            )
            assignments.lock_labels(connection, held, labels, now)

        await self._writer.post(write)
        await self._file.drop_draft(assignment)

    async def submit(
        self,
        study: ReviewStudy,
        assignment: int,
        annotator: int,
        labels: Sequence[GivenLabel] | None,
        opinion: Opinion,
        *,
        lease_s: float,
    ) -> bool:
        """Store an answer as a whole, durable on return; False where it was there already.

        Raises:
            AnswerRefused: the item is not theirs (any more), or closed.
        """

        def write(connection: sqlite3.Connection) -> bool:
            now = time.time()
            held = assignments.hold(
                connection, study, assignment, annotator, now=now, lease_s=lease_s
            )
            return assignments.submit(
                connection, held, labels, opinion, now, note_id=note_id, note_of=self._file.note
            )

        note = own_words(opinion)
        note_id = await self._file.add_note(self.people.code(annotator), note)
        is_new = False
        try:
            is_new = await self._writer.post(write)
        finally:
            if not is_new:
                self._file.drop_note(note_id)
        await self._file.drop_draft(assignment)
        return is_new

    async def give_back(self, study: ReviewStudy, assignment: int, annotator: int) -> None:
        """Let go of an item, so that somebody else gets it; durable on return.

        Raises:
            AnswerRefused: the item is not theirs (any more), or closed.
        """

        def write(connection: sqlite3.Connection) -> None:
            held = assignments.hold(
                connection, study, assignment, annotator, now=time.time(), lease_s=0
            )
            assignments.give_back(connection, held)

        await self._writer.post(write)
        await self._file.drop_draft(assignment)

    def merge(
        self, study: ReviewStudy, answers: Sequence[IncomingAnswer], *, origin: str
    ) -> list[MergeResult]:
        """Store answers given elsewhere, in their order; blocks until durable.

        See :func:`pipeline.store.review_imports.merge_answer` for what becomes of each.
        """
        notes = self._file.add_notes_now(
            (self.people.code(one.annotator), own_words(one.opinion)) for one in answers
        )
        outcomes = self._writer.run_all(
            partial(
                merge_answer, study=study, answer=one, origin=origin, note_id=note,
                note_of=self._file.note,
            )
            for one, note in zip(answers, notes, strict=True)
        )  # fmt: skip
        for outcome, note in zip(outcomes, notes, strict=True):
            if outcome not in ("added", "changed"):
                self._file.drop_note(note)
        return outcomes

    async def finish(self, study: ReviewStudy, annotator: int) -> None:
        """Close the answers of an annotator: from now on they may see the gold."""
        await self._writer.post(
            lambda connection: connection.execute(
                "insert into participations values (?, ?, ?) on conflict do nothing",
                (study.seq, annotator, time.time()),
            )
        )

    def has_finished(self, study: ReviewStudy, annotator: int) -> bool:
        """Whether an annotator's answers are closed."""
        row = self._reader.execute(
            "select 1 from participations where study = ? and annotator = ?", (study.seq, annotator)
        ).fetchone()
        return row is not None
