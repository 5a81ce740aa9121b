"""Copy what a run consists of: configurations, material, arms, cases, and how the cases ended."""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.store.merging.target import MergeTarget, numbered

_BY_IDS = """
    join src.cases sc on sc.seq = s.case_seq join main.cases c on c.id = sc.id
    join src.arms sa on sa.seq = s.arm_seq join main.arms a on a.id = sa.id"""
_ENDED = f"""
    create temp table ended as
    select s.seq as old, c.seq as case_seq, a.seq as arm_seq, s.status, s.retry_epoch as tries,
        d.seq as there, d.status as status_there, d.retry_epoch as tries_there
    from src.dialogues s {_BY_IDS}
        left join main.dialogues d on d.case_seq = c.seq and d.arm_seq = a.seq
    order by s.seq"""  # noqa: S608 - constants only
_ENDING = "status, code, reason, retry_epoch, config_epoch, finished_at"
_RETRIED = "e.status_there = 'failed' and (e.status = 'generated' or e.tries > e.tries_there)"
"""A dialogue takes the place of a failure; of two failures the one after more tries counts, since the
answers to these tries are in the run and none of them is drawn again."""
_KEEP_FAILURES = f"""
    insert into main.failures
    select d.seq, d.retry_epoch, d.code, d.reason, d.config_epoch, d.finished_at
    from ended e join main.dialogues d on d.seq = e.there where {_RETRIED}
    on conflict do nothing"""  # noqa: S608
_REPLACE_FAILURES = f"""
    update main.dialogues set ({_ENDING}) = (
        select s.status, s.code, s.reason, s.retry_epoch, epoch.new, s.finished_at
        from ended e join src.dialogues s on s.seq = e.old {numbered("epoch", "s.config_epoch")}
        where e.there = main.dialogues.seq)
    where seq in (select e.there from ended e where {_RETRIED})"""  # noqa: S608
_OWN = f"""
    insert into temp.seqs select 'own', e.old, d.seq from ended e
        join main.dialogues d on d.case_seq = e.case_seq and d.arm_seq = e.arm_seq
    where e.there is null or ({_RETRIED})"""  # noqa: S608
_SPOKEN = "select turn, role, kind, text from {0}.turns where dialogue = {1}"
_DECLARED = (
    "select g.turn, x.id, g.value from {0}.annotations g join {0}.dimensions x on x.seq = g.dimension"
    " where g.source = 1 and g.dialogue = {1}"
)
_DIFFERENT = " or ".join(
    f"exists ({said.format(*one)} except {said.format(*other)})"
    for said in (_SPOKEN, _DECLARED)
    for one, other in (
        (("src", "e.old"), ("main", "e.there")),
        (("main", "e.there"), ("src", "e.old")),
    )
)
_BOTH = "e.status = 'generated' and e.status_there = 'generated'"
_CONFLICTS = f"""
    insert into temp.conflicts
    select c.id, a.id, o.source, ? from ended e join main.cases c on c.seq = e.case_seq
        join main.arms a on a.seq = e.arm_seq join temp.owners o on o.dialogue = e.there
    where {_BOTH} and ({_DIFFERENT})"""  # noqa: S608
_ALIKE = f"""
    insert into temp.seqs select 'dialogue', e.old, e.there from ended e
    where {_BOTH} and not ({_DIFFERENT})"""  # noqa: S608
_ORDERED = """
    insert into main.cases ({0}) select {0} from temp.known k left join temp.places p using (id)
    order by p.place is null, p.place, k.rowid"""


class DialogueMerging:
    """Takes every case once; of two runs that generated one, the first has the dialogue."""

    def __init__(self, target: MergeTarget) -> None:
        """Make the tables of the merge itself, which go with the connection."""
        self._target = target
        run = target.connection
        run.execute("create temp table known as select * from main.cases limit 0")
        run.execute("alter table temp.known drop column seq")
        run.execute("create unique index temp.known_id on known(id)")
        run.execute("create temp table places (id text primary key, place integer) without rowid")
        run.execute(
            "create temp table owners (dialogue integer primary key, source integer not null)"
        )
        run.execute(
            "create temp table conflicts (case_id text, arm text, kept integer, left_out integer)"
        )
        run.execute("create temp table alike (dialogue integer primary key)")

    def know(self) -> None:
        """Take in what the attached source is made of, and its cases; nothing twice."""
        target = self._target
        target.copy(
            "config_epochs",
            where="not exists (select 1 from main.config_epochs m where m.config = s.config)",
            without="epoch",
        )
        target.copy(
            "materials",
            conflict="on conflict do update set stored_at = max(stored_at, excluded.stored_at)",
            without="seq",
        )
        target.copy("arms", without="seq")
        target.copy("dimensions", without="seq")
        known = ", ".join(self._case_columns())
        target.connection.execute(
            f"insert into temp.known ({known}) select {known} from src.cases where true order by seq"  # noqa: S608
            " on conflict do nothing"
        )

    def _case_columns(self) -> list[str]:
        return [column for column in self._target.columns("cases") if column != "seq"]

    def put_cases(self, planned: Iterable[str]) -> None:
        """Store the cases of all sources in the order of the plan, others after them.

        Args:
            planned: the ids of the cases of the plan; gone through once.
        """
        run = self._target.connection
        run.execute("begin")
        run.executemany(
            "insert into temp.places values (?, ?) on conflict do nothing",
            ((case, place) for place, case in enumerate(planned)),
        )
        run.execute(_ORDERED.format(", ".join(self._case_columns())))
        run.execute("commit")

    def end(self, source: int) -> None:
        """Take the dialogues and failures of the attached source that are not there."""
        target, run = self._target, self._target.connection
        target.number("epoch", "config_epochs", "m.config = s.config")
        target.number("dimension", "dimensions", "m.id = s.id")
        run.execute("drop table if exists temp.ended")
        run.execute(_ENDED)
        run.execute("create unique index temp.ended_old on ended(old)")
        run.execute("create index temp.ended_there on ended(there)")
        run.execute(_KEEP_FAILURES)
        run.execute(_REPLACE_FAILURES)
        target.copy(
            "dialogues",
            {"case_seq": "e.case_seq", "arm_seq": "e.arm_seq", "config_epoch": "epoch.new"},
            joined="join ended e on e.old = s.seq" + numbered("epoch", "s.config_epoch"),
            where="e.there is null",
            without="seq",
        )
        run.execute(_OWN)
        run.execute(
            "insert into temp.owners select new, ? from temp.seqs where kind = 'own'"
            " on conflict do update set source = excluded.source",
            (source,),
        )
        run.execute(_CONFLICTS, (source,))
        run.execute(_ALIKE)
        run.execute(
            "insert into temp.alike select new from temp.seqs where kind = 'dialogue'"
            " on conflict do nothing"
        )
        run.execute(
            "insert into temp.seqs select 'dialogue', old, new from temp.seqs where kind = 'own'"
        )
        self._parts()

    def _parts(self) -> None:
        """Take what belongs to the dialogues that were taken."""
        target, own = self._target, numbered("own", "s.dialogue")
        for table in ("turns", "traces"):
            target.copy(table, {"dialogue": "own.new"}, joined=own)
        target.copy(
            "failures",
            {"dialogue": "own.new", "config_epoch": "epoch.new"},
            joined=own + numbered("epoch", "s.config_epoch"),
        )
        target.copy(
            "tracebacks", {"dialogue": "dialogue.new"}, joined=numbered("dialogue", "s.dialogue")
        )
        target.copy(
            "annotations",
            {"dialogue": "own.new", "dimension": "dimension.new"},
            joined=own + numbered("dimension", "s.dimension"),
            where="s.pass = 0",
        )
