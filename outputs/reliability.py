"""Summarise the reliability of labels: confirmation by judges, agreement of people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from outputs.judge_agreement import ConfirmedShare, grouped, shares
from outputs.selection import OpenRun
from pipeline.store.queries.report import open_figures
from pipeline.store.queries.report_rows import PersonAnswer, VoteCount
from quality.agreement import AgreementRow, agreement_table
from quality.annotations import Answer
from scenarios.errors import UsageError
from scenarios.schemes.model import Scheme


@dataclass(frozen=True, slots=True)
class JudgeConsistency:
    """How often judges of one kind find what was declared on one dimension."""

    source: Literal["self", "external"]
    judges: tuple[str, ...]
    """``provider/model``."""
    dimension: str
    share: ConfirmedShare


@dataclass(frozen=True, slots=True)
class Reliability:
    """What is known of the labels of runs; over everything judged or reviewed, kept or not.

    Over accepted dialogues alone both would look better than they are: disagreement is what a
    dialogue is not accepted for.
    """

    consistency: tuple[JudgeConsistency, ...] = ()
    agreement: tuple[AgreementRow, ...] = ()
    """Between the people who reviewed; a group is a kind of review, "" all of them."""
    note: str = ""
    """Why the agreement of people is not known although they answered."""


def reliability(scheme: Scheme, runs: Sequence[OpenRun]) -> Reliability:
    """Read what judges found in some runs of one scheme, and what people answered.

    Source: HIPO, section 4.4 (self-consistency and external consistency).
    """
    votes: list[VoteCount] = []
    answers: list[PersonAnswer] = []
    for run in runs:
        with open_figures(run.store.folder) as figures:
            votes += figures.votes()
            # Codes are given anew in every run, and dialogues may have been copied.
            answers += [
                replace(a, item=f"{run.name}/{a.item}", person=f"{run.name}/{a.person}")
                for a in figures.answers()
            ]
    by_judge = consistency(scheme, votes)
    try:
        return Reliability(by_judge, people_agreement(scheme, answers))
    except UsageError as error:
        note = "; ".join(part for part in (error.message, error.hint) if part)
        return Reliability(by_judge, note=note)


def consistency(scheme: Scheme, votes: Iterable[VoteCount]) -> tuple[JudgeConsistency, ...]:
    """Return the shares by kind of judge and dimension, in the scheme's order."""
    counted = list(votes)
    by_judge = shares(grouped(counted, lambda vote: (vote.source, vote.dimension)))
    judges: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for vote in counted:
        judges[vote.source, vote.dimension].add(vote.judge)
    order = [*(d.id for d in scheme.utterance_dimensions), scheme.assigned]
    order += sorted({dimension for _, dimension in by_judge} - set(order))
    sources: tuple[Literal["self", "external"], ...] = ("self", "external")
    return tuple(
        JudgeConsistency(
            source,
            tuple(sorted(judges[source, dimension])),
            dimension,
            by_judge[source, dimension],
        )
        for source in sources
        for dimension in order
        if (source, dimension) in by_judge
    )


def people_agreement(scheme: Scheme, answers: Sequence[PersonAnswer]) -> tuple[AgreementRow, ...]:
    """Return the statistics over everything people answered, and by kind of review if several.

    Raises:
        UsageError: an answer does not fit the scheme, or the extra ``stats`` is missing.
    """
    modes = {answer.item: answer.mode for answer in answers}
    several = len(set(modes.values())) > 1
    plain = [Answer(a.item, a.dimension, a.person, a.value) for a in answers]
    return tuple(agreement_table(scheme, plain, groups=modes if several else None))
