"""Copy what a run has at providers in batches; what one of the runs has taken is taken."""

from __future__ import annotations

from pipeline.store.merging.target import MergeTarget, numbered

_RANK = "case {0}.state when 'intended' then 0 when 'submitted' then 1 else 2 end"
_REACHED = f"""
    update main.batches as m set (remote, submitted_at, state, outcome, ended_at) = (
        select s.remote, s.submitted_at, s.state, s.outcome, s.ended_at
            from src.batches s where s.token = m.token)
        where exists (select 1 from src.batches s where s.token = m.token
            and {_RANK.format("s")} > {_RANK.format("m")})"""  # noqa: S608 - constants only
_OF_SOURCE = """from src.reservations s join temp.seqs n on n.kind = 'batch' and n.old = s.batch
    where n.new = m.batch and s.place = m.place"""
_TAKEN = f"""
    delete from main.reservations as m where batch in (select new from temp.shared_batches)
        and not exists (select 1 {_OF_SOURCE})"""  # noqa: S608 - constants only
_RESULTS = f"""
    update main.reservations as m set result = (select s.result {_OF_SOURCE})
        where result is null and batch in (select new from temp.shared_batches)"""  # noqa: S608
_NEW = """
    case when s.batch is not null then batch.new not in (select new from temp.shared_batches)
    else not exists (select 1 from main.reservations m where m.reserved_at = s.reserved_at
        and m.tokens = s.tokens and m.usd is s.usd) end"""


def take_batches(target: MergeTarget) -> None:
    """Take batches and reservations of the attached source.

    Of a batch that several runs know, because one is a copy of the other, what came back is kept,
    and of its requests those that no run has recorded yet.
    """
    run = target.connection
    run.execute(
        "create temp table if not exists shared_batches (new integer primary key) without rowid"
    )
    run.execute("delete from temp.shared_batches")
    run.execute(
        "insert into temp.shared_batches"
        " select m.seq from main.batches m join src.batches s on s.token = m.token"
    )
    run.execute(_REACHED)
    target.copy("batches", without="seq")
    target.number("batch", "batches", "m.token = s.token")
    run.execute(_TAKEN)
    run.execute(_RESULTS)
    target.copy(
        "reservations",
        {"batch": "batch.new"},
        joined=numbered("batch", "s.batch", optional=True),
        where=_NEW,
        without="seq",
    )
