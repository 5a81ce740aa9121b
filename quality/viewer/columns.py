"""Every dialogue of a run as columns of small numbers, so that filters and tables take no time.

A quarter of a million dialogues are some ten arrays of one megabyte each; a filter compares them
with a number, a table counts them. Texts stay in the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.store.queries.browsing import Marks
from quality.viewer.dialogue_filter import DialogueFilter

Codes = NDArray[np.int32]
Mask = NDArray[np.bool_]
NO_LABEL = -1
VERDICTS = ("accepted", "pending", "discarded", "not judged", "failed")
"""How a dialogue stands; beside the verdicts, that there is none yet, or no dialogue."""
NOT_JUDGED, FAILED = VERDICTS.index("not judged"), VERDICTS.index("failed")


@dataclass(frozen=True, slots=True)
class CodedColumn:
    """Values from a small set, as numbers of their names."""

    codes: Codes
    names: tuple[str, ...]

    def is_value(self, name: str) -> Mask:
        """Return where a value stands; nowhere if it never occurs."""
        if name not in self.names:
            return np.zeros(len(self.codes), dtype=bool)
        found: Mask = self.codes == self.names.index(name)
        return found

    def counts(self, mask: Mask) -> dict[str, int]:
        """Return how often each value stands where ``mask`` is true; those that do not are left out."""
        codes = self.codes[mask]
        counted = np.bincount(codes[codes >= 0], minlength=len(self.names))
        return {name: int(n) for name, n in zip(self.names, counted, strict=True) if n}


@dataclass(frozen=True, slots=True)
class DialogueColumns:
    """A run at one moment; row ``i`` of every column is about the same dialogue or failure."""

    marks: Marks
    """How far the run was when it was read."""
    seq: NDArray[np.int64]
    """The numbers of dialogues in the run, ascending."""
    finished_at: NDArray[np.float64]
    order: NDArray[np.int64]
    """Rows in the order of cases, then arms."""
    fields: Mapping[str, CodedColumn]
    """One value a dialogue, by field."""
    utterance: Codes
    """Of every labelled utterance, the row of its dialogue, ascending."""
    labels: Mapping[str, CodedColumn]
    """One label an utterance, by dimension."""
    flags: Mapping[str, Mask]
    """Rows whose newest assessment holds a flag, by its code."""
    raised: NDArray[np.int32]
    """Number of flags of each row."""

    def __len__(self) -> int:
        return len(self.seq)

    def utterances_with(self, chosen: DialogueFilter, *, without: str = "") -> Mask:
        """Return the utterances that declare the labels asked for, those of one dimension aside."""
        mask = np.ones(len(self.utterance), dtype=bool)
        for dimension, value in chosen.labels:
            if dimension != without:
                column = self.labels.get(dimension)
                mask &= False if column is None else column.is_value(value)
        return mask

    def mask(self, chosen: DialogueFilter, found: Mask | None = None, *, without: str = "") -> Mask:
        """Return the rows that pass a filter.

        Args:
            chosen: the filter.
            found: rows in which the words were found; None where none are asked for.
            without: a field, a dimension or ``flag`` whose wish is not regarded.
        """
        mask = np.ones(len(self), dtype=bool) if found is None else found.copy()
        for name, value in chosen.fields:
            if name != without:
                mask &= self.fields[name].is_value(value)
        if any(dimension != without for dimension, _ in chosen.labels):
            mask &= self.rows_of(self.utterances_with(chosen, without=without))
        if chosen.flag and without != "flag":
            mask &= self.flags.get(chosen.flag, np.zeros(len(self), dtype=bool))
        return mask

    def value(self, field: str, row: int) -> str:
        """Return the value of a field in one row."""
        column = self.fields[field]
        return column.names[int(column.codes[row])]

    def rows_of(self, utterances: Mask) -> Mask:
        """Return the dialogues that hold any of some utterances."""
        rows = np.zeros(len(self), dtype=bool)
        rows[self.utterance[utterances]] = True
        return rows

    def rows_at(self, seqs: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows of numbers of dialogues; those that are not there are left out."""
        places = np.searchsorted(self.seq, seqs)
        places = np.minimum(places, max(len(self.seq) - 1, 0))
        known = self.seq[places] == seqs if len(self.seq) else np.zeros(len(seqs), dtype=bool)
        rows: NDArray[np.int64] = places[known]
        return rows

    def listed(self, mask: Mask) -> NDArray[np.int64]:
        """Return the rows of a mask in the order of cases."""
        rows: NDArray[np.int64] = self.order[mask[self.order]]
        return rows

    def choices(
        self, chosen: DialogueFilter, found: Mask | None = None
    ) -> dict[str, dict[str, int]]:
        """Count dialogues by every value that could be chosen next, the rest of a filter as it is.

        Returns:
            Counts by value, by field, ``label.DIMENSION`` and ``flag``.
        """
        everything = self.mask(chosen, found)
        wishes = {name for name, _ in (*chosen.fields, *chosen.labels)}

        def rows(name: str) -> Mask:
            return self.mask(chosen, found, without=name) if name in wishes else everything

        counts = {name: column.counts(rows(name)) for name, column in self.fields.items()}
        for dimension, column in self.labels.items():
            # The other labels of the filter have to stand in the same utterance.
            there = rows(dimension)[self.utterance]
            if chosen.labels:
                there &= self.utterances_with(chosen, without=dimension)
            counts[f"label.{dimension}"] = _dialogues_by_label(
                column, self.utterance, there, len(self)
            )
        unflagged = self.mask(chosen, found, without="flag") if chosen.flag else everything
        counts["flag"] = {
            code: n for code, own in self.flags.items() if (n := int((own & unflagged).sum()))
        }
        return counts


def _dialogues_by_label(
    column: CodedColumn, utterance: Codes, there: Mask, dialogues: int
) -> dict[str, int]:
    """Count the dialogues with an utterance of each label; a dialogue counts once for a label."""
    own = there & (column.codes >= 0)
    # A row a label: true values are counted many times faster along memory than across it.
    seen = np.zeros((len(column.names), dialogues), dtype=bool)
    seen[column.codes[own], utterance[own]] = True
    counted = map(np.count_nonzero, seen)
    return {name: int(n) for name, n in zip(column.names, counted, strict=True) if n}
