"""Figures of the dashboard: progress, agreement, timing, quality control."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from quality.agreement import AgreementRow, agreement_table
from quality.annotation_qc import annotation_qc
from quality.annotations import RawAnswer
from quality.bootstrap import Resampling
from quality.disagreement.difficulty import DifficultyRow, difficulty_table
from quality.findings import Finding
from quality.review.answer_table import answers, timings
from scenarios.errors import UsageError
from scenarios.reviews import Item, ReviewStudy, Sheet, Standing
from scenarios.schemes.model import Scheme

QUICK = Resampling(resamples=200)
"""Intervals on the page are rough, so that it comes quickly; ``hipo review export`` and the report
use 2,000 resamples."""
SHOWN = 200


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
class Overview:
    """The dashboard."""

    items: int
    complete: int
    """Items with all their answers."""
    answers: int
    expected: int
    people: tuple[AnnotatorProgress, ...]
    agreement: tuple[AgreementRow, ...]
    difficulty: Mapping[str, DifficultyRow]
    no_agreement: str
    """Why there is no agreement to show; empty if there is."""
    findings: tuple[Finding, ...]
    hidden_findings: int


def overview(
    scheme: Scheme,
    study: ReviewStudy,
    sheets: Sequence[Sheet],
    items: Sequence[tuple[Item, int]],
    *,
    standings: Sequence[Standing],
    now: float,
) -> Overview:
    """Compute the dashboard from the answers so far."""
    table = answers(sheets)
    rows, why_not = _agreement(scheme, sheets)
    raw = [RawAnswer(a.item, a.dimension, a.annotator, a.value, a.dialogue) for a in table]
    findings = annotation_qc(scheme, raw, timings(sheets)).findings
    of_person = Counter(finding.annotator for finding in findings)
    return Overview(
        items=len(items),
        complete=sum(n >= study.per_item for _, n in items),
        answers=sum(n for _, n in items),
        expected=len(items) * study.per_item,
        people=tuple(_progress(one, of_person[one.code], now) for one in standings),
        agreement=tuple(rows),
        difficulty={
            d.id: difficulty_table(d, table)[0]
            for d in scheme.dimensions
            if any(answer.dimension == d.id for answer in table)
        },
        no_agreement=why_not,
        findings=findings[:SHOWN],
        hidden_findings=max(0, len(findings) - SHOWN),
    )


def _agreement(scheme: Scheme, sheets: Sequence[Sheet]) -> tuple[list[AgreementRow], str]:
    try:
        rows = agreement_table(scheme, answers(sheets), how=QUICK)
    except UsageError as error:  # the packages of the extra "stats" are not installed
        return [], str(error)
    return rows, "" if rows else "no answers yet"


def _progress(standing: Standing, findings: int, now: float) -> AnnotatorProgress:
    return AnnotatorProgress(
        code=standing.code,
        done=standing.done,
        open=standing.open,
        median_s=median(standing.seconds) if standing.seconds else None,
        idle_minutes=None if standing.last is None else int((now - standing.last) / 60),
        finished=standing.finished,
        findings=findings,
    )
