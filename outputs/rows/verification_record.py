"""What a run knows of a dialogue beside its words: labels of readers, flags, the decision, costs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from outputs.selecting.selection import SelectedDialogue
from pipeline.store.costs import NOTHING_SPENT, CaseCosts
from scenarios.annotations import ADJUDICATED, HUMAN, VERIFIER, Annotation
from scenarios.verdicts import Decision, Flag

READERS: Final = ("self", "external", "juror", VERIFIER, HUMAN, ADJUDICATED)
"""Kinds of labels that somebody or something gave to words that were said, in this order."""
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class VerificationRecord:
    """What verification and review left of one dialogue, and what it took."""

    labels: tuple[Annotation, ...]
    """The newest of every reader, in the order of ``READERS``."""
    flags: tuple[Flag, ...]
    decision: Decision | None
    """The newest one; None: nobody has decided."""
    costs: CaseCosts

    def of_turn(self, turn: int | None) -> tuple[Annotation, ...]:
        """Return the labels of a turn; None: those of the dialogue as a whole."""
        return tuple(label for label in self.labels if label.subject.turn == turn)


def verification_records(batch: Sequence[SelectedDialogue]) -> Mapping[Key, VerificationRecord]:
    """Return what is known of the dialogues of one case, each looked up once, by (case, arm)."""
    source = batch[0].source
    keys = [selected.key for selected in batch]
    labels: defaultdict[Key, list[Annotation]] = defaultdict(list)
    for label in source.annotations.of(keys, READERS):
        labels[label.subject.case, label.subject.arm].append(label)
    assessments = source.store.judgements.assessments(keys)
    decisions = source.store.judgements.decisions(keys)
    costs = source.store.calls.costs(batch[0].dialogue.case.id)
    return {
        key: VerificationRecord(
            tuple(sorted(labels[key], key=lambda label: READERS.index(label.kind))),
            assessments[key].flags if key in assessments else (),
            decisions[key][-1] if decisions.get(key) else None,
            costs.get(key[1], NOTHING_SPENT),
        )
        for key in keys
    }
