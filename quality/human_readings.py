"""What people read in the lines of a study, beside each other, the gold labels and programs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from quality.agreement.agreement import AgreementRow, agreement_table
from quality.agreement.annotations import Answer
from quality.agreement.comparisons import ReaderComparison, compared
from quality.agreement.labels import LabelAgreement, label_agreement_table
from scenarios.schemes.model import Scheme

GOLD = "gold"
"""Stands for the gold labels where readers have names."""


@dataclass(frozen=True, slots=True)
class WhoRead:
    """Somebody who answered, and how much."""

    code: str
    lines: int
    """Lines, and runs of lines, with an answer."""
    dialogues: int
    """Dialogues with an answer about them as a whole."""


@dataclass(frozen=True, slots=True)
class HumanReadings:
    """The readings of a study by people; nothing but their number before there are two."""

    readers: tuple[WhoRead, ...] = ()
    """The people who answered what another of them answered, too."""
    alone: int = 0
    """People who have answered lines, but none that anybody else has."""
    agreement: tuple[AgreementRow, ...] = ()
    """Of people with each other."""
    labels: tuple[LabelAgreement, ...] = ()
    """The same, label by label."""
    against_gold: tuple[ReaderComparison, ...] = ()
    against_programs: tuple[ReaderComparison, ...] = ()


def human_readings(
    scheme: Scheme,
    people: Iterable[Answer],
    *,
    gold: Sequence[Answer] = (),
    programs: Sequence[Answer] = (),
) -> HumanReadings:
    """Compare what people answered with each other, with gold and with programs.

    Args:
        scheme: the dimensions.
        people: their answers; ``annotator`` is a code.
        gold: the gold labels, whose ``annotator`` is :data:`GOLD`; none: the study has no gold.
        programs: readings by programs.

    Raises:
        UsageError: the packages of the extra ``stats`` are missing.
    """
    answers = list(people)
    who_read: defaultdict[str, set[str]] = defaultdict(set)
    for answer in answers:
        who_read[answer.item].add(answer.annotator)
    everybody = sorted({answer.annotator for answer in answers})
    joined = {name for names in who_read.values() if len(names) > 1 for name in names}
    whole = {d.id for d in scheme.dimensions if d.level == "dialogue"}
    dialogues = {answer.item for answer in answers if answer.dimension in whole}
    readers = tuple(
        WhoRead(
            name,
            lines=sum(name in names for item, names in who_read.items() if item not in dialogues),
            dialogues=sum(name in who_read[item] for item in dialogues),
        )
        for name in everybody
        if name in joined
    )
    alone = len(everybody) - len(readers)
    if not readers:
        return HumanReadings(alone=alone)
    people_of = [answer for answer in answers if answer.annotator in joined]
    asked = scheme.utterance_dimensions
    return HumanReadings(
        readers,
        alone,
        tuple(agreement_table(scheme, people_of)),
        tuple(label_agreement_table(scheme, people_of)),
        tuple(compared(asked, people_of, gold)),
        tuple(compared(asked, people_of, programs)),
    )
