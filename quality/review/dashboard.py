"""Figures of the dashboard: progress, agreement, timing, quality control."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from quality.agreement.agreement import AgreementRow, agreement_table
from quality.agreement.annotations import Answer
from quality.agreement.annotators import annotator_agreement
from quality.annotation_qc.attention_scores import (
    AttentionScore,
    attention_findings,
    attention_scores,
)
from quality.annotation_qc.findings import Finding, QcSettings
from quality.annotation_qc.qc import annotation_qc
from quality.disagreement.difficulty import DifficultyRow, difficulty_table
from quality.review.answer_table import answers, timings
from quality.statistics.bootstrap import Resampling
from scenarios.errors import UsageError
from scenarios.reviews import AnnotatorTally, AttentionAnswer, Item, ReviewStudy, Sheet
from scenarios.schemes.model import Scheme
from scenarios.terms import RoleKey

QUICK = Resampling(resamples=200)
"""Intervals on the page are rough, so that it comes quickly; ``hipo review export`` and the report
use 2,000 resamples."""
SHOWN = 50
"""Findings of one annotator that are listed."""


@dataclass(frozen=True, slots=True)
class AnnotatorProgress:
    """How one annotator is doing."""

    code: str
    done: int
    open: int
    median_s: float | None
    idle_minutes: int | None
    finished: bool
    findings: int


@dataclass(frozen=True, slots=True)
class AgreementGrid:
    """Agreement by question and statistic, as it is read."""

    statistics: tuple[str, ...]
    rows: tuple[tuple[str, int, tuple[tuple[str, str], ...]], ...]
    """(question, items, (value, interval) of each statistic)."""
    undefined: tuple[str, ...] = ()
    """Why values are undefined, each reason once."""
    notes: tuple[str, ...] = ()
    """Which items alone values rest on, and why some have no interval."""


@dataclass(frozen=True, slots=True)
class BesideOthers:
    """One annotator's agreement with the others on one question, as it is read."""

    question: str
    annotator: str
    items: int
    value: str
    others: str
    """Of the others with each other; empty for fewer than two of them."""
    apart: bool
    """Whether it is so much less that somebody should look."""


@dataclass(frozen=True, slots=True)
class FoundThing:
    """One finding, with the item it is about."""

    reason: str
    question: str
    item: str
    """The beginning of its id, with the turn; empty where it is about no single item."""
    number: int | None
    """Of the item on the page; None: it cannot be opened."""


@dataclass(frozen=True, slots=True)
class FindingGroup:
    """What is to be looked at of one annotator, by kind; ``annotator`` empty: of items as such."""

    annotator: str
    kinds: tuple[tuple[str, int], ...]
    """(kind, how many), the commonest first."""
    things: tuple[FoundThing, ...]
    hidden: int


@dataclass(frozen=True, slots=True)
class Overview:
    """The dashboard."""

    items: int
    complete: int
    """Items with all their answers."""
    answers: int
    expected: int
    people: tuple[AnnotatorProgress, ...]
    agreement: AgreementGrid
    beside_others: tuple[BesideOthers, ...]
    attention: tuple[AttentionScore, ...]
    difficulty: Mapping[str, DifficultyRow]
    """By question."""
    minutes_left: int | None
    """What the open answers take at the usual pace; None: nobody has answered yet."""
    no_agreement: str
    """Why there is no agreement to show; empty if there is."""
    findings: tuple[FindingGroup, ...]


def overview(
    scheme: Scheme,
    study: ReviewStudy,
    sheets: Sequence[Sheet],
    items: Sequence[tuple[Item, int]],
    *,
    tallies: Sequence[AnnotatorTally],
    attention: Sequence[AttentionAnswer] = (),
    roles: Mapping[str, RoleKey] | None = None,
    now: float,
) -> Overview:
    """Compute the dashboard from the answers so far.

    Args:
        scheme: what is asked.
        study: how it is reviewed.
        sheets: the answers.
        items: what is reviewed, each with how many have answered it.
        tallies: how far everybody is.
        attention: answers to attention items.
        roles: who says the turns that are labelled, as answers name them; None: it makes no difference.
        now: seconds since the epoch.
    """
    table = answers(sheets)
    rows, why_not = _agreement(scheme, sheets)
    scores = attention_scores(attention)
    findings = (
        *annotation_qc(scheme, table, timings(sheets), roles=roles).findings,
        *attention_findings(scores, QcSettings()),
    )
    of_person = Counter(finding.annotator for finding in findings)
    open_answers = max(0, len(items) * study.per_item - sum(n for _, n in items))
    return Overview(
        items=len(items),
        complete=sum(n >= study.per_item for _, n in items),
        answers=sum(n for _, n in items),
        expected=len(items) * study.per_item,
        people=tuple(_progress(one, of_person[one.code], now) for one in tallies),
        agreement=_grid(scheme, rows),
        beside_others=_beside_others(scheme, table),
        attention=tuple(scores),
        minutes_left=minutes_left([s for one in tallies for s in one.seconds], open_answers),
        difficulty={
            (d.title or d.id).partition(" (")[0]: difficulty_table(d, table)[0]
            for d in scheme.dimensions
            if any(answer.dimension == d.id for answer in table)
        },
        no_agreement=why_not,
        findings=_grouped(scheme, findings, {item.id: item.seq for item, _ in items}),
    )


def minutes_left(seconds: Sequence[float], open_items: int) -> int | None:
    """Return how many minutes so many items take at the usual pace; None where there is none."""
    if not seconds:
        return None
    return max(1, round(median(seconds) * open_items / 60)) if open_items else 0


def _titles(scheme: Scheme) -> dict[str, str]:
    return {d.id: (d.title or d.id).partition(" (")[0] for d in scheme.dimensions}


def _grid(scheme: Scheme, rows: Sequence[AgreementRow]) -> AgreementGrid:
    """Lay the statistics of each question beside each other."""
    titles = _titles(scheme)
    statistics = tuple(dict.fromkeys(row.statistic for row in rows))
    by_place = {(row.dimension, row.statistic): row for row in rows}
    lines = []
    for dimension in dict.fromkeys(row.dimension for row in rows):
        mine = [by_place.get((dimension, statistic)) for statistic in statistics]
        most = max(row.items for row in mine if row is not None)
        cells = tuple(("", "") if row is None else _cell(row) for row in mine)
        lines.append((titles.get(dimension, dimension), most, cells))
    why = dict.fromkeys(row.note for row in rows if row.value is None and row.note)
    notes = dict.fromkeys(row.note for row in rows if row.value is not None and row.note)
    return AgreementGrid(statistics, tuple(lines), tuple(why), tuple(notes))


def _cell(row: AgreementRow) -> tuple[str, str]:
    if row.value is None:
        return "undefined", ""
    bounds = row.interval
    return f"{row.value:.2f}", f"{bounds.low:.2f} to {bounds.high:.2f}" if bounds else ""


def _grouped(
    scheme: Scheme, findings: Sequence[Finding], numbers: Mapping[str, int]
) -> tuple[FindingGroup, ...]:
    """Put findings together by annotator: who has most comes first, items as such last."""
    titles = _titles(scheme)
    by_person: dict[str, list[Finding]] = {}
    for finding in findings:
        by_person.setdefault(finding.annotator or "", []).append(finding)
    groups = []
    for person, mine in sorted(by_person.items(), key=lambda p: (not p[0], -len(p[1]), p[0])):
        kinds = Counter(finding.code.replace("_", " ") for finding in mine)
        things = tuple(_thing(one, titles, numbers) for one in mine[:SHOWN])
        hidden = max(0, len(mine) - SHOWN)
        groups.append(FindingGroup(person, tuple(kinds.most_common()), things, hidden))
    return tuple(groups)


def _thing(finding: Finding, titles: Mapping[str, str], numbers: Mapping[str, int]) -> FoundThing:
    name, _, turn = (finding.item or "").partition("#")
    shown = f"{name[:10]}, turn {turn}" if turn else name[:10]
    question = titles.get(finding.dimension or "", finding.dimension or "")
    return FoundThing(finding.reason, question, shown, numbers.get(name))


def _beside_others(scheme: Scheme, table: Sequence[Answer]) -> tuple[BesideOthers, ...]:
    """Return every annotator beside the others by question, where three or more can be compared."""
    titles = _titles(scheme)
    return tuple(
        BesideOthers(
            titles.get(row.dimension, row.dimension),
            row.annotator,
            row.items,
            "undefined" if row.value is None else f"{row.value:.2f}",
            f"{row.others:.2f}",
            row.apart,
        )
        for row in annotator_agreement(scheme, table, how=QUICK)
        if row.others is not None
    )


def _agreement(scheme: Scheme, sheets: Sequence[Sheet]) -> tuple[list[AgreementRow], str]:
    try:
        rows = agreement_table(scheme, answers(sheets), how=QUICK)
    except UsageError as error:  # the packages of the extra "stats" are not installed
        return [], str(error)
    return rows, "" if rows else "no answers yet"


def _progress(tally: AnnotatorTally, findings: int, now: float) -> AnnotatorProgress:
    return AnnotatorProgress(
        code=tally.code,
        done=tally.done,
        open=tally.open,
        median_s=median(tally.seconds) if tally.seconds else None,
        idle_minutes=None if tally.last is None else int((now - tally.last) / 60),
        finished=tally.finished,
        findings=findings,
    )
