"""A goal that needs a certain label somewhere, and no answer carries one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from quality.gates.protocol import GatedDialogue, GateExtension, NoSettings, carries, label_of
from scenarios.errors import UsageError
from scenarios.openings import opening_lines
from scenarios.schemes.misleading import ruled_out_by_truth
from scenarios.schemes.model import Requirement
from scenarios.verdicts import Flag


@dataclass(frozen=True, slots=True)
class UnmetRequirement:
    """Looks for what the scheme requires of a goal, e.g. some manipulation in a deception."""

    code: ClassVar[str] = "unmet_requirement"

    def check(self, subject: GatedDialogue) -> list[Flag]:
        """Flag the dialogue for each requirement its labelled answers leave unmet.

        A fixed line that the fact makes false has the labels that only lies have.
        """
        return [
            subject.flag(self.code, requirement.reason)
            for requirement in subject.scheme.requirements
            if _applies(requirement, subject) and _unmet(requirement, subject)
        ]


def _applies(requirement: Requirement, subject: GatedDialogue) -> bool:
    """Whether the case is one the requirement speaks of; of other dimensions nothing is known."""
    assigned = {subject.scheme.assigned: subject.dialogue.case.goal}
    return all(assigned.get(name) in labels for name, labels in requirement.when.items())


def _unmet(requirement: Requirement, subject: GatedDialogue) -> bool:
    for dimension, labels in requirement.some_turn.items():
        found = [label_of(turn, dimension) for turn in subject.answers]
        known = [value for value in found if value is not None]
        if known and not any(carries(value, labels) for value in known):
            lies = {
                label for name, label in ruled_out_by_truth(subject.scheme) if name == dimension
            }
            return not (lies.intersection(labels) and _opens_with_a_lie(subject))
    return False


def _opens_with_a_lie(subject: GatedDialogue) -> bool:
    """Return whether a fixed line claims what the fact makes false."""
    case, scenario, fact = subject.dialogue.case, subject.scenario, subject.fact
    if scenario is None or scenario.flow or fact is None:
        return False
    try:
        lines = opening_lines(scenario, case.fact, case.goal, dict(case.variation))
    except UsageError:  # imported: it opens with words of its own
        return False
    spoken = {turn.text for turn in subject.dialogue.turns if turn.kind == "opening"}
    return any(line.text in spoken and set(line.claims) & set(fact.makes_false) for line in lines)


GATE = GateExtension(UnmetRequirement.code, NoSettings, lambda _: UnmetRequirement())
