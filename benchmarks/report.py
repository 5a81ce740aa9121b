"""One line of a benchmark: what was measured, against which goal, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class Goal:
    """A bound a ratio must keep."""

    bound: float
    at_least: bool

    @classmethod
    def below(cls, bound: float) -> Self:
        """Keep the value at or below ``bound``."""
        return cls(bound, at_least=False)

    @classmethod
    def above(cls, bound: float) -> Self:
        """Keep the value at or above ``bound``."""
        return cls(bound, at_least=True)

    def met(self, value: float) -> bool:
        """Say whether ``value`` keeps the bound."""
        return value >= self.bound if self.at_least else value <= self.bound

    def __str__(self) -> str:
        return f"{'>=' if self.at_least else '<='} {self.bound:g}"


@dataclass(frozen=True, slots=True)
class Row:
    """One measured value; without a goal it is there to be read."""

    name: str
    value: float
    unit: str = ""
    goal: Goal | None = None

    @property
    def ok(self) -> bool:
        """Whether the goal, if there is one, is met."""
        return self.goal is None or self.goal.met(self.value)


def broken_off(name: str, error: BaseException) -> Row:
    """Return the row of a benchmark that did not come to its end."""
    said = " ".join(str(error).split()).replace("|", "/")
    return Row(f"{name}: broke off, {type(error).__name__}: {said[:200]}", 1, "", Goal.below(0))


def table(rows: Sequence[Row]) -> str:
    """Lay the rows out as a Markdown table."""
    lines = ["| measured | value | goal | |", "|---|---|---|---|"]
    for row in rows:
        verdict = "" if row.goal is None else ("ok" if row.ok else "MISSED")
        goal = "" if row.goal is None else str(row.goal)
        lines.append(f"| {row.name} | {row.value:.4g}{row.unit} | {goal} | {verdict} |")
    return "\n".join(lines)
