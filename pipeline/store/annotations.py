"""Write annotations in passes, and read them back as one relation."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from sys import intern
from typing import Any

import orjson

from pipeline.store.many_rows import insert_rows, numbers_of
from pipeline.store.sqlite import parsing
from pipeline.store.traces import label_from, stored_label
from scenarios.annotations import ADJUDICATED, HUMAN, Annotation, Subject
from scenarios.quick_records import quickly_made
from scenarios.terms import LabelValue

WHOLE = -1
"""The turn number under which what concerns the whole dialogue is stored."""
Key = tuple[str, str]
"""(case, arm) ids of a dialogue."""

OF_KEYS = """
    from json_each(?) j join cases c on c.id = json_extract(j.value, '$[0]')
        join arms a on a.id = json_extract(j.value, '$[1]')
        join dialogues d on d.case_seq = c.seq and d.arm_seq = a.seq"""
_DIALOGUE = """
    select d.seq from dialogues d join cases c on c.seq = d.case_seq
        join arms a on a.seq = d.arm_seq where c.id = ? and a.id = ?"""
_SOURCE = "select seq from label_sources where kind = ? and who = ? and config = ?"
# What a new pass makes history: a judge is one whatever its configuration, a person answers each
# study apart, and of experts the last word in a study counts.
_SUPERSEDED = {
    HUMAN: "kind = :kind and who = :who and config = :config",
    ADJUDICATED: "kind = :kind and config = :config",
}
_SUPERSEDE = """
    update passes set newest = 0 where dialogue = :dialogue and newest
        and source in (select seq from label_sources where {})"""


def sent(source: str) -> str:
    """Return the condition that a label ``g`` is no person's whose form has not been sent.

    The page of a review keeps labels as soon as they are locked, so that the declared ones can be
    shown; they are an answer once the opinion on these is there, too, and count nowhere before.

    Args:
        source: the alias of what has ``kind``, ``who`` and ``config``.
    """
    return f"""not ({source}.kind = '{HUMAN}' and exists (
        select 1 from studies t join review_items i on i.study = t.seq and i.dialogue = g.dialogue
            join assignments n on n.item = i.seq join annotators p on p.seq = n.annotator
        where t.id = {source}.config and p.code = {source}.who and n.state <> 'done'))"""  # noqa: S608 - constants only


_COLUMNS = """g.turn, g.last_turn, g.part, s.kind, s.who, s.config, x.id, g.value, g.carried,
    g.rationale, g.raw, g.second"""
_SELECT = f"""
    select c.id, a.id, {_COLUMNS} {OF_KEYS}
        cross join label_sources s
        cross join annotations g on g.source = s.seq and g.dialogue = d.seq
        join dimensions x on x.seq = g.dimension
    where s.kind in (select value from json_each(?))
        and (g.pass = 0 or (select newest from passes p where p.seq = g.pass))
        and {sent("s")}
    order by j.key, g.pass, g.turn, x.id, g.position"""  # noqa: S608 - constants only


@dataclass(frozen=True, slots=True)
class LabelSource:
    """Who gives labels, how, and under which configuration."""

    kind: str
    who: str
    config: str


@quickly_made
@dataclass(frozen=True, slots=True)
class LabelRow:
    """A label of a pass, about one turn or the dialogue as a whole."""

    turn: int | None
    dimension: str
    value: LabelValue | None
    rationale: str = ""
    carried: bool | None = None
    raw: str | None = None
    last_turn: int | None = None
    part: str | None = None
    second: LabelValue | None = None


def add_pass(
    connection: sqlite3.Connection,
    dialogue: int,
    source: LabelSource,
    labels: Iterable[LabelRow],
    *,
    at: float,
    epoch: int = 0,
    readable: bool = True,
) -> int:
    """Store what one source says about one dialogue, inside the caller's transaction.

    What the same source said before stays as history.

    Args:
        connection: in a transaction that writes.
        dialogue: number of the dialogue.
        source: who says it; made known if need be.
        labels: what is said, in order.
        at: Unix time in seconds.
        epoch: how often it had been asked before, where an answer could not be read.
        readable: whether all of it could be read.

    Returns:
        The number of the pass.
    """
    mark = (source.kind, source.who, source.config)
    connection.execute(
        "insert into label_sources (kind, who, config) values (?, ?, ?) on conflict do nothing",
        mark,
    )
    (number,) = connection.execute(_SOURCE, mark).fetchone()
    rule = _SUPERSEDED.get(source.kind, "kind = :kind and who = :who")
    names = {"kind": source.kind, "who": source.who, "config": source.config}
    connection.execute(_SUPERSEDE.format(rule), {"dialogue": dialogue, **names})
    added = connection.execute(
        "insert into passes (dialogue, source, epoch, readable, newest, made_at)"
        " values (?, ?, ?, ?, 1, ?)",
        (dialogue, number, epoch, readable, at),
    )
    pass_ = added.lastrowid or 0
    add_labels(connection, [LabelSet(dialogue, number, list(labels), pass_)])
    return pass_


@quickly_made
@dataclass(frozen=True, slots=True)
class LabelSet:
    """The labels of one source about one dialogue."""

    dialogue: int
    source: int
    labels: Sequence[LabelRow]
    pass_: int = 0
    """Number of the pass; 0 for what came with the dialogue."""


def add_labels(connection: sqlite3.Connection, sets: Sequence[LabelSet]) -> None:
    """Store labels, those of each set numbered in the order they are given."""
    used = dict.fromkeys(row.dimension for one in sets for row in one.labels)
    numbers = numbers_of(connection, "dimensions", list(used))
    if new := [(dimension,) for dimension in used if dimension not in numbers]:
        insert_rows(connection, "dimensions (id)", new)
        numbers = numbers_of(connection, "dimensions", list(used))
    rows = [
        (
            one.source, one.dialogue, WHOLE if row.turn is None else row.turn, one.pass_, position,
            numbers[row.dimension], None if row.value is None else stored_label(row.value),
            row.carried, row.rationale, row.raw, row.last_turn, row.part,
            None if row.second is None else stored_label(row.second),
        )
        for one in sets
        for position, row in enumerate(one.labels)
    ]  # fmt: skip
    insert_rows(connection, "annotations", rows)


def add_annotations(
    connection: sqlite3.Connection, annotations: Iterable[Annotation], *, at: float
) -> None:
    """Store annotations of any dialogues, one pass per dialogue and source, in the order given.

    Raises:
        ValueError: an annotation is about a dialogue that is not in the run.
    """
    passes: dict[tuple[Key, LabelSource], list[LabelRow]] = {}
    for one in annotations:
        about = one.subject
        source = LabelSource(one.kind, one.who, one.config)
        row = LabelRow(
            about.turn, one.dimension, one.value, one.rationale, one.carried, one.raw,
            about.last_turn, about.part, one.second,
        )  # fmt: skip
        passes.setdefault(((about.case, about.arm), source), []).append(row)
    for (key, source), rows in passes.items():
        found = connection.execute(_DIALOGUE, key).fetchone()
        if found is None:
            raise ValueError(f"there is no dialogue {key[0]}/{key[1]} in this run")
        add_pass(connection, found[0], source, rows, at=at)


def read_annotations(
    connection: sqlite3.Connection,
    keys: Iterable[Key],
    kinds: Sequence[str],
    *,
    reasons: bool = True,
) -> Iterator[Annotation]:
    """Yield the newest annotations of some hundreds of dialogues, dialogue by dialogue.

    Args:
        connection: an open database of a run.
        keys: (case, arm) ids of the dialogues; the order is kept.
        kinds: which kinds, e.g. ``("declared", "human")``.
        reasons: whether they come with their reasons; of whoever holds many, these take most memory.
    """
    rows = connection.execute(_SELECT, (as_json(keys), orjson.dumps(list(kinds)).decode()))
    # Many are held at once: what they have in common is the same object in all of them.
    subjects: dict[Subject, Subject] = {}
    with parsing(connection, "a label"):
        for case, arm, turn, last, part, kind, who, config, dimension, value, *rest in rows:
            carried, rationale, raw, second = rest
            about = Subject(case, intern(arm), None if turn == WHOLE else turn, last, part)
            yield Annotation(
                subject=subjects.setdefault(about, about),
                kind=intern(kind),
                who=intern(who),
                dimension=intern(dimension),
                value=_label(value),
                rationale=rationale if reasons else "",
                config=intern(config),
                carried=None if carried is None else bool(carried),
                raw=raw,
                second=_label(second),
            )


def _label(value: Any) -> LabelValue | None:
    if isinstance(value, str):
        return intern(value)
    return None if value is None else label_from(value)


def as_json(keys: Iterable[Key]) -> str:
    """Return keys as the array that ``OF_KEYS`` reads."""
    return orjson.dumps([list(key) for key in keys]).decode()
