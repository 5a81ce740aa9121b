"""The actor declares another goal than the one it was given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from quality.gates.protocol import GatedDialogue, GateExtension, NoSettings
from scenarios.verdicts import Flag


@dataclass(frozen=True, slots=True)
class GoalMismatch:
    """Compares the goal a turn declares with the goal of the case."""

    code: ClassVar[str] = "goal_mismatch"

    def check(self, subject: GatedDialogue) -> list[Flag]:
        """Flag every answer whose goal is not the assigned one; no goal declared is no mismatch."""
        assigned = subject.dialogue.case.goal
        return [
            subject.flag(self.code, f"assigned {assigned}, declared {turn.declared_goal}", turn)
            for turn in subject.answers
            if assigned and turn.declared_goal is not None and turn.declared_goal != assigned
        ]


GATE = GateExtension(GoalMismatch.code, NoSettings, lambda _: GoalMismatch())
