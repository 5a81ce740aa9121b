"""Copy the calls of a run: prompts, requests with their costs, choices, and what is reserved."""

from __future__ import annotations

from pipeline.store.merging.batches import take_batches
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


class CallMerging:
    """Takes every request once, and every answer to a prompt that has none yet."""

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
        take_batches(target)
        if sent:
            run.execute(
                "update main.totals set cached_choices = cached_choices"
                " + (select cached_choices from src.totals)"
            )
