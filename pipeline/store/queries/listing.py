"""List the dialogues of a run that pass a filter: how they ended, what became of them, first words."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path

import orjson

from pipeline.store.annotation_schema import DECLARED_SOURCE
from pipeline.store.queries.endings import ENDING_COLUMNS, Ending, ending_from
from pipeline.store.reading import open_snapshot
from pipeline.store.sqlite import parsing

_ONE_OF = "(:{0} is null or {1} collate nocase in (select value from json_each(:{0})))"
_FLAG = """(:flags is null or exists (
    select 1 from newest_assessments n join flags f on f.assessment = n.seq
    where n.dialogue = d.seq and f.code collate nocase in (select value from json_each(:flags))))"""
_VERDICT = "(select verdict from newest_decisions n where n.dialogue = d.seq)"
# Several labels of one dimension are stored as one JSON list.
_LABEL = f"""(:labels is null or exists (
    select 1 from json_each(:labels) w where exists (
        select 1 from annotations l join dimensions x on x.seq = l.dimension
        where l.source = {DECLARED_SOURCE} and l.dialogue = d.seq
            and (json_extract(w.value, '$[0]') is null or x.id = json_extract(w.value, '$[0]') collate nocase)
            and (l.value = json_extract(w.value, '$[1]') collate nocase
                or cast(l.value as text) like '%"' || json_extract(w.value, '$[1]') || '"%'))))"""  # noqa: S608
_CODES = """(select group_concat(code) from (
    select distinct f.code from newest_assessments n join flags f on f.assessment = n.seq
    where n.dialogue = d.seq order by f.position))"""
_WORDS = """(select t.text from turns t where t.dialogue = d.seq
    order by t.kind <> 'improvised', t.turn limit 1)"""
# Put together of constants; what is asked for is bound by name.
_LISTED = f"""
    select {_VERDICT} as verdict, {_CODES}, {_WORDS}, {ENDING_COLUMNS}
    where (:status is null or d.status = :status)
        and {_ONE_OF.format("scenarios", "c.scenario")} and {_ONE_OF.format("facts", "c.fact")}
        and {_ONE_OF.format("goals", "c.goal")}
        and {_ONE_OF.format("strategies", "json_extract(a.description, '$.strategy')")}
        and (:arms is null or exists (
            select 1 from json_each(:arms) w where a.id like w.value || '%'))
        and (:verdicts is null or coalesce(verdict, 'undecided')
            in (select value from json_each(:verdicts)))
        and {_FLAG} and {_LABEL}
    order by d.case_seq, d.arm_seq limit :count offset :skip"""  # noqa: S608


_HELD = {
    "scenarios": "select distinct scenario from cases",
    "facts": "select distinct fact from cases",
    "goals": "select distinct goal from cases where goal is not null",
    "strategies": "select distinct json_extract(description, '$.strategy') from arms",
    "flags": "select distinct code from flags",
    "labels": f"""select distinct x.id || '=' || l.value from annotations l
        join dimensions x on x.seq = l.dimension
        where l.source = {DECLARED_SOURCE} and l.dialogue is not null""",  # noqa: S608
    "dimensions": "select id from dimensions",
}
"""What a run has of each field of a filter that takes names, and what anything in it is labelled by."""


@dataclass(frozen=True, slots=True)
class ListingFilter:
    """Which dialogues are listed; a field that is None restricts nothing, capitals do not matter."""

    status: str | None = None
    """``generated`` or ``failed``."""
    scenarios: Sequence[str] | None = None
    facts: Sequence[str] | None = None
    goals: Sequence[str] | None = None
    strategies: Sequence[str] | None = None
    arms: Sequence[str] | None = None
    """Beginnings of ids."""
    verdicts: Sequence[str] | None = None
    """Newest verdicts; ``undecided`` for none."""
    flags: Sequence[str] | None = None
    """Codes of flags."""
    labels: Sequence[tuple[str | None, str]] | None = None
    """Dimension, or None for any, and a label that some turn declares."""

    @property
    def names_several(self) -> bool:
        """Whether a field has several names, of which the run may know one and not another."""
        named = (
            self.scenarios, self.facts, self.goals, self.strategies, self.arms, self.flags, self.labels,
        )  # fmt: skip
        return any(names is not None and len(names) > 1 for names in named)

    def bound(self) -> dict[str, object]:
        """Return the values by the names that the query has for them."""
        return {
            field.name: value
            if (value := getattr(self, field.name)) is None or isinstance(value, str)
            else orjson.dumps(value).decode()
            for field in fields(self)
        }


@dataclass(frozen=True, slots=True)
class ListedDialogue:
    """A dialogue in a list."""

    ending: Ending
    verdict: str | None
    """The newest; None where nobody has decided."""
    flags: tuple[str, ...]
    """Codes, each once."""
    words: str
    """What was improvised first; nothing of a failed case."""


class DialogueListing:
    """Lists the dialogues of one run."""

    def __init__(self, reader: sqlite3.Connection) -> None:
        """Read with the given connection."""
        self._reader = reader

    def listed(
        self, wanted: ListingFilter, *, count: int = -1, skip: int = 0
    ) -> list[ListedDialogue]:
        """Return dialogues in the order of their cases.

        Args:
            wanted: which.
            count: how many at most; -1 for all.
            skip: how many of them to leave out before.
        """
        values = {**wanted.bound(), "count": count, "skip": skip}
        rows = self._reader.execute(_LISTED, values).fetchall()
        with parsing(self._reader, "a case"):
            return [
                ListedDialogue(
                    ending_from(row[3:]), row[0], tuple((row[1] or "").split(",")) * bool(row[1]),
                    row[2] or "",
                )
                for row in rows
            ]  # fmt: skip

    def held(self, field: str) -> list[str]:
        """Return what the run has of a field of the filter: ids, or labels as ``dimension=label``.

        Of ``dimensions``, which is no field, all that judges and people labelled by as well.
        """
        return sorted(str(row[0]) for row in self._reader.execute(_HELD[field]) if row[0])


@contextmanager
def open_listing(folder: Path) -> Iterator[DialogueListing]:
    """Give the list of a run's dialogues; whoever writes meanwhile is not held up.

    Raises:
        UsageError: the run was written by another version of hipo.
    """
    with open_snapshot(folder) as connection:
        yield DialogueListing(connection)
