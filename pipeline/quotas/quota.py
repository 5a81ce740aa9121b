"""A quota: how many accepted utterances are wanted of which labels, goals and categories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from pipeline.aims import CATEGORY, Aim, CellKey
from scenarios.case import Case
from scenarios.dialogue import Wanted

GIVE_UP_AFTER = 60
"""Utterances in a row that were asked for a cell and not accepted with it, before it is given up."""


@dataclass(frozen=True, slots=True)
class QuotaCell:
    """One combination of labels, goal and category, and how many utterances of it are wanted."""

    labels: Wanted
    """Of the utterance, in the scheme's order; empty: any."""
    goal: str | None
    """A label of the assigned dimension; None: any."""
    category: str | None
    """Of the scenario; None: any."""
    accepted: int
    """Accepted utterances that are wanted."""
    assigned: str = ""
    """The id of the dimension that ``goal`` is a label of."""

    @property
    def key(self) -> CellKey:
        """What makes the cell, whatever is wanted of it."""
        goal = () if self.goal is None else ((self.assigned, self.goal),)
        category = () if self.category is None else ((CATEGORY, self.category),)
        return (*self.labels, *goal, *category)

    @property
    def name(self) -> str:
        """The cell in words: ``veracity Quality, goal deception``."""
        return ", ".join(f"{name} {label}" for name, label in self.key)

    def takes_in(self, other: QuotaCell) -> bool:
        """Whether every utterance of another cell is one of this cell, too."""
        return set(self.key) <= set(other.key)


@dataclass(frozen=True, slots=True)
class Quota:
    """All cells of a quota."""

    cells: tuple[QuotaCell, ...]
    give_up_after: int = GIVE_UP_AFTER

    def fields(self) -> dict[str, Any]:
        """Return it as plain data, as it is stored in a run."""
        cells = [
            {
                "labels": [list(label) for label in cell.labels],
                "goal": cell.goal,
                "category": cell.category,
                "accepted": cell.accepted,
                "assigned": cell.assigned,
            }
            for cell in self.cells
        ]
        return {"cells": cells, "give_up_after": self.give_up_after}

    @classmethod
    def from_fields(cls, fields: Mapping[str, Any]) -> Self:
        """Read what :meth:`fields` gave."""
        cells = tuple(
            QuotaCell(
                tuple((str(name), str(label)) for name, label in cell["labels"]),
                cell["goal"],
                cell["category"],
                int(cell["accepted"]),
                str(cell["assigned"]),
            )
            for cell in fields["cells"]
        )
        return cls(cells, int(fields["give_up_after"]))


@dataclass(slots=True)
class CellTally:
    """What a run has of one cell, counted from its store."""

    cell: QuotaCell
    accepted: int = 0
    """Accepted utterances of it, those that were asked for something else included."""
    asked: int = 0
    """Utterances that were asked for it and judged, or lost with a case that failed."""
    unjudged: int = 0
    """Utterances that were asked for it in dialogues that are not judged yet; not in ``asked``."""
    begun: int = 0
    """Utterances that are still to be asked for it in cases that were drawn; not in ``asked``."""
    hits: int = 0
    """Those of ``asked`` that are accepted with its labels."""
    barren: int = 0
    """How many of ``asked`` came after the last of ``hits``, in the order of the cases."""
    cases: int = 0
    """Cases that were drawn for it."""
    own: int = 0
    """Accepted utterances of it in the dialogues of these cases."""
    calls: int = 0
    """Requests about these cases, those of judges and those that failed included."""
    tokens: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0
    """Of ``calls``, those of unknown cost."""
    drawn: set[str] = field(default_factory=set)
    """Ids of the cases of the plan that those drawn for it were made from."""

    @property
    def missing(self) -> int:
        """Accepted utterances that are still wanted."""
        return max(0, self.cell.accepted - self.accepted)

    @property
    def likely_yield(self) -> float:
        """Share of utterances asked for it that will be accepted: a half before any was tried.

        Source: the rule of succession (Laplace 1814).
        """
        return (self.hits + 1) / (self.asked + 2)

    @property
    def cost_per_accepted(self) -> float | None:
        """Dollars for the cases drawn for it, by accepted utterance of it; None: not to be said."""
        return self.cost_usd / self.own if self.own and not self.unpriced else None


def turns_asked(case: Case, cell: QuotaCell) -> int:
    """Return how many utterances of a case that was drawn for a cell are asked for it."""
    aim = Aim.of(case)
    return len(aim.turns) if aim is not None and cell.labels else case.turns


def by_cell(quota: Quota) -> dict[CellKey, CellTally]:
    """Return a tally of nothing for every cell."""
    return {cell.key: CellTally(cell) for cell in quota.cells}
