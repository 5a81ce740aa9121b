"""Summarise the reliability of labels: confirmation by judges, agreement of people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from outputs.reliability.foil_acceptance import FoilAcceptance, foil_acceptance
from outputs.reliability.judge_agreement import ConfirmedShare, grouped, shares
from outputs.selecting.open_run import OpenRun
from pipeline.store.queries.report import open_figures
from pipeline.store.queries.report_rows import NamedCount, PersonAnswer, TrialCount, VoteCount
from quality.agreement.agreement import AgreementRow, agreement_table
from quality.agreement.annotations import Answer
from quality.agreement.labels import LabelAgreement, label_agreement_table
from quality.judges.comparison import agrees
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
    foils: tuple[FoilAcceptance, ...] = ()
    """What judges who are shown labels accept of declared and of wrong ones."""
    found_blind: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """By dimension: labels that external judges named without seeing the declared ones, as many of
    them as are the declared ones, and all."""
    people: int = 0
    """Who answered in review; one who answered in two runs counts twice."""
    read_twice: int = 0
    """Labels by people that stand beside another person's of the same words and dimension."""
    note: str = ""
    """Why the agreement of people is not known although they answered."""


def reliability(scheme: Scheme, runs: Sequence[OpenRun]) -> Reliability:
    """Read what judges found in some runs of one scheme, and what people answered.

    Source: HIPO, section 4.4 (self-consistency and external consistency).
    """
    votes: list[VoteCount] = []
    trials: list[TrialCount] = []
    named: list[NamedCount] = []
    answers: list[PersonAnswer] = []
    for run in runs:
        with open_figures(run.store.folder) as figures:
            votes += figures.votes()
            named += figures.named(scheme.assigned)
            first = max((trial.dialogue for trial in trials), default=0) + 1
            trials += [replace(t, dialogue=first + t.dialogue) for t in figures.trials()]
            # Codes are given anew in every run, and dialogues may have been copied.
            answers += [
                replace(
                    a,
                    item=f"{run.name}/{a.item}",
                    person=f"{run.name}/{a.person}",
                    dialogue=f"{run.name}/{a.dialogue}",
                )
                for a in figures.answers()
            ]
    known = Reliability(
        consistency(scheme, votes),
        foils=foil_acceptance(scheme, trials),
        found_blind=_found_blind(scheme, named),
        people=len({answer.person for answer in answers}),
        read_twice=_read_twice(answers),
    )
    try:
        return replace(known, agreement=people_agreement(scheme, answers))
    except UsageError as error:
        return replace(known, note="; ".join(part for part in (error.message, error.hint) if part))


def _found_blind(scheme: Scheme, named: Iterable[NamedCount]) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    for dimension in scheme.declared:
        counts = [c for c in named if c.source == "external" and c.dimension == dimension.id]
        same = sum(c.n for c in counts if agrees(dimension, c.declared, c.named))
        if counts:
            found[dimension.id] = same, sum(c.n for c in counts)
    return found


def _read_twice(answers: Iterable[PersonAnswer]) -> int:
    """Count the readings by people that stand beside another person's reading of the same."""
    readers: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for answer in answers:
        readers[answer.item, answer.dimension].add(answer.person)
    return sum(len(people) for people in readers.values() if len(people) > 1)


def consistency(scheme: Scheme, votes: Iterable[VoteCount]) -> tuple[JudgeConsistency, ...]:
    """Return the shares by kind of judge and dimension, in the scheme's order."""
    counted = list(votes)
    by_judge = shares(grouped(counted, lambda vote: (vote.source, vote.dimension)))
    judges: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for vote in counted:
        judges[vote.source, vote.dimension].add(vote.judge)
    order = [d.id for d in scheme.utterance_dimensions]
    order += [scheme.assigned] if scheme.assigned else []
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
    return tuple(agreement_table(scheme, _plain(answers), groups=modes if several else None))


def people_by_label(scheme: Scheme, answers: Sequence[PersonAnswer]) -> list[LabelAgreement]:
    """Return the agreement of people on each label, over everything that they answered.

    Raises:
        UsageError: an answer does not fit the scheme.
    """
    return label_agreement_table(scheme, _plain(answers))


def _plain(answers: Sequence[PersonAnswer]) -> list[Answer]:
    return [Answer(a.item, a.dimension, a.person, a.value, a.dialogue) for a in answers]
