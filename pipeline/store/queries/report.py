"""Sums over a whole run, computed where the data is: what reports and studies are drawn from."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from pipeline.store.queries.report_rows import (
    CaseVotes,
    EndingCount,
    FlaggedCount,
    LabelCount,
    NamedCount,
    PairCount,
    PersonAnswer,
    RequestCount,
    Sample,
    TrialCount,
    UtteranceCount,
    VoteCount,
)
from pipeline.store.reading import open_snapshot
from pipeline.store.sqlite import parsing
from pipeline.store.traces import Stored, label_from
from scenarios.annotations import IMPORT

T = TypeVar("T")

_ENDINGS = """
    select a.id, c.scenario, c.fact, c.goal, c.turns, d.status, e.verdict,
        case when e.by like 'policy:%' then 'policy' else coalesce(e.by, '') end,
        coalesce(s.flagged, 0), count(*)
    from dialogues d join cases c on c.seq = d.case_seq join arms a on a.seq = d.arm_seq
        left join newest_decisions e on e.dialogue = d.seq
        left join newest_assessments s on s.dialogue = d.seq
    group by 1, 2, 3, 4, 5, 6, 7, 8, 9 order by 1, 2, 3, 4, 5, 6, 7, 8, 9"""
_POLICIES = """
    select distinct substr(e.by, 8) from newest_decisions e where e.by like 'policy:%' order by 1"""
_UTTERANCES = """
    select a.id, c.scenario, count(*)
    from labelled_turns t join dialogues d on d.seq = t.dialogue join cases c on c.seq = d.case_seq
        join arms a on a.seq = d.arm_seq
    group by 1, 2 order by 1, 2"""
_LABELS = """
    select a.id, e.verdict, x.id, l.value, count(*)
    from annotations l join dialogues d on d.seq = l.dialogue join arms a on a.seq = d.arm_seq
        join dimensions x on x.seq = l.dimension
        left join newest_decisions e on e.dialogue = l.dialogue
    where l.source = 1 group by 1, 2, 3, 4 order by 1, 2, 3, 4"""
# Two selections of one relation, label by label about the same subject: who gave the first, who
# gave the second, and which column of them is compared. The plus keeps SQLite from deriving a range
# of turns for the second, which it would search instead of the one turn.
_PAIRS = """
    select {by}, x.id, f.{column}, s.{column}, count(*)
    from newest_annotations f join newest_annotations s on s.dialogue = f.dialogue
            and s.turn = f.turn and s.dimension = f.dimension
            and s.last_turn is f.last_turn and s.part is f.part
        join dimensions x on x.seq = f.dimension
    where +f.turn >= {since} and f.kind = '{first}' and s.kind = '{second}' and {which}
        and f.{column} is not null and s.{column} is not null
    group by 1, 2, 3, 4 order by 1, 2, 3, 4"""
_WANTED = _PAIRS.format(
    by="''", column="value", first="wanted", second="declared", since=0, which="true"
)
_ANEW = _PAIRS.format(
    by="s.who", column="value", first="declared", second="self", since=0, which="true"
)
_NAMED = """
    select s.kind, s.who, x.id, c.scenario, c.goal, f.value, s.value, s.second, count(*)
    from newest_annotations f join newest_annotations s on s.dialogue = f.dialogue
            and s.turn = f.turn and s.dimension = f.dimension
            and s.last_turn is f.last_turn and s.part is f.part
        join dimensions x on x.seq = f.dimension
        join dialogues d on d.seq = f.dialogue join cases c on c.seq = d.case_seq
    where +f.turn >= 0 and f.kind = 'declared' and s.kind in ('self', 'external')
        and s.value is not null
    group by 1, 2, 3, 4, 5, 6, 7, 8
    union all
    select s.kind, s.who, x.id, c.scenario, c.goal, c.goal, s.value, s.second, count(*)
    from newest_annotations s join dimensions x on x.seq = s.dimension
        join dialogues d on d.seq = s.dialogue join cases c on c.seq = d.case_seq
    where s.turn = -1 and s.kind in ('self', 'external') and x.id = ? and c.goal <> ''
        and s.value is not null
    group by 1, 2, 3, 4, 5, 6, 7, 8 order by 1, 2, 3, 4, 5, 6, 7, 8"""
_LANGUAGES = """
    select c.language, count(*) from dialogues d join cases c on c.seq = d.case_seq
    where d.status = 'generated' group by 1 order by 2 desc, 1"""
_TRIALS = """
    select g.who, x.id, g.dialogue, g.part = 'foil', sum(g.carried), count(g.carried)
    from newest_annotations g join dimensions x on x.seq = g.dimension
    where g.kind = 'foil' and g.carried is not null group by 1, 2, 3, 4 order by 1, 2, 3, 4"""
_JUDGE_PAIRS = _PAIRS.format(
    by="f.who || char(10) || s.who", column="carried", first="external", second="external",
    since=-1, which="s.who > f.who",
)  # fmt: skip
# Summed up by judge run first: the rest of what they are grouped by is looked up once for each.
_VOTES = """
    select a.id, s.source, s.judge, x.id, s.whole, c.scenario, c.fact, c.goal, c.turns,
        sum(s.yes), sum(s.judged), sum(s.unreadable)
    from (
        select g.dialogue, g.kind as source, g.who as judge, g.dimension, g.turn = -1 as whole,
            coalesce(sum(g.carried), 0) as yes, count(g.carried) as judged,
            sum(g.carried is null and g.value is null) as unreadable
        from newest_annotations g where g.kind in ('self', 'external')
        group by g.source, g.dialogue, g.pass, g.dimension, g.turn = -1) s
        join dimensions x on x.seq = s.dimension join dialogues d on d.seq = s.dialogue join cases c on c.seq = d.case_seq
        join arms a on a.seq = d.arm_seq
    group by 1, 2, 3, 4, 5, 6, 7, 8, 9 order by 1, 2, 3, 4, 5, 6, 7, 8, 9"""
_CASE_VOTES = """
    select c.id, c.scenario, c.goal, g.kind, x.id, g.turn = -1,
        coalesce(sum(g.carried), 0), count(g.carried)
    from newest_annotations g join dimensions x on x.seq = g.dimension
        join dialogues d on d.seq = g.dialogue join cases c on c.seq = d.case_seq
        join arms a on a.seq = d.arm_seq
    where g.kind in ('self', 'external') and a.id = ? group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6"""
_FLAGGED = """
    select e.verdict, c.scenario, c.goal, f.code, count(distinct s.dialogue)
    from newest_assessments s join flags f on f.assessment = s.seq
        join dialogues d on d.seq = s.dialogue join cases c on c.seq = d.case_seq
        left join newest_decisions e on e.dialogue = s.dialogue
    group by 1, 2, 3, 4 order by 5 desc, 1, 2, 3, 4"""
_ASKED_AGAIN = """
    select case when purpose like '%/reframe-%' then 'reframe' else 'repair' end, count(*)
    from requests where purpose like '%/reframe-%' or purpose like '%/repair-%'
    group by 1 order by 1 desc"""
_REQUESTS = """
    select role, model, code, count(*), sum(n_asked), coalesce(sum(prompt_tokens), 0),
        coalesce(sum(completion_tokens), 0), coalesce(sum(cost_usd), 0), sum(cost_usd is null),
        coalesce(sum(charged_usd), 0)
    from requests group by 1, 2, 3 order by 1, 2, 3"""
_LATENCIES = """
    select role, model, cast(round(latency_s * 1000) as integer), count(*)
    from requests where code = 'ok' group by 1, 2, 3 order by 1, 2, 3"""
_OMITTED = """
    select distinct model, omitted from requests where code = 'ok' and omitted <> '' order by 1, 2"""
_CHOICES = "select status, count(*) from choices group by 1 order by 2 desc, 1"
_SAMPLES = """
    select id, arm, scenario, goal, turns, verdict from (
        select c.id || '/' || a.id as id, a.id as arm, c.scenario, c.goal, c.turns, e.verdict, c.seq, d.arm_seq,
            row_number() over (
                partition by c.scenario, c.goal, d.arm_seq
                order by coalesce(e.verdict, '') = 'discarded', c.turns = 1, c.seq) as place
        from dialogues d join cases c on c.seq = d.case_seq join arms a on a.seq = d.arm_seq
            left join newest_decisions e on e.dialogue = d.seq
        where d.status = 'generated') where place = 1 order by seq, arm_seq"""
_WORST = """
    select c.id || '/' || a.id, a.id, c.scenario, c.goal, c.turns, e.verdict
    from newest_assessments s join flags f on f.assessment = s.seq
        join dialogues d on d.seq = s.dialogue join cases c on c.seq = d.case_seq
        join arms a on a.seq = d.arm_seq
        left join newest_decisions e on e.dialogue = d.seq
    group by s.seq
    order by coalesce(e.verdict, '') = 'discarded' desc, count(*) desc,
        max(coalesce(f.severity, 0)) desc, d.seq limit ?"""
_ANSWERS = f"""
    select t.mode, t.id || '/' || c.id || '/' || a.id || '#' || g.turn, g.who, x.id, g.value,
        c.id || '/' || a.id
    from newest_annotations g join studies t on t.id = g.config
        join annotators p on p.code = g.who
        join review_items i on i.study = t.seq and i.dialogue = g.dialogue
        join assignments s on s.item = i.seq and s.annotator = p.seq and s.state = 'done'
        join dimensions x on x.seq = g.dimension
        join dialogues d on d.seq = i.dialogue
        join cases c on c.seq = d.case_seq join arms a on a.seq = d.arm_seq
    where g.kind = 'human'
    union all
    select 'imported', g.config || '/' || c.id || '/' || a.id || '#' || g.turn, g.who, x.id, g.value,
        c.id || '/' || a.id
    from newest_annotations g join dimensions x on x.seq = g.dimension
        join dialogues d on d.seq = g.dialogue
        join cases c on c.seq = d.case_seq join arms a on a.seq = d.arm_seq
    where g.kind = 'human' and g.config like '{IMPORT}%' and g.value is not null
    order by 1, 2, 3, 4"""  # noqa: S608 - constants only
_TEXTS = """
    select p.text, exists (
        select 1 from dialogues o join labelled_turns t on t.dialogue = o.seq
        where o.case_seq = p.case_seq and o.arm_seq <> p.arm_seq and t.text = p.text)
    from (
        select t.text, d.case_seq, d.arm_seq, row_number() over (order by t.dialogue, t.turn) - 1 as place
        from labelled_turns t join dialogues d on d.seq = t.dialogue join arms a on a.seq = d.arm_seq
        where a.id = ?) p
    where (place * ?) / ? <> ((place - 1) * ?) / ? or place = 0 order by place"""


class Figures:
    """The sums of one run; all of them see the same state of it."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Read with a connection that is in a transaction."""
        self._connection = connection
        self._read = connection.execute

    def _labelled(
        self, statement: str, count: Callable[..., T], parameters: Sequence[object] = ()
    ) -> list[T]:
        """Return rows of which some values are labels; see :func:`label_from`."""
        with parsing(self._connection, "a label"):
            return [count(*row) for row in self._read(statement, parameters)]

    def endings(self) -> list[EndingCount]:
        """Count the dialogues by arm, scenario, fact, goal, turns, how they ended, and verdict."""
        counts = []
        for arm, scenario, fact, goal, turns, status, verdict, by, flagged, n in self._read(
            _ENDINGS
        ):
            part = (arm, scenario, fact, goal, turns, status, verdict, by)
            counts.append(EndingCount(*part, bool(flagged), n))
        return counts

    def languages(self) -> list[tuple[str, int]]:
        """Count the dialogues there are by their language, the commonest first."""
        return list(self._read(_LANGUAGES))

    def policies(self) -> list[str]:
        """Return the names of the policies whose verdicts stand."""
        return [name for (name,) in self._read(_POLICIES)]

    def utterances(self) -> list[UtteranceCount]:
        """Count the improvised answers by arm and scenario."""
        return [UtteranceCount(*row) for row in self._read(_UTTERANCES)]

    def labels(self) -> list[LabelCount]:
        """Count the declared labels by arm, verdict on the dialogue, dimension and value."""
        return self._labelled(
            _LABELS, lambda arm, by, d, value, n: LabelCount(arm, by, d, label_from(value), n)
        )

    def wanted(self) -> list[PairCount]:
        """Count (wanted, declared) labels."""
        return self._labelled(_WANTED, _pair)

    def anew(self) -> list[PairCount]:
        """Count (declared, labelled anew) labels, by self-judge."""
        return self._labelled(_ANEW, _pair)

    def named(self, assigned: str) -> list[NamedCount]:
        """Count labels that judges named without seeing the declared ones; ``assigned``: the goal."""
        return self._labelled(_NAMED, _named, (assigned,))

    def trials(self) -> list[TrialCount]:
        """Count accepted labels of those that judges were shown on trial, by dialogue."""
        return [
            TrialCount(judge, dimension, dialogue, bool(foil), accepted, shown)
            for judge, dimension, dialogue, foil, accepted, shown in self._read(_TRIALS)
        ]

    def votes(self) -> list[VoteCount]:
        """Count judgements by arm, judge, dimension, scenario, fact, goal and number of turns."""
        return [
            VoteCount(
                arm, source, judge, dimension, bool(whole), scenario, fact, goal, turns, yes, n,
                unread,
            )
            for arm, source, judge, dimension, whole, scenario, fact, goal, turns, yes, n, unread
            in self._read(_VOTES)
        ]  # fmt: skip

    def case_votes(self, arm: str) -> Iterator[CaseVotes]:
        """Yield the judgements about the dialogues of one arm, summed up by case."""
        for case, scenario, goal, source, dimension, whole, *sums in self._read(
            _CASE_VOTES, (arm,)
        ):
            yield CaseVotes(case, scenario, goal, source, dimension, bool(whole), *sums)

    def judge_pairs(self) -> list[PairCount]:
        """Count pairs of external verdicts (1 or 0); ``by`` is two judges, one a line."""
        rows = self._read(_JUDGE_PAIRS)
        return [PairCount(by, d, float(one), float(two), n) for by, d, one, two, n in rows]

    def flagged(self) -> list[FlaggedCount]:
        """Count dialogues by verdict, scenario, goal and code of their flags, the commonest first."""
        return [FlaggedCount(*row) for row in self._read(_FLAGGED)]

    def requests(self) -> list[RequestCount]:
        """Sum up requests by role, model and how they ended."""
        counts = [RequestCount(*row) for row in self._read(_REQUESTS)]
        with parsing(self._connection, "the tokens of requests"):
            if any(min(count.prompt_tokens, count.completion_tokens) < 0 for count in counts):
                raise ValueError("they are less than none")
        return counts

    def asked_again(self) -> list[tuple[str, int]]:
        """Return how many requests asked again: ``repair``, and ``reframe`` after a refusal."""
        return self._read(_ASKED_AGAIN).fetchall()

    def latencies(self) -> list[tuple[str, str, int, int]]:
        """Return (role, model, milliseconds, requests) of those that went well, quickest first."""
        return self._read(_LATENCIES).fetchall()

    def omitted(self) -> dict[str, frozenset[str]]:
        """Return what was left out of requests that went well since the model refuses it, by model."""
        found: dict[str, frozenset[str]] = {}
        for model, fields in self._read(_OMITTED):
            found[model] = found.get(model, frozenset()).union(fields.split())
        return found

    def choices(self) -> list[tuple[str, int]]:
        """Return (status, answers), the commonest first."""
        return self._read(_CHOICES).fetchall()

    def samples(self) -> list[Sample]:
        """Return one dialogue per scenario, goal and arm, in the order of the plan.

        Discarded ones are returned only where need be. Which was finished first is chance, and plays no part.
        """
        return [Sample(*row) for row in self._read(_SAMPLES)]

    def worst(self, limit: int) -> list[Sample]:
        """Return the dialogues with most flags, discarded ones first."""
        return [Sample(*row) for row in self._read(_WORST, (limit,))]

    def answers(self) -> list[PersonAnswer]:
        """Return what people answered in finished reviews; the newest revision counts."""
        return self._labelled(
            _ANSWERS,
            lambda mode, item, person, dimension, value, dialogue: PersonAnswer(
                mode, item, person, dimension, label_from(value), dialogue
            ),
        )

    def texts(self, arm: str, limit: int) -> list[tuple[str, bool]]:
        """Return at most ``limit`` improvised answers of an arm, evenly spaced over all of them.

        Each with whether another arm says the very same in the same case.
        """
        total = sum(count.n for count in self.utterances() if count.arm == arm)
        if not total:
            return []
        kept = min(limit, total)
        rows = self._read(_TEXTS, (arm, kept, total, kept, total))
        return [(text, bool(elsewhere)) for text, elsewhere in rows]


@contextmanager
def open_figures(folder: Path) -> Iterator[Figures]:
    """Give the sums of a run, read from one snapshot; whoever writes meanwhile is not held up.

    Raises:
        UsageError: the run was written by another version of hipo.
    """
    with open_snapshot(folder) as connection:
        yield Figures(connection)


def _pair(by: str, dimension: str, first: Stored, second: Stored, n: int) -> PairCount:
    return PairCount(by, dimension, label_from(first), label_from(second), n)


def _named(*row: Any) -> NamedCount:
    source, judge, dimension, scenario, goal, declared, label, second, n = row
    return NamedCount(
        source, judge, dimension, scenario, goal, label_from(declared), label_from(label),
        None if second is None else label_from(second), n,
    )  # fmt: skip
