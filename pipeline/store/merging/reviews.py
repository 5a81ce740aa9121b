"""Copy what people did: studies, items, who was given what, and what they answered."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from pipeline.store.merging.target import MergeTarget, numbered
from pipeline.store.people_database import (
    PEOPLE,
    connect_people,
    refuse_foreign_people,
    run_mark,
)
from pipeline.store.sqlite import connect_readonly
from scenarios.plural import plural

_DONE = """on conflict (item, annotator) do update set state = excluded.state,
    labelled_at = excluded.labelled_at, done_at = excluded.done_at, origin = excluded.origin
    where excluded.state = 'done' and assignments.state <> 'done'"""
_NOT_THERE = """not exists (
    select 1 from main.adjudications m where m.item = item.new and m.expert = expert.new
        and m.adjudicated_at = s.adjudicated_at)"""
_OTHER_STUDIES = """
    select s.id from src.studies s join main.studies m using (id)
    where (s.mode, s.per_item, s.seed, s.hidden) is not (m.mode, m.per_item, m.seed, m.hidden)"""
_LEFT_OUT = f"""
    select count(*) from src.reviews s join src.assignments g on g.seq = s.assignment
        join src.review_items i on i.seq = g.item
        {numbered("dialogue", "i.dialogue", optional=True)}
    where dialogue.new is null"""  # noqa: S608 - constants only


class ReviewMerging:
    """Takes studies by their names, people by their codes, and answers with both.

    A run gives out codes in order, so that two runs have the same for different people: somebody of
    whom the new run has another is given a new one.
    """

    def __init__(self, target: MergeTarget) -> None:
        """Let answers be stored whoever was given them: they were counted when they were given."""
        self._target = target
        run = target.connection
        self._guards = run.execute(
            "select name, sql from main.sqlite_schema where type = 'trigger' and name like 'never_%'"
        ).fetchall()
        for name, _ in self._guards:
            run.execute(f"drop trigger main.{name}")
        run.execute("create temp table answered (item integer not null)")

    def take_people(self) -> Iterator[str]:
        """Take the codes of the attached source; yield whose had to be changed, in words."""
        run = self._target.connection
        run.execute("delete from temp.codes")
        people = run.execute(
            "select code, role, created_at, erased_at from src.annotators order by seq"
        )
        for code, role, created_at, erased_at in people.fetchall():
            known = run.execute(
                "select created_at from main.annotators where code = ?", (code,)
            ).fetchone()
            new = code
            if known is not None and known != (created_at,):
                new = self._free_code(role, created_at)
                yield f"{code} is {new} there: another run knows somebody else as {code}"
            run.execute(
                "insert into main.annotators (code, role, created_at, erased_at) values (?, ?, ?, ?)"
                " on conflict (code) do update"
                " set erased_at = coalesce(annotators.erased_at, excluded.erased_at)",
                (new, role, created_at, erased_at),
            )
            run.execute("insert into temp.codes values (?, ?)", (code, new))

    def _free_code(self, role: str, created_at: float) -> str:
        """Return the code that somebody was given before, or the next that no run has."""
        run = self._target.connection
        before = run.execute(
            "select code from main.annotators where created_at = ? and role = ?", (created_at, role)
        ).fetchone()
        if before is not None:
            return str(before[0])
        (number,) = run.execute(
            "select 1 + max(cast(substr(code, 2) as integer)) from"
            " (select code from main.annotators union select code from src.annotators)"
        ).fetchone()
        return f"{'E' if role == 'expert' else 'A'}{number:02d}"

    def take(self) -> Iterator[str]:
        """Take studies and answers of the attached source; yield what is left out, in words."""
        target, run = self._target, self._target.connection
        for (study,) in run.execute(_OTHER_STUDIES).fetchall():
            yield f"the study {study} has other settings here: those of the first run are kept"
        target.copy("studies", without="seq")
        target.number("study", "studies", "m.id = s.id")
        target.number(
            "annotator", "annotators", "m.code = k.new", "join temp.codes k on k.old = s.code"
        )
        of_item = numbered("study", "s.study") + numbered("dialogue", "s.dialogue")
        target.copy(
            "review_items",
            {"study": "study.new", "dialogue": "dialogue.new", "waiting": "1"},  # answers follow
            joined=of_item,
            without="seq",
        )
        target.number(
            "item", "review_items", "m.study = study.new and m.dialogue = dialogue.new", of_item
        )
        target.copy(
            "participations",
            {"study": "study.new", "annotator": "annotator.new"},
            joined=numbered("study", "s.study") + numbered("annotator", "s.annotator"),
        )
        given = numbered("item", "s.item") + numbered("annotator", "s.annotator")
        target.copy(
            "assignments",
            {"item": "item.new", "annotator": "annotator.new"},
            joined=given,
            conflict=_DONE,
            without="seq",
        )
        target.number(
            "assignment", "assignments", "m.item = item.new and m.annotator = annotator.new", given
        )
        run.execute(
            "insert into temp.answered select distinct item.new from src.assignments s"  # noqa: S608
            f" {numbered('item', 's.item')} where s.state = 'done'"
        )
        target.copy(
            "reviews",
            {"assignment": "assignment.new"},
            joined=numbered("assignment", "s.assignment"),
        )
        target.copy(
            "adjudications",
            {"item": "item.new", "expert": "expert.new", "pass": "pass.new"},
            joined=numbered("item", "s.item")
            + numbered("annotator", "s.expert", "expert")
            + numbered("pass", "s.pass", optional=True),
            where=_NOT_THERE,
            without="seq",
        )
        (left_out,) = run.execute(_LEFT_OUT).fetchone()
        if left_out:
            yield f"left out with the dialogues they are about: {plural(left_out, 'answer')} of people"

    def take_private(self, source: Path, folder: Path) -> Iterator[str]:
        """Take names, accounts, notes and half-filled forms of the attached source.

        Nobody stays logged in. What was erased in one run is not brought back from another.

        Args:
            source: the folder of the run that is attached.
            folder: of the new run.
        """
        run = self._target.connection
        if (
            not (source / PEOPLE).is_file()
            or not run.execute("select 1 from temp.codes").fetchone()
        ):
            return
        codes = dict(run.execute(
            "select k.old, k.new from temp.codes k join main.annotators a on a.code = k.new"
            " where a.erased_at is null"
        ).fetchall())  # fmt: skip
        assignments = dict(
            run.execute("select old, new from temp.seqs where kind = 'assignment'").fetchall()
        )
        with (
            closing(connect_readonly(source / PEOPLE)) as old,
            closing(connect_people(folder, run_mark(run))) as new,
        ):
            refuse_foreign_people(old, source / PEOPLE)
            new.execute("begin immediate")
            yield from _copy_names(old, new, codes)
            for number, code, *words in old.execute("select * from notes"):
                if code in codes:
                    row = (number, codes[code], *words)
                    new.execute("insert into notes values (?, ?, ?, ?) on conflict do nothing", row)
            for assignment, code, *form in old.execute("select * from drafts"):
                if code in codes and assignment in assignments:
                    new.execute(
                        "insert into drafts values (?, ?, ?, ?, ?, ?) on conflict do nothing",
                        (assignments[assignment], codes[code], *form),
                    )
            _copy_attention(old, new, codes)
            new.execute("commit")

    def answered_apart(self) -> tuple[int, ...]:
        """Return the items that people answered in more than one run, in the order they were added."""
        rows = self._target.connection.execute(
            "select item from temp.answered group by item having count(*) > 1 order by item"
        )
        return tuple(item for (item,) in rows)

    def finish(self) -> None:
        """Put the words of experts in the order of their time, and guard answers again."""
        run = self._target.connection
        run.execute("begin")
        run.execute("create temp table decided as select * from main.adjudications")
        run.execute("delete from main.adjudications")
        kept = ", ".join(c for c in self._target.columns("adjudications") if c != "seq")
        run.execute(
            f"insert into main.adjudications ({kept}) select {kept} from temp.decided"  # noqa: S608
            " order by adjudicated_at, seq"
        )
        for _, statement in self._guards:
            run.execute(statement)
        run.execute("commit")


def _copy_attention(
    old: sqlite3.Connection, new: sqlite3.Connection, codes: dict[str, str]
) -> None:
    """Copy attention items, of which files from before there were any have no table."""
    if old.execute("select 1 from sqlite_schema where name = 'attention'").fetchone() is None:
        return
    for _, code, *row in old.execute("select * from attention order by seq"):
        if code in codes:
            marks = ", ".join("?" * (len(row) + 2))
            new.execute(
                f"insert into attention values ({marks}) on conflict do nothing",  # noqa: S608
                (None, codes[code], *row),
            )


def _copy_names(
    old: sqlite3.Connection, new: sqlite3.Connection, codes: dict[str, str]
) -> Iterator[str]:
    """Copy people who are not known yet; a name that somebody has already is left out."""
    for code, name, key, *rest in old.execute("select * from people"):
        if code not in codes:
            continue
        row = (codes[code], name, key, *rest)
        taken = new.execute(
            "select code from people where name_key = ? and code <> ?", (key, codes[code])
        ).fetchone()
        if taken is not None:
            yield f"{codes[code]} goes by the name of {taken[0]}, who keeps the account"
            row = (codes[code], None, None, 0, None, *rest[2:])
        marks = ", ".join("?" * len(row))
        new.execute(f"insert into people values ({marks}) on conflict do nothing", row)  # noqa: S608
