"""Which labels of two dimensions stand together in one utterance, and how often."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quality.viewer.columns import DialogueColumns, Mask

MOST_LABELS = 40
"""Rows, and columns; labels that are numbers can have any number."""
SHADES = 5


@dataclass(frozen=True, slots=True)
class CrossedLabels:
    """Utterances with one label of each dimension."""

    n: int
    share: float
    """Of the utterances of the row."""
    shade: int
    """0 (none) to ``SHADES``, by the share of the row."""


@dataclass(frozen=True, slots=True)
class LabelTable:
    """Counts of utterances by two labels."""

    down: str
    """The dimension of the rows."""
    across: str
    """The dimension of the columns."""
    columns: tuple[str, ...]
    rows: tuple[tuple[str, int, tuple[CrossedLabels, ...]], ...]
    """(label, utterances, cells)."""
    totals: tuple[int, ...]
    """Utterances by label of ``across``."""
    utterances: int
    """Those with a label of both dimensions."""
    left_out: int
    """Utterances with labels beyond the most frequent."""


def label_table(
    columns: DialogueColumns,
    mask: Mask,
    utterances: Mask,
    down: str,
    across: str,
    *,
    order: Mapping[str, Sequence[str]],
) -> LabelTable:
    """Count the utterances of some dialogues by the labels of two dimensions.

    Args:
        columns: of the run.
        mask: the dialogues.
        utterances: the utterances that are counted, as far as they are in these dialogues.
        down: dimension of the rows.
        across: dimension of the columns; the same one counts each of its labels once.
        order: the labels of each dimension as the scheme has them, ordinal ones from low to high.
    """
    first, second = columns.labels[down], columns.labels[across]
    there = utterances & mask[columns.utterance] & (first.codes >= 0) & (second.codes >= 0)
    wide = len(second.names)
    pairs = first.codes[there].astype(np.int64) * wide + second.codes[there]
    counts = np.bincount(pairs, minlength=len(first.names) * wide).reshape(-1, wide)
    kept_down = _frequent(counts.sum(axis=1), first.names, order.get(down, ()))
    kept_across = _frequent(counts.sum(axis=0), second.names, order.get(across, ()))
    kept = counts[np.ix_(kept_down, kept_across)]
    return LabelTable(
        down=down,
        across=across,
        columns=tuple(second.names[code] for code in kept_across),
        rows=tuple(
            (first.names[code], int(row.sum()), tuple(_cell(int(n), int(row.sum())) for n in row))
            for code, row in zip(kept_down, kept, strict=True)
        ),
        totals=tuple(int(n) for n in kept.sum(axis=0)),
        utterances=int(counts.sum()),
        left_out=int(counts.sum() - kept.sum()),
    )


def in_order(names: Iterable[str], order: Sequence[str]) -> list[str]:
    """Return labels as the scheme has them; others follow, numbers by their size, then by name."""

    def place(name: str) -> tuple[int, float, str]:
        at = order.index(name) if name in order else len(order)
        try:
            return at, float(name), name
        except ValueError:
            return at, math.inf, name

    return sorted(names, key=place)


def _frequent(counts: NDArray[np.int64], names: tuple[str, ...], order: Sequence[str]) -> list[int]:
    """Return the codes of the most frequent labels that occur, in order."""
    there = [code for code in np.argsort(-counts, kind="stable").tolist() if counts[code]]
    kept = {names[code]: code for code in there[:MOST_LABELS]}
    return [kept[name] for name in in_order(kept, order)]


def _cell(n: int, row: int) -> CrossedLabels:
    share = n / row if row else 0.0
    return CrossedLabels(n, share, 0 if not n else max(1, round(share * SHADES)))
