"""Worked examples: a line with its scene, the question it answers, and its labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from prompts.tasks.items import FactView
from scenarios.schemes.model import Dimension, LabelValue


@dataclass(frozen=True, slots=True)
class WorkedExample:
    """A line with the right labels, to be shown before the item that is asked about."""

    id: str
    scenario: str
    """It is never shown with items of this scenario; empty: with any."""
    situation: str
    question: str
    """The question that the line answers."""
    line: str
    labels: Mapping[str, LabelValue]
    """The label of every dimension that it carries."""
    fact: FactView | None = None
    """Shown by tasks that show the fact of the item, too."""

    def carries(self, dimensions: Sequence[Dimension]) -> bool:
        """Return whether it has a label of each of these dimensions."""
        return all(dimension.id in self.labels for dimension in dimensions)
