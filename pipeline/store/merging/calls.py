"""Copy the calls of a run: prompts, requests with their costs, choices, batches, and what is reserved."""

from __future__ import annotations

import sqlite3

from pipeline.store.excess import NO_EXCESS, read_excess, write_excess
from pipeline.store.merging.target import MergeTarget, numbered

_TEXTS_OF_MESSAGE = """
    select json_group_array(new) from (
        select text.new from json_each(message.value, '$[1]') n
            join temp.seqs text on text.kind = 'text' and text.old = n.value order by n.key)"""
_LAYOUT = f"""(
    select json_group_array(json(part)) from (
        select json_array(json_extract(message.value, '$[0]'), json(({_TEXTS_OF_MESSAGE}))) as part
        from json_each(s.layout) message order by message.key))"""  # noqa: S608 - constants only
_SAME = """m.sent_at = s.sent_at and m.prompt is prompt.new and m.purpose = s.purpose
    and m.latency_s = s.latency_s and m.code = s.code"""
_NEW = f"""case s.case_id
    when '' then not exists (select 1 from temp.caseless m where {_SAME})
    else not exists (select 1 from main.requests m where m.case_id = s.case_id and {_SAME}) end"""  # noqa: S608 - constants only
_CASELESS = (
    "drop table if exists temp.caseless",
    """create temp table caseless as select sent_at, prompt, purpose, latency_s, code
        from main.requests where case_id = ''""",
    "create index temp.caseless_sent_at on caseless(sent_at)",
)
"""What came with other sources of requests that belong to no case: those that were in flight when a
process died, of which nothing but their time is known, and which no index of the run tells apart."""
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
_NEW_RESERVATION = """
    case when s.batch is not null then batch.new not in (select new from temp.shared_batches)
    else not exists (select 1 from main.reservations m where m.reserved_at = s.reserved_at
        and m.tokens = s.tokens and m.usd is s.usd) end"""


class CallMerging:
    """Takes every request once, every answer to a prompt that has none yet, and what endpoints count."""

    def __init__(self, target: MergeTarget) -> None:
        """Copy into this database."""
        self._target = target

    def take(self) -> None:
        """Take the calls of the attached source; a request that came with another is not counted again."""
        target, run = self._target, self._target.connection
        target.copy("texts", without="seq")
        target.number("text", "texts", "m.hash = s.hash")
        target.copy("prompts", {"layout": _LAYOUT}, without="seq")
        target.number("prompt", "prompts", "m.fingerprint = s.fingerprint")
        prompt = numbered("prompt", "s.prompt", optional=True)
        for statement in _CASELESS:
            run.execute(statement)
        sent = target.copy(
            "requests", {"prompt": "prompt.new"}, joined=prompt, where=_NEW, without="seq"
        )
        target.copy("choices", {"prompt": "prompt.new"}, joined=numbered("prompt", "s.prompt"))
        _take_batches(target)
        _take_excess(run)
        if sent:
            run.execute(
                "update main.totals set cached_choices = cached_choices"
                " + (select cached_choices from src.totals)"
            )


def _take_excess(run: sqlite3.Connection) -> None:
    """Know of every endpoint the larger excess: the budget is held to what is on the bills of all."""
    known = read_excess(run)
    for address, excess in read_excess(run, "src").items():
        known[address] = known.get(address, NO_EXCESS).joined(excess)
    if known:
        write_excess(run, known)


def _take_batches(target: MergeTarget) -> None:
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
        where=_NEW_RESERVATION,
        without="seq",
    )
