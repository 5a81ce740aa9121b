"""Labels that cannot go together, e.g. truthful non-disclosure with Quality, or acts without standing."""

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
    """Holds the labels of every answer, the assigned goal among them, against the rules.

    Those of the scheme say which labels do not meet, and a scenario which acts its speakers have
    the standing for.
    """

    code: ClassVar[str] = "label_contradiction"

    def check(self, subject: GatedDialogue) -> list[Flag]:
        """Flag every answer whose labels contradict one another, the goal, or its scenario."""
        return [
            subject.flag(self.code, reason, turn)
            for turn in subject.answers
            for reason in _broken_rules(subject, turn)
        ]


def _broken_rules(subject: GatedDialogue, turn: Turn) -> Iterator[str]:
    labels = _labels(subject, turn)
    for rule in subject.scheme.contradictions:
        if broken(rule, labels):
            yield f"{_shown(rule, labels)}: {rule.reason}"
    acts = () if subject.scenario is None else subject.scenario.felicitous
    act = labels.get(subject.scheme.felicity or "")
    if acts and act is not None and act not in acts:
        yield f"{act}: in this scenario nobody who speaks has the standing for it."


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
