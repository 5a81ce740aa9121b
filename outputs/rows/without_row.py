"""Why an export made no row of a dialogue, in one word that is counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol, runtime_checkable

from outputs.dataset.columns import RowSource
from outputs.rows.learnt_once import CountsRepeats
from outputs.selecting.selection import SelectedDialogue


@runtime_checkable
class SaysWhy(Protocol):
    """A source of rows that knows why it made none of a dialogue."""

    def why_none(self, selected: SelectedDialogue) -> str:
        """Return the reason, a key of ``outputs.selecting.left_out.WORDS`` or plain words; empty: unknown.

        Args:
            selected: of the batch whose rows were made last.
        """


@runtime_checkable
class LeavesRowsOut(Protocol):
    """A source of rows that leaves some of a dialogue out, and knows why."""

    @property
    def rows_left_out(self) -> Mapping[str, int]:
        """How many it has left out so far, by reason: as ``outputs.selecting.left_out`` names it, or plain words."""


@runtime_checkable
class KeepsRepeats(Protocol):
    """A source of rows some of which repeat an earlier one, and stay."""

    @property
    def repeated(self) -> int:
        """How many so far."""


def repeated_by(source: RowSource) -> int:
    """Return how many rows so far repeat an earlier one and are in the set all the same."""
    return source.repeated if isinstance(source, KeepsRepeats) else 0


def repeats_of(source: RowSource) -> Callable[[], int]:
    """Return what tells how many rows a source has left out so far because they repeat others."""
    if isinstance(source, CountsRepeats):
        return lambda: source.repeats
    return lambda: 0


def rows_left_out_by(source: RowSource) -> dict[str, int]:
    """Return how many rows a source has left out so far, by reason."""
    own = source.rows_left_out if isinstance(source, LeavesRowsOut) else {}
    return {**own, "duplicate": repeats_of(source)()}


def whys_of(source: RowSource) -> Callable[[SelectedDialogue], str]:
    """Return what tells why a source made no row of a dialogue of the latest batch; empty: unknown.

    Whether a source can tell is found out once: to look takes longer than to make a row.
    """
    return source.why_none if isinstance(source, SaysWhy) else lambda _: ""
