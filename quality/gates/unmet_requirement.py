"""A goal that needs a certain label somewhere, and no answer carries one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from quality.gates.protocol import GatedDialogue, GateExtension, NoSettings, carries, label_of
from scenarios.schemes.model import Requirement
from scenarios.verdicts import Flag


@dataclass(frozen=True, slots=True)
class UnmetRequirement:
    """Looks for what the scheme requires of a goal, e.g. some manipulation in a deception."""

    code: ClassVar[str] = "unmet_requirement"

    def check(self, subject: GatedDialogue) -> list[Flag]:
        """Flag the dialogue for each requirement its labelled answers leave unmet."""
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
            return True
    return False


GATE = GateExtension(UnmetRequirement.code, NoSettings, lambda _: UnmetRequirement())
