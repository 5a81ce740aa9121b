"""What the task files beside this one name: their items, and the macro-averaged F1.

A copy of this file lies in every export for lm-evaluation-harness; it needs no package of hipo.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import datasets


def items(aspect: str, prompt: str, label: str, labels: list[str], **_: object) -> Any:
    """Return the items of a task as a ``datasets.DatasetDict``, by split.

    Left out are rows of which nothing is asked there, or whose label nobody knows.

    Args:
        aspect: what may be seen of a dialogue.
        prompt: the column of what a model is sent.
        label: the column of the right label.
        labels: all labels, in the order in which the task lists its answers.
    """
    files = sorted((Path(__file__).parent / "jsonl").glob("*.jsonl"))
    splits = {
        file.stem: [
            row
            for row in _rows(file)
            if row["aspect"] == aspect and row[prompt] is not None and row[label] in labels
        ]
        for file in files
    }
    return datasets.DatasetDict(
        {
            split: datasets.Dataset.from_list(
                [
                    {
                        "id": row["id"],
                        "case": row["case"],
                        "scenario": row["scenario"],
                        "prompt": row[prompt],
                        "listed": not row["initiator"],
                        "right": labels.index(row[label]),
                    }
                    for row in rows
                ]
            )
            for split, rows in splits.items()
            if rows
        }
    )


def macro_f1(items: Sequence[tuple[int, int]]) -> float:
    """Return the mean F1 of the labels that are right for some item.

    Args:
        items: the right label and the given one of every item, as numbers.
    """
    # Given labels are numbers of numpy, whose truth values do not add up.
    found = [(int(right), int(given)) for right, given in items]
    scores = []
    for label in sorted({right for right, _ in found}):
        both = found.count((label, label))
        each = sum((right == label) + (given == label) for right, given in found)
        scores.append(2 * both / each)
    return sum(scores) / len(scores)


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            # An expert's decision is the right label in place of the assigned one.
            yield row | {"goal": row.get("expert_goal") or row["goal"]}
