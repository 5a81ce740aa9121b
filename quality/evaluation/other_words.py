"""Words that models wrote where labels of the scheme were asked for, and as what they were read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from quality.evaluation.result_row import ResultRow


@dataclass(frozen=True, slots=True)
class OtherWord:
    """One word that is no label, as one model wrote it in one mode of a task."""

    task: str
    mode: str
    model: str
    dimension: str
    written: str
    label: str | None
    """The label that the scheme declares it to mean; None: it means none, which is wrong."""
    answers: int


def other_words(rows: Iterable[ResultRow], dimensions: Collection[str]) -> list[OtherWord]:
    """Count the words that are no labels, the most frequent first; repeats of a question are left out.

    Source: CEI, table 6.
    """
    counts = Counter(
        (row.task, row.mode, row.model, name, row.raw[name].casefold(), row.labels.get(name))
        for row in rows
        for name in row.raw
        if row.repeat == 0 and name in dimensions
        if name in row.harmonised or row.faults.get(name) == "unknown label"
    )
    return [OtherWord(*word, answers) for word, answers in counts.most_common()]
