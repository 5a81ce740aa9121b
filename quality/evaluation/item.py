"""One utterance or dialogue that models are asked about, and what is right about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from prompts.tasks.items import TaskItem

ItemKind = Literal["utterance", "cumulative", "conversation", "swap", "gold"]
"""What an item is: one utterance, one after all that was said before, a whole dialogue, a line
beside one fact or another, a gold line."""
Knowledge = Literal["question", "history", "fact", "claims"]
"""What is known of an item beside its words: the standing question, all that was said before, the
private fact, and the sentences that it makes false."""
References = Mapping[str, Mapping[str, str]]
"""By reference (declared, agreed, people, adjudicated, gold, swap) the right label by dimension."""


@dataclass(frozen=True, slots=True)
class EvaluationItem:
    """One item with its references, and where it is from."""

    asked: TaskItem
    kind: ItemKind
    references: References
    known: frozenset[Knowledge]
    case: str
    """Items of a case share words."""
    scenario: str
    facts: tuple[str, ...] = ()
    """Ids of the fact of its case and of another that is shown; none where these are not known."""
    arm: str = ""
    category: str = ""
    tags: tuple[str, ...] = ()
    """Of its scenario."""
    turn: int | None = None
    """Place of the utterance in its dialogue from 0; None: the whole dialogue."""
    strategy: str = ""
    generator: str = ""
    """The model that wrote it."""
    split: str = ""

    @property
    def id(self) -> str:
        """The id of the row that it comes from."""
        return self.asked.id

    @property
    def goal(self) -> str | None:
        """The goal that the case assigns; None where it is not known."""
        return self.asked.goal

    def label(self, dimension: str) -> str | None:
        """Return the right label of a dimension by the first reference that has one."""
        found = (labels[dimension] for labels in self.references.values() if dimension in labels)
        return next(found, None)
