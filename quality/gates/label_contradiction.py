"""Labels that the scheme says cannot go together, e.g. truthful non-disclosure with Quality."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from quality.gates.protocol import GatedDialogue, GateExtension, NoSettings, carries
from scenarios.dialogue import Turn
from scenarios.schemes.model import Contradiction
from scenarios.terms import LabelValue
from scenarios.verdicts import Flag


@dataclass(frozen=True, slots=True)
class LabelContradiction:
    """Holds the labels of every answer, the assigned goal among them, against the scheme's rules."""

    code: ClassVar[str] = "label_contradiction"

    def check(self, subject: GatedDialogue) -> list[Flag]:
        """Flag every answer whose labels contradict one another or the goal."""
        return [
            subject.flag(self.code, f"{_shown(rule, labels)}: {rule.reason}", turn)
            for turn in subject.answers
            for labels in [_labels(subject, turn)]
            for rule in subject.scheme.contradictions
            if broken(rule, labels)
        ]


def broken(rule: Contradiction, labels: Mapping[str, LabelValue]) -> bool:
    """Whether labels by dimension hold everything that a rule forbids to meet."""
    return bool(rule.labels) and all(
        carries(labels.get(dimension), forbidden) for dimension, forbidden in rule.labels.items()
    )


def _labels(subject: GatedDialogue, turn: Turn) -> dict[str, LabelValue]:
    found: dict[str, LabelValue] = {label.dimension: label.value for label in turn.tactic}
    goal = subject.dialogue.case.goal or turn.declared_goal
    if goal and subject.scheme.assigned:
        found[subject.scheme.assigned] = goal
    return found


def _shown(rule: Contradiction, labels: Mapping[str, LabelValue]) -> str:
    def parts() -> Iterator[str]:
        for dimension in rule.labels:
            value = labels[dimension]
            yield ", ".join(value) if isinstance(value, tuple) else str(value)

    return " with ".join(parts())


GATE = GateExtension(LabelContradiction.code, NoSettings, lambda _: LabelContradiction())
