"""Shares of labels that a tactic design asks for, and what the rules allow of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

_LISTED = 5


@dataclass(frozen=True, slots=True)
class Margin:
    """How one share that was asked for compares with what the rules of the scheme allow."""

    dimensions: tuple[str, ...]
    labels: tuple[str, ...]
    target: float
    """The share asked for, of all labelled turns."""
    achieved: float
    """The share to expect."""

    @property
    def met(self) -> bool:
        """Whether the expected share is within half a percentage point of the target."""
        return abs(self.target - self.achieved) <= 0.005

    def fields(self) -> dict[str, Any]:
        """Return it as plain data; shares are rounded to four digits."""
        return {
            "dimensions": list(self.dimensions),
            "labels": list(self.labels),
            "target": round(self.target, 4),
            "achieved": round(self.achieved, 4),
        }

    @classmethod
    def from_fields(cls, fields: Mapping[str, Any]) -> Self:
        """Read what :meth:`fields` gave."""
        return cls(
            tuple(fields["dimensions"]), tuple(fields["labels"]),
            float(fields["target"]), float(fields["achieved"]),
        )  # fmt: skip


def unmet_in_words(unmet: Iterable[Margin]) -> str:
    """Say which shares fall short because rules forbid more; empty where none is out of reach.

    Labels that are asked for in their place although nobody wants them are named, too. Shares that
    merely rise because others fall short are not listed, unless there is nothing else.
    """
    margins = list(unmet)
    short = [margin for margin in margins if margin.achieved < margin.target] or margins
    short.sort(key=lambda margin: margin.achieved - margin.target)
    if not short:
        return ""
    told = f"wanted tactics that the rules put out of reach: {_listed(short)}"
    unwanted = [margin for margin in margins if margin.target == 0 and margin not in short]
    unwanted.sort(key=lambda margin: -margin.achieved)
    if unwanted:
        told += f"; asked for in their place: {_listed(unwanted)}"
    return told


def _listed(margins: Sequence[Margin]) -> str:
    listed = ", ".join(
        f"{' + '.join(margin.labels)} {margin.target:.1%} wanted and {margin.achieved:.1%} to expect"
        for margin in margins[:_LISTED]
    )
    return listed + (f", and {len(margins) - _LISTED} more" if len(margins) > _LISTED else "")
