"""Put runs of one configuration together into a new database, every case once."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from pipeline.store.config_epochs import add_config
from pipeline.store.materials import SOUGHT
from pipeline.store.merging.calls import CallMerging
from pipeline.store.merging.dialogues import DialogueMerging
from pipeline.store.merging.judgements import JudgementMerging
from pipeline.store.merging.reviews import ReviewMerging
from pipeline.store.merging.target import MergeTarget, writing
from pipeline.store.migrations import migrate
from pipeline.store.sqlite import DATABASE
from scenarios.fingerprint import canonical_json
from scenarios.run_configuration import RunConfiguration

SHOWN = 100
"""Conflicts that are named one by one."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """A dialogue that two runs have, each its own."""

    case: str
    arm: str
    kept: Path
    """The run whose dialogue was taken."""
    left_out: Path


@dataclass(slots=True)
class Merged:
    """What came of a merge."""

    conflicts: int = 0
    """Dialogues that were left out because another run has another one of the case and arm."""
    shown: tuple[Conflict, ...] = ()
    """The first of them."""
    alike: int = 0
    """Dialogues that were in more than one run, word for word."""
    notes: list[str] = field(default_factory=list)
    """What else the user has to know, a sentence each."""
    answered_apart: tuple[int, ...] = ()
    """Numbers of the items of reviews that people answered in more than one run: what they decide
    together is for who knows the rules of reviews to say."""
    contradicting: tuple[tuple[str, str], ...] = ()
    """Case and arm of the dialogues that people accepted in one run and discarded in another."""


def merge_databases(
    sources: Sequence[Path],
    folder: Path,
    name: str,
    config: RunConfiguration,
    planned: Iterable[str] = (),
) -> Merged:
    """Put runs together in ``folder``, which is thrown away if anything goes wrong.

    Rows are copied inside SQLite, source by source: memory does not grow with the runs.

    Args:
        sources: folders of runs of the newest schema that nobody writes; of two runs that generated
            a case each in its own way, the first has it.
        folder: of the new run, empty.
        name: of the new run.
        config: what the new run goes on with.
        planned: the ids of the cases of its plan, in order; others come after them.
    """
    path = folder / DATABASE
    place = folder.with_name(name)
    with writing(place), closing(_created(path)) as connection:
        _begin(connection, name)
        merged = _RunMerge(MergeTarget(connection, place), sources, folder).run(planned)
        last = connection.execute(
            "select config from config_epochs order by epoch desc limit 1"
        ).fetchone()
        if last != (canonical_json(config.fields()).decode(),):
            connection.execute("begin")
            add_config(connection, config, ())
            connection.execute("commit")
    return merged


def _created(path: Path) -> sqlite3.Connection:
    """Make an empty run database without a journal: as a draft it is whole or of no use."""
    uri = f"file:{quote(str(path.resolve()))}"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None)
    migrate(connection, path)
    for pragma in ("journal_mode=off", "synchronous=off", "foreign_keys=on"):
        connection.execute(f"pragma {pragma}")
    return connection


def _begin(connection: sqlite3.Connection, name: str) -> None:
    now = repr(time.time())
    rows = [("name", name), ("created", now), ("state", "running"), ("state_at", now)]
    connection.executemany("insert into meta values (?, ?)", rows)


class _RunMerge:
    """One merge: first what all runs are made of, then what they hold."""

    def __init__(self, target: MergeTarget, sources: Sequence[Path], folder: Path) -> None:
        self._target = target
        self._sources = sources
        self._folder = folder
        self._dialogues = DialogueMerging(target)
        self._calls = CallMerging(target)
        self._judgements = JudgementMerging(target)
        self._reviews = ReviewMerging(target)

    def run(self, planned: Iterable[str]) -> Merged:
        merged = Merged()
        for source in self._sources:
            with self._target.attached(source / DATABASE):
                self._dialogues.know()
        self._dialogues.put_cases(planned)
        for number, source in enumerate(self._sources):
            with self._target.attached(source / DATABASE):
                merged.notes += [f"{source}: {note}" for note in self._take(number, source)]
        self._judgements.finish()
        self._reviews.finish()
        merged.answered_apart = self._reviews.answered_apart()
        merged.contradicting = self._judgements.contradicting()
        self._tell(merged)
        return merged

    def _take(self, number: int, source: Path) -> list[str]:
        notes = list(self._reviews.take_people())
        self._dialogues.end(number)
        self._calls.take()
        self._judgements.take(number)
        notes += self._reviews.take()
        notes += self._reviews.take_private(source, self._folder)
        self._target.connection.execute(
            "insert into main.meta select key, value from src.meta where key = ?"
            " on conflict do nothing",
            (SOUGHT,),
        )
        return notes

    def _tell(self, merged: Merged) -> None:
        run = self._target.connection
        (merged.conflicts,) = run.execute("select count(*) from temp.conflicts").fetchone()
        (merged.alike,) = run.execute("select count(*) from temp.alike").fetchone()
        rows = run.execute(
            "select case_id, arm, kept, left_out from temp.conflicts order by rowid limit ?",
            (SHOWN,),
        )
        merged.shown = tuple(
            Conflict(case, arm, self._sources[kept], self._sources[left_out])
            for case, arm, kept, left_out in rows.fetchall()
        )
