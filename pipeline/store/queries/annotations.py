"""Read the annotations of a run, whatever their kind, from one snapshot."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import orjson

from pipeline.chunks import chunks
from pipeline.store.annotations import Key, read_annotations, sent
from pipeline.store.reading import open_snapshot
from scenarios.annotations import Annotation

PAGE = 500
_KEYS = """
    select c.id, a.id from dialogues d join cases c on c.seq = d.case_seq
        join arms a on a.seq = d.arm_seq
    where d.status = 'generated' and d.seq in (
        select dialogue from annotations where source in (
            select seq from label_sources where kind in (select value from json_each(?))))
    order by d.case_seq, d.arm_seq"""
_SOURCES = f"""
    select g.kind, g.who, g.config, count(*) from newest_annotations g
    where {sent("g")} group by 1, 2, 3 order by 1, 2, 3"""  # noqa: S608 - constants only


@dataclass(frozen=True, slots=True)
class SourceCount:
    """How many labels one source gave, when it last went through each dialogue."""

    kind: str
    who: str
    config: str
    labels: int


class AnnotationReader:
    """Reads what is annotated; use :func:`open_annotations`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Read with the given connection."""
        self._connection = connection

    def sources(self) -> list[SourceCount]:
        """Return everybody and everything that gave labels."""
        return [SourceCount(*row) for row in self._connection.execute(_SOURCES)]

    @cached_property
    def quizzes(self) -> frozenset[str]:
        """The studies in which people label without the fact, as models do: what they say is no gold."""
        found = self._connection.execute("select id from studies where mode = 'quiz'")
        return frozenset(study for (study,) in found)

    def has(self, kind: str) -> bool:
        """Return whether anybody or anything of a kind gave labels; looks at no label."""
        query = "select exists (select 1 from label_sources where kind = ?)"
        return bool(self._connection.execute(query, (kind,)).fetchone()[0])

    def knows(self, dimensions: Sequence[str]) -> bool:
        """Return whether anybody may have labelled one of these dimensions; looks at no label."""
        known = {name for (name,) in self._connection.execute("select id from dimensions")}
        return not known.isdisjoint(dimensions)

    def annotations(self, kinds: Sequence[str], *, reasons: bool = True) -> Iterator[Annotation]:
        """Yield the newest annotations of some kinds, dialogue by dialogue; looks at no other dialogue.

        Args:
            kinds: e.g. ``("declared", "human")``.
            reasons: whether they come with their reasons.
        """
        wanted = orjson.dumps(list(kinds)).decode()
        keys = self._connection.execute(_KEYS, (wanted,))
        yield from self.of(keys, kinds, reasons=reasons)

    def of(
        self, keys: Iterable[Key], kinds: Sequence[str], *, reasons: bool = True
    ) -> Iterator[Annotation]:
        """Yield the newest annotations of some kinds of the dialogues with these (case, arm) ids."""
        for page in chunks(keys, PAGE):
            yield from read_annotations(self._connection, page, kinds, reasons=reasons)


@contextmanager
def open_annotations(folder: Path) -> Iterator[AnnotationReader]:
    """Give the annotations of a run; whoever writes meanwhile is not held up.

    Raises:
        UsageError: the run was written by another version of hipo.
    """
    with open_snapshot(folder) as connection:
        yield AnnotationReader(connection)
