"""Answers of models as they are scored: what is right, what was said, and what went wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Fault = Literal["", "unreadable", "unknown label", "refused", "failed"]
"""Why there is no answer. ``failed``: the endpoint gave none, which is missing and not wrong; each
of the others is a wrong answer."""
Grouping = Literal["category", "turn", "goal", "strategy", "generator"]


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """What one model said about one dimension of one item, beside the label that is right."""

    item: str
    case: str
    """Items of one case share replies: intervals draw whole cases."""
    scenario: str
    dimension: str
    reference: str
    """The right label."""
    answer: str | None
    """The label that was given; None: there is none, and ``fault`` says why."""
    fault: Fault = ""
    harmonised: bool = False
    """Whether the label was read through an alias of the scheme."""
    options: tuple[str, ...] = ()
    """The labels in the order they were shown; empty: not known."""
    draw: int = 0
    """Which of several askings of the same item: another draw of examples, or a repetition."""
    groups: Mapping[Grouping, str] = field(default_factory=dict)
    """What figures are broken down by."""

    def __post_init__(self) -> None:
        if (self.answer is None) != bool(self.fault):
            raise ValueError(f"an answer is missing just where it has a fault: {self}")

    @property
    def right(self) -> bool:
        """Whether the label that was given is the right one."""
        return self.answer == self.reference

    @property
    def position(self) -> int | None:
        """The 0-based place of the given label among those shown; None: not known."""
        return self.options.index(self.answer) if self.answer in self.options else None
