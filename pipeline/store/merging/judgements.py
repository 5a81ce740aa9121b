"""Copy what is thought of dialogues: passes with their labels, flags, and decisions."""

from __future__ import annotations

from pipeline.store.merging.target import MergeTarget, numbered

_WHO = (
    "coalesce((select k.new from temp.codes k"
    " where k.old = s.who and s.kind in ('human', 'adjudicated')), s.who)"
)
_FRESH = f"""
    insert into temp.seqs
    select 'fresh', s.seq, s.seq + (select coalesce(max(seq), 0) from main.passes)
    from src.passes s {numbered("dialogue", "s.dialogue")} {numbered("source", "s.source")}
    where not exists (
        select 1 from main.passes m where m.dialogue = dialogue.new and m.source = source.new
            and m.epoch = s.epoch and m.made_at = s.made_at)"""  # noqa: S608 - constants only
# As in ``pipeline.store.annotations``: what a pass of the same source makes history.
_SUPERSEDED = """
    update main.passes set newest = 0 where newest and dialogue in (select dialogue from temp.alike)
        and exists (
            select 1 from main.passes o join main.label_sources os on os.seq = o.source
                join main.label_sources s on s.seq = passes.source
            where o.dialogue = passes.dialogue and o.newest and os.kind = s.kind
                and (os.who = s.who or s.kind = 'adjudicated')
                and (os.config = s.config or s.kind not in ('human', 'adjudicated'))
                and (o.made_at, o.seq) > (passes.made_at, passes.seq))"""
# What ``JudgementLog`` would not have stored: a policy never overrules a person.
_OVERRULED = """
    delete from temp.staged_decisions where "by" like 'policy:%' and exists (
        select 1 from temp.staged_decisions p where p.dialogue = staged_decisions.dialogue
            and p."by" not like 'policy:%' and p.decided_at <= staged_decisions.decided_at)"""
_CONTRADICTING = """
    select c.id, a.id from (
        select dialogue from (
            select run, dialogue, verdict, max(seq) from temp.staged_decisions
                where "by" = 'review' group by run, dialogue)
        where verdict in ('accepted', 'discarded')
        group by dialogue having count(distinct verdict) > 1) r
    join main.dialogues d on d.seq = r.dialogue join main.cases c on c.seq = d.case_seq
    join main.arms a on a.seq = d.arm_seq order by d.seq"""
_STAGED = ("assessments", "decisions")
_AT = {"assessments": "assessed_at", "decisions": "decided_at"}
_SAME = {
    "assessments": "dialogue, config, assessed_at",
    "decisions": 'dialogue, verdict, "by", decided_at',
}


class JudgementMerging:
    """Takes what judges, gates and policies said of the dialogues that were taken.

    The newest of several counts, so that assessments and decisions are put in the order of their
    time once all are known.
    """

    def __init__(self, target: MergeTarget) -> None:
        """Make the tables that hold them until then."""
        self._target = target
        run = target.connection
        run.execute("create temp table codes (old text primary key, new text not null)")
        for table in _STAGED:
            run.execute(
                f"create temp table staged_{table} as select 0 as run, * from main.{table} limit 0"  # noqa: S608
            )
        run.execute("create temp table staged_flags as select 0 as run, * from main.flags limit 0")

    def take(self, source: int) -> None:
        """Take the judgements of the attached source; ``temp.codes`` says how people are called."""
        target, run = self._target, self._target.connection
        target.copy("label_sources", {"who": _WHO}, without="seq")
        target.number(
            "source",
            "label_sources",
            f"m.kind = s.kind and m.config = s.config and m.who = {_WHO}",
        )
        run.execute(_FRESH)
        target.copy(
            "passes",
            {"seq": "fresh.new", "dialogue": "dialogue.new", "source": "source.new"},
            joined=numbered("fresh", "s.seq")
            + numbered("dialogue", "s.dialogue")
            + numbered("source", "s.source"),
        )
        target.number(
            "pass",
            "passes",
            "m.dialogue = dialogue.new and m.source = source.new and m.epoch = s.epoch"
            " and m.made_at = s.made_at",
            numbered("dialogue", "s.dialogue") + numbered("source", "s.source"),
        )
        target.copy(
            "annotations",
            {
                "pass": "fresh.new",
                "dialogue": "dialogue.new",
                "source": "source.new",
                "dimension": "dimension.new",
            },
            joined=numbered("fresh", "s.pass")
            + numbered("dialogue", "s.dialogue")
            + numbered("source", "s.source")
            + numbered("dimension", "s.dimension"),
        )
        for table in _STAGED:
            columns = target.columns(table)
            values = ", ".join("dialogue.new" if c == "dialogue" else f's."{c}"' for c in columns)
            run.execute(
                f"insert into temp.staged_{table} select ?, {values} from src.{table} s"  # noqa: S608
                f" {numbered('dialogue', 's.dialogue')} order by s.seq",
                (source,),
            )
        run.execute("insert into temp.staged_flags select ?, s.* from src.flags s", (source,))

    def contradicting(self) -> tuple[tuple[str, str], ...]:
        """Return case and arm of what people accepted in one run and discarded in another."""
        return tuple(self._target.connection.execute(_CONTRADICTING).fetchall())

    def finish(self) -> None:
        """Store what was put aside, oldest first, and let the newest passes be the newest."""
        run = self._target.connection
        run.execute("begin")
        run.execute(_SUPERSEDED)
        run.execute("create index temp.staged_decisions_of on staged_decisions(dialogue)")
        run.execute(_OVERRULED)
        for table in _STAGED:
            same, kept = _SAME[table], [c for c in self._target.columns(table) if c != "seq"]
            names = ", ".join(f'"{column}"' for column in kept)
            # Of what came with several runs, the first; SQLite takes the other columns from its row.
            run.execute(
                f"create temp table chosen_{table} as"  # noqa: S608
                f" select min(run * 4294967296 + seq) as place, run, seq, {names}"
                f" from temp.staged_{table} group by {same} order by {_AT[table]}, place"
            )
            run.execute(
                f"insert into main.{table} (seq, {names}) select rowid, {names}"  # noqa: S608
                f" from temp.chosen_{table} order by rowid"
            )
        flags = [column for column in self._target.columns("flags") if column != "assessment"]
        run.execute("create index temp.staged_flags_of on staged_flags(run, assessment)")
        run.execute(
            f"insert into main.flags (assessment, {', '.join(flags)})"  # noqa: S608
            f" select c.rowid, {', '.join(f'f.{column}' for column in flags)}"
            " from temp.chosen_assessments c"
            " join temp.staged_flags f on f.run = c.run and f.assessment = c.seq"
        )
        run.execute("commit")
