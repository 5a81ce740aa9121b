"""Studies: rounds of reviewing within a run, and the dialogues that are their items."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import orjson

from pipeline.store.assignments import PRIME
from pipeline.store.sqlite import parsing
from pipeline.store.writer import Writer
from scenarios.errors import UsageError
from scenarios.fingerprint import seed_from
from scenarios.reviews import Mode, ReviewStudy

Which = Literal["pending", "accepted", "all"]

_STUDY = "select seq, id, mode, per_item, seed, hidden from studies"
_CANDIDATES = {
    "pending": """
        select d.seq, c.id, a.id, c.scenario, s.seq from newest_decisions e
            join dialogues d on d.seq = e.dialogue join cases c on c.seq = d.case_seq
            join arms a on a.seq = d.arm_seq
            left join newest_assessments s on s.dialogue = d.seq
        where e.verdict = 'pending'""",
    "accepted": """
        select d.seq, c.id, a.id, c.scenario, s.seq from newest_decisions e
            join dialogues d on d.seq = e.dialogue join cases c on c.seq = d.case_seq
            join arms a on a.seq = d.arm_seq
            left join newest_assessments s on s.dialogue = d.seq
        where e.verdict = 'accepted'""",
    "all": """
        select d.seq, c.id, a.id, c.scenario, s.seq from dialogues d
            join cases c on c.seq = d.case_seq join arms a on a.seq = d.arm_seq
            left join newest_assessments s on s.dialogue = d.seq
        where d.status = 'generated'""",
}
_NOT_YET = (
    " and not exists (select 1 from review_items i where i.study = ? and i.dialogue = d.seq)"
    " order by d.seq"
)


@dataclass(frozen=True, slots=True)
class ReviewCandidate:
    """A dialogue that could become an item of a study."""

    seq: int
    case: str
    arm: str
    scenario: str
    reasons: tuple[str, ...]
    """Codes of its flags, each once."""


class StudyLog:
    """The studies of one run."""

    def __init__(self, reader: sqlite3.Connection, writer: Writer) -> None:
        """Read with ``reader``, write through ``writer``."""
        self._reader = reader
        self._writer = writer

    def all(self) -> list[ReviewStudy]:
        """Return the studies of the run, oldest first."""
        rows = self._reader.execute(f"{_STUDY} order by seq").fetchall()
        with parsing(self._reader, "a study"):
            return [_study(row) for row in rows]

    def get(self, study: str) -> ReviewStudy:
        """Return a study by its id.

        Raises:
            UsageError: there is none of this id.
        """
        for found in self.all():
            if found.id == study:
                return found
        known = ", ".join(found.id for found in self.all())
        raise UsageError(
            f"this run has no study {study!r}",
            f"it has: {known}" if known else "hipo review serve RUN begins one",
        )

    def drop_empty(self, study: ReviewStudy) -> None:
        """Take a study back that has no item; blocks until durable."""
        self._writer.run(
            lambda connection: connection.execute(
                "delete from studies where seq = ?"
                " and not exists (select 1 from review_items where study = studies.seq)",
                (study.seq,),
            )
        )

    def begin(
        self,
        study: str,
        mode: Mode,
        *,
        per_item: int,
        seed: int,
        hidden: Mapping[str, tuple[str, ...]],
    ) -> ReviewStudy:
        """Begin a study, or return the one that is there if it is the same; blocks until durable.

        Raises:
            UsageError: a study of this id has another mode, number of people or labels.
        """
        wanted = (mode, per_item, {key: tuple(labels) for key, labels in hidden.items()})
        for found in self.all():
            if found.id != study:
                continue
            if (found.mode, found.per_item, dict(found.hidden)) != wanted:
                raise UsageError(
                    f"the study {study!r} was begun as {_shown(found)}",
                    "go on with those options, or begin another study with --study NAME",
                )
            return found
        text = orjson.dumps(dict(hidden)).decode()
        self._writer.run(
            lambda connection: connection.execute(
                "insert into studies (id, mode, per_item, seed, hidden, created_at)"
                " values (?, ?, ?, ?, ?, ?)",
                (study, mode, per_item, seed, text, time.time()),
            )
        )
        return self.get(study)

    def candidates(self, study: ReviewStudy, which: Which) -> Iterator[ReviewCandidate]:
        """Yield dialogues that are no items yet: ``pending``, ``accepted`` or ``all``."""
        rows = self._reader.execute(_CANDIDATES[which] + _NOT_YET, (study.seq,)).fetchall()
        for seq, case, arm, scenario, assessment in rows:
            codes = self._reader.execute(
                "select distinct code from flags where assessment = ? order by code", (assessment,)
            )
            yield ReviewCandidate(seq, case, arm, scenario, tuple(code for (code,) in codes))

    def add_items(self, study: ReviewStudy, chosen: Iterable[tuple[ReviewCandidate, str]]) -> int:
        """Put (candidate, category) pairs into a study; returns how many were new."""
        now = time.time()
        rows = [
            (
                study.seq,
                c.seq,
                1 + seed_from(study.seed, study.id, c.case, c.arm) % (PRIME - 1),
                category,
                orjson.dumps(c.reasons).decode(),
                now,
            )
            for c, category in chosen
        ]
        if not rows:
            return 0

        def write(connection: sqlite3.Connection) -> int:
            return connection.executemany(
                "insert into review_items (study, dialogue, rank, category, reasons, added_at)"
                " values (?, ?, ?, ?, ?, ?) on conflict do nothing",
                rows,
            ).rowcount

        return self._writer.run(write)


def _study(row: Sequence[Any]) -> ReviewStudy:
    seq, study, mode, per_item, seed, hidden = row
    labels = {key: tuple(values) for key, values in orjson.loads(hidden).items()}
    return ReviewStudy(seq, study, mode, per_item, seed, labels)


def _shown(study: ReviewStudy) -> str:
    hidden = "; ".join(f"{key} without {', '.join(v)}" for key, v in study.hidden.items())
    return f"{study.mode} by {study.per_item} each" + (f", {hidden}" if hidden else "")
