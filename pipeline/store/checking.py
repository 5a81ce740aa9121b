"""Check the database of a run: SQLite's own checks, and what must hold between the tables."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from pipeline.store.case_rows import CASE_COLUMNS, case_from
from pipeline.store.config_epochs import read_configs
from pipeline.store.migrations import check_current
from pipeline.store.people_database import PEOPLE, refuse_foreign_people
from pipeline.store.queries.dialogues import DialogueReader
from pipeline.store.queries.status import read_state
from pipeline.store.queue_schema import WAITS
from pipeline.store.run_store import RunStore
from pipeline.store.sqlite import DATABASE, StoreDamaged, connect_readonly, parsing
from pipeline.store.traces import label_from
from scenarios.plural import plural

SHOWN = 20
"""Findings of one kind that SQLite lists at most."""
_SUMS = {
    "requests": "count(*)",
    "prompt_tokens": "coalesce(sum(prompt_tokens), 0)",
    "completion_tokens": "coalesce(sum(completion_tokens), 0)",
    "cached_tokens": "coalesce(sum(cached_tokens), 0)",
    "reasoning_tokens": "coalesce(sum(reasoning_tokens), 0)",
    "cost_usd": "coalesce(sum(cost_usd), 0)",
    "unpriced": "coalesce(sum(cost_usd is null), 0)",
    "charged_usd": "coalesce(sum(charged_usd), 0)",
    "charged_tokens": "coalesce(sum(charged_tokens), 0)",
}
_TALLIES = {
    "dialogues": (
        "tally",
        "select arm_seq, status, coalesce(code, ''), count(*) from dialogues group by 1, 2, 3",
        "select arm_seq, status, code, n from tally where n <> 0",
    ),
    "verdicts": (
        "verification_tally",
        "select verdict, count(*) from newest_decisions group by 1",
        "select name, n from verification_tally where kind = 'verdict' and n <> 0",
    ),
    "items that wait": (
        "queue_tally",
        f"""select study, category, reasons, sum({WAITS}) from review_items group by 1, 2, 3
            having sum({WAITS}) <> 0""",  # noqa: S608 - constants only
        "select study, category, reasons, n from queue_tally where n <> 0",
    ),
}
"""What is counted: the table that says how much there is, what the rows say, and what it says."""
_UNLIKE = """
    select exists (select * from ({0}) except select * from ({1}))
        or exists (select * from ({1}) except select * from ({0}))"""
_WITHOUT_TURNS = """
    select count(*) from dialogues d where status = 'generated' and not exists (
        select 1 from turns t where t.dialogue = d.seq)"""
_WITH_GAPS = """
    select count(*) from (
        select dialogue from turns group by 1 having min(turn) <> 0 or max(turn) + 1 <> count(*))"""

_LABELS = """
    select value from annotations where value is not null
    union select second from annotations where second is not null"""


@dataclass(frozen=True, slots=True)
class Damage:
    """One thing that is wrong with a run."""

    about: str
    """What it is about, in a word: ``database``, ``totals``, ``dialogues``, ..."""
    message: str


def check_database(folder: Path) -> list[Damage]:
    """Return everything that is wrong with the databases of a run; nothing is changed.

    Raises:
        UsageError: there is no run, or it is locked, may not be read, or is of another version.
    """
    path = folder / DATABASE
    try:
        if not RunStore.exists(folder):
            return [Damage("database", f"{path} holds no run")]
        with closing(connect_readonly(path)) as connection:
            check_current(connection, path)
            findings = [
                finding
                for check in (
                    _pages,
                    _references,
                    _configs,
                    _cases,
                    _totals,
                    _state,
                    _turns,
                    _labels,
                    _prompts,
                )
                for finding in _guarded(check, connection)
            ]
    except StoreDamaged as error:
        findings = [_finding(error)]
    people = folder / PEOPLE
    if people.is_file():
        try:
            with closing(connect_readonly(people)) as connection:
                refuse_foreign_people(connection, people)
                findings += [Damage("people", f.message) for f in _guarded(_pages, connection)]
        except StoreDamaged as error:
            findings.append(Damage("people", error.message))
    return findings


def _finding(error: StoreDamaged) -> Damage:
    return Damage("database", error.message)


def _guarded(
    check: Callable[[sqlite3.Connection], Iterator[Damage]], connection: sqlite3.Connection
) -> Iterator[Damage]:
    """Yield what a check finds, and what keeps it from going on."""
    try:
        yield from check(connection)
    except StoreDamaged as error:
        yield _finding(error)


def _pages(connection: sqlite3.Connection) -> Iterator[Damage]:
    for (message,) in connection.execute(f"pragma integrity_check({SHOWN})"):
        if message != "ok":
            yield Damage("database", message)


def _references(connection: sqlite3.Connection) -> Iterator[Damage]:
    counts: dict[tuple[str, str], int] = {}
    for table, _, parent, _ in connection.execute("pragma foreign_key_check"):
        counts[table, parent] = counts.get((table, parent), 0) + 1
    for (table, parent), n in counts.items():
        yield Damage(
            table,
            f"{plural(n, 'row')} of {table} {'refers' if n == 1 else 'refer'} to rows of {parent} that are not there",
        )


def _configs(connection: sqlite3.Connection) -> Iterator[Damage]:
    read_configs(connection)
    yield from ()


def _cases(connection: sqlite3.Connection) -> Iterator[Damage]:
    changed = 0
    with parsing(connection, "a case"):
        for row in connection.execute(f"select {CASE_COLUMNS} from cases"):  # noqa: S608 - constant
            changed += not is_case_whole(row)
    if changed:
        said = f"{plural(changed, 'case')} {'is' if changed == 1 else 'are'}"
        yield Damage("cases", f"{said} not what the id was made of")


def _state(connection: sqlite3.Connection) -> Iterator[Damage]:
    read_state(connection, alive=True)
    yield from ()


def _totals(connection: sqlite3.Connection) -> Iterator[Damage]:
    sums = ", ".join(f"({of}) as {name}" for name, of in _SUMS.items())
    row = connection.execute(f"select {sums} from requests").fetchone()  # noqa: S608 - constants
    stored = connection.execute(f"select {', '.join(_SUMS)} from totals").fetchone()  # noqa: S608
    if stored is None:
        yield Damage("totals", "the row of totals is gone")
        return
    for name, counted, kept in zip(_SUMS, row, stored, strict=True):
        if abs(counted - kept) > 1e-6 * max(1.0, abs(counted)):
            yield Damage("totals", f"{name} is {kept:,}, and the requests add up to {counted:,}")
    (wrong,) = connection.execute(
        "select (select cases from totals) <> (select count(*) from cases)"
    ).fetchone()
    if wrong:
        yield Damage("totals", "the number of cases is not that of the rows")
    for what, (about, counted, kept) in _TALLIES.items():
        (wrong,) = connection.execute(_UNLIKE.format(counted, kept)).fetchone()
        if wrong:
            yield Damage(about, f"the tally of {what} is not that of the rows")


def _turns(connection: sqlite3.Connection) -> Iterator[Damage]:
    for message, statement in (
        ("generated dialogues without their turns", _WITHOUT_TURNS),
        ("dialogues with a gap in their turns", _WITH_GAPS),
    ):
        (wrong,) = connection.execute(statement).fetchone()
        if wrong:
            yield Damage("dialogues", f"{wrong:,} {message}")
    for _ in DialogueReader(connection).dialogues():
        pass


def _labels(connection: sqlite3.Connection) -> Iterator[Damage]:
    with parsing(connection, "a label"):
        for (value,) in connection.execute(_LABELS):
            label_from(value)
    yield from ()


def _prompts(connection: sqlite3.Connection) -> Iterator[Damage]:
    texts: set[int] = set()
    changed = 0
    with parsing(connection, "a text"):
        for seq, digest, text in connection.execute("select seq, hash, text from texts"):
            texts.add(seq)
            changed += not is_text_whole(seq, digest, text)
    if changed:
        yield Damage(
            "texts",
            f"{plural(changed, 'text')} {'is' if changed == 1 else 'are'} not what was sent",
        )
    lost = 0
    with parsing(connection, "a prompt"):
        for (layout,) in connection.execute("select layout from prompts"):
            lost += not texts.issuperset(n for _, numbers in orjson.loads(layout) for n in numbers)
    if lost:
        yield Damage("prompts", f"{lost:,} prompts refer to texts that are not there")


def is_case_whole(row: Sequence[Any]) -> bool:
    """Return whether a stored case is what its id was made of."""
    case = case_from(row)
    return case.id == case.content


def is_text_whole(seq: int, digest: bytes, text: str) -> bool:
    """Whether a text is the one its hash was made of, or a mark for one that was lost."""
    whole = hashlib.sha256(text.encode()).digest()[:16]
    return digest in (whole, lost_text_hash(seq))


def lost_text_hash(seq: int) -> bytes:
    """Return the hash under which the mark for a lost text is stored."""
    return hashlib.sha256(b"lost text %d" % seq).digest()[:16]
