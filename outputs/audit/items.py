"""What is guessed for: whole dialogues or single answers, with what the nulls need to know of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import Literal

from outputs.audit.corpus import AuditCorpus, AuditedAnswer, AuditedDialogue
from outputs.audit.cross_fit import Integers
from outputs.audit.null_labels import codes

Unit = Literal["dialogue", "answer"]
Block = Literal["pair", "turn of a pair", "dialogue"]
"""What keeps together when labels are permuted."""


@dataclass(frozen=True)
class AuditItems:
    """Dialogues, each once, or their answers; all in one order."""

    dialogues: tuple[AuditedDialogue, ...]
    """Of each item."""
    answers: tuple[AuditedAnswer, ...]
    """Of each item; empty where the items are dialogues."""
    goal_dimension: str
    by_place: bool = False
    """Whether an item is compared with those at the same place alone, not with its whole scenario."""

    @classmethod
    def of(cls, corpus: AuditCorpus, unit: Unit) -> AuditItems:
        """Return the items of a corpus."""
        if unit == "dialogue":
            return cls(corpus.dialogues, (), corpus.goal_dimension)
        pairs = [(d, answer) for d in corpus.dialogues for answer in d.answers]
        return cls(tuple(d for d, _ in pairs), tuple(a for _, a in pairs), corpus.goal_dimension)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.dialogues)

    @cached_property
    def scenarios(self) -> Integers:
        """The scenario of each, numbered."""
        return codes([d.scenario for d in self.dialogues])

    @cached_property
    def compared(self) -> Integers:
        """The group each is compared in, numbered.

        That is its scenario or, by place, the items of it with as many answers before them and in all.
        """
        if not self.by_place:
            return self.scenarios
        if not self.answers:
            return codes([f"{d.scenario}/{len(d.said)}" for d in self.dialogues])
        return codes(
            [
                f"{d.scenario}/{list(d.said).index(a.turn)}/{len(d.said)}"
                for d, a in zip(self.dialogues, self.answers, strict=True)
            ]
        )

    @cached_property
    def cases(self) -> Integers:
        """The case of each, numbered."""
        return codes([d.case for d in self.dialogues])

    @cached_property
    def pairs(self) -> Integers:
        """The pair of each, numbered."""
        return codes([d.pair for d in self.dialogues])

    @cached_property
    def ranks(self) -> Integers:
        """The place of each answer in its block: by turn, then by goal and arm."""
        return codes(
            [
                f"{answer.turn:06d}/{d.goal}/{d.arm}"
                for d, answer in zip(self.dialogues, self.answers, strict=True)
            ]
        )

    def blocks(self, block: Block) -> Integers:
        """Return the block of each, numbered."""
        if block == "pair":
            return self.pairs
        if block == "dialogue":
            return codes([f"{d.case}/{d.arm}" for d in self.dialogues])
        return codes(
            [f"{d.pair}/{a.turn}" for d, a in zip(self.dialogues, self.answers, strict=True)]
        )

    def labels(self, dimension: str) -> tuple[Integers, tuple[str, ...]]:
        """Return the label of each, numbered, and the labels there are."""
        if dimension == self.goal_dimension:
            values = [d.goal for d in self.dialogues]
        else:
            values = [answer.labels[dimension] for answer in self.answers]
        return codes(values), tuple(sorted(set(values)))

    def only(self, kept: Sequence[bool]) -> AuditItems:
        """Return the items that are to be kept."""
        return AuditItems(
            tuple(compress(self.dialogues, kept)),
            tuple(compress(self.answers, kept)),
            self.goal_dimension,
            self.by_place,
        )
