"""Answers of models as they are scored: what is right, what was said, and what went wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from quality.evaluation.result_row import Fault, is_right

Grouping = Literal["category", "tag", "turn", "goal", "strategy", "generator"]


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """What one model said about one dimension of one item, beside the label that is right."""

    item: str
    case: str
    """Items of one case share replies: intervals draw whole cases."""
    scenario: str
    dimension: str
    reference: str
    """The right label; of swap items also ``not`` and a label that would be wrong, or, where
    nothing is right or wrong, empty."""
    answer: str | None
    """The label that was given; None: there is none, and ``fault`` says why."""
    fault: Fault | Literal[""] = ""
    """``failed``: the endpoint gave no answer, which is missing and not wrong; every other fault
    is a wrong answer."""
    harmonised: bool = False
    """Whether the label was read through an alias of the scheme."""
    options: tuple[str, ...] = ()
    """The labels in the order they were shown; empty: not known."""
    draw: int = 0
    """Which draw of examples was shown."""
    repeat: int = 0
    """Which time of asking the same; only the first is scored."""
    groups: Mapping[Grouping, str] = field(default_factory=dict)
    """What figures are broken down by."""

    def __post_init__(self) -> None:
        if (self.answer is None) != bool(self.fault):
            raise ValueError(f"an answer is missing just where it has a fault: {self}")

    @property
    def right(self) -> bool:
        """Whether the label that was given is right."""
        return bool(self.reference) and is_right(self.answer, self.reference)

    @property
    def position(self) -> int | None:
        """The 0-based place of the given label among those shown; None: not known."""
        return self.options.index(self.answer) if self.answer in self.options else None
