"""The rows of a data set that an audit reads: those of about so many dialogues."""

from __future__ import annotations

from collections.abc import Iterator

from outputs.audit.run_corpus import is_drawn
from outputs.contamination.comparable import Row
from outputs.contamination.contamination import RowSet


def dialogues_in(rows: RowSet) -> int:
    """Count the dialogues that rows are of; one that names no case is a dialogue itself."""
    return len({_dialogue(row, number) for number, row in enumerate(rows.rows())})


def drawn_rows(rows: RowSet, most: int, seed: int) -> Iterator[Row]:
    """Yield all rows of some dialogues, whole pairs of them.

    Args:
        rows: the data set; it is read twice.
        most: from how many dialogues on pairs are drawn, so that about so many are read.
        seed: which are drawn.
    """
    of = dialogues_in(rows)
    for number, row in enumerate(rows.rows()):
        if is_drawn(str(row.get("pair") or row.get("case") or number), of, most, seed):
            yield row


def _dialogue(row: Row, number: int) -> int:
    """Return a number for the dialogue of a row; a set of those is smaller than one of names."""
    return hash((row["case"], row.get("arm"))) if row.get("case") else hash(number)
