"""An answer was to carry a certain label and declares another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from quality.gates.protocol import GatedDialogue, GateExtension, NoSettings, label_of
from scenarios.terms import LabelValue
from scenarios.verdicts import Flag


@dataclass(frozen=True, slots=True)
class WantedTactic:
    """Compares the labels asked for with the labels declared."""

    code: ClassVar[str] = "wanted_not_obtained"

    def check(self, subject: GatedDialogue) -> list[Flag]:
        """Flag every answer with a wanted label it does not declare."""
        return [
            subject.flag(
                self.code,
                f"{dimension}: wanted {label}, declared {_shown(label_of(turn, dimension))}",
                turn,
            )
            for turn in subject.answers
            for dimension, label in turn.wanted
            if not _obtained(label_of(turn, dimension), label)
        ]


def _obtained(value: LabelValue | None, wanted: str) -> bool:
    if isinstance(value, tuple):
        return set(value) == {part.strip() for part in wanted.split("|")}
    if isinstance(value, float):
        try:
            return abs(value - float(wanted)) < 1e-9
        except ValueError:
            return False
    return value == wanted


def _shown(value: LabelValue | None) -> str:
    if value is None:
        return "nothing"
    return ", ".join(value) if isinstance(value, tuple) else str(value)


GATE = GateExtension(WantedTactic.code, NoSettings, lambda _: WantedTactic())
