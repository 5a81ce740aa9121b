"""Balance classes: of every label of a dimension, or tag, the same number of rows, drawn by a seed."""

from __future__ import annotations

import hashlib
from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence

from outputs.dataset.columns import Row, label_column, right_goal
from scenarios.errors import UsageError
from scenarios.schemes.model import Scheme
from scenarios.spec import Scenario

Cell = tuple[str, str]
"""Split, and the aspect or origin of a row: what is balanced by itself."""


class Balance:
    """Counts all rows once, then says of each whether it is among those kept.

    Of every cell the commoner labels lose rows until each has as many as the rarest that occurs.
    Which rows stay is decided by a hash of seed and row id, so it does not depend on their order.
    Rows without a label of the dimension (conversations, where utterances are balanced) all stay.
    Memory: eight bytes a row.
    """

    def __init__(self, column: str, seed: int, classes: Mapping[object, str] | None = None) -> None:
        """Balance by the values of one column of the rows, or by the class that each value is of."""
        self.column = column
        self._classes = classes
        self._key = hashlib.blake2b(str(seed).encode(), digest_size=32).digest()
        self._marks: defaultdict[tuple[Cell, str], array[int]] = defaultdict(lambda: array("Q"))
        self._limits: dict[tuple[Cell, str], int] = {}
        self.dropped = 0

    def count(self, split: str, row: Row) -> None:
        """Count one row; all of them, before the first is asked about."""
        label = self._label(row)
        if label is not None:
            self._marks[_cell(split, row), str(label)].append(self._mark(row))

    def settle(self) -> None:
        """Decide how many rows of each label stay."""
        rarest: dict[Cell, int] = {}
        for (cell, _), marks in self._marks.items():
            rarest[cell] = min(rarest.get(cell, len(marks)), len(marks))
        for (cell, label), marks in self._marks.items():
            self._limits[cell, label] = sorted(marks)[rarest[cell] - 1]
        self._marks.clear()

    def keeps(self, split: str, row: Row) -> bool:
        """Return whether a row stays; each is asked about once."""
        label = self._label(row)
        if label is None:
            return True
        place = _cell(split, row), str(label)
        if self._mark(row) <= self._limits[place]:
            return True
        self.dropped += 1
        return False

    def _label(self, row: Row) -> object:
        value = right_goal(row) if self.column == "goal" else row[self.column]
        return value if self._classes is None else self._classes.get(value)

    def _mark(self, row: Row) -> int:
        digest = hashlib.blake2b(str(row["id"]).encode(), digest_size=8, key=self._key).digest()
        return int.from_bytes(digest, "big")


def classes_by_tag(scenarios: Sequence[Scenario], wanted: str) -> Mapping[object, str] | None:
    """Return the class of each scenario by its id where rows are balanced by tags; else None.

    Args:
        scenarios: of the runs.
        wanted: ``tag``: the classes are the tags, of which each scenario has just one, as CEI's says
            who stands above whom; ``tag:TAG``: they are the scenarios that have this tag, and all
            others; anything else names a dimension.

    Raises:
        UsageError: a scenario has no tag or several, or all scenarios are of one class.
    """
    kind, _, tag = wanted.partition(":")
    if kind != "tag":
        return None
    if not scenarios:  # what is wrong is told where it is known
        return {}
    there = sorted({tag for scenario in scenarios for tag in scenario.tags})
    if tag:
        classes: dict[object, str] = {s.id: tag if tag in s.tags else "" for s in scenarios}
    else:
        for scenario in scenarios:
            if len(scenario.tags) != 1:
                raise UsageError(
                    f"--balance tag takes scenarios with one tag each, and {scenario.id!r} has "
                    + (
                        f"{len(scenario.tags)}: {', '.join(scenario.tags)}"
                        if scenario.tags
                        else "none"
                    ),
                    "name one tag: --balance tag:TAG makes as many rows with it as without it"
                    + (f"; there are {', '.join(there)}" if there else ""),
                )
        classes = {scenario.id: scenario.tags[0] for scenario in scenarios}
    if len(set(classes.values())) < 2:
        found = (
            f"all scenarios have the tag {tag!r}" if tag in there else f"no scenario has {tag!r}"
        )
        raise UsageError(
            f"--balance {wanted}: {found if tag else f'all scenarios have the tag {there[0]!r}'}",
            f"there are {', '.join(there)}" if there else "leave it out",
        )
    return classes


def balanced_column(scheme: Scheme, dimension: str) -> str:
    """Return the column that holds a dimension to balance by.

    Args:
        scheme: of the labels.
        dimension: its name, or the name of its column in rows: ``intention``, ``label_intention``.

    Raises:
        UsageError: the scheme has no such dimension, or it has no single labels to count.
    """
    names = [d.id for d in scheme.utterance_dimensions]
    names = [scheme.assigned, *names] if scheme.assigned else names
    fit = [n for n in names if scheme.dimension(n).measurement in ("nominal", "ordinal")]
    by_column = {"goal" if n == scheme.assigned else label_column(n): n for n in names}
    dimension = by_column.get(dimension, dimension)
    if dimension not in fit:
        what = "cannot be balanced by" if dimension in names else "has no dimension"
        raise UsageError(f"the scheme {scheme.id!r} {what} {dimension!r}", _choices([*fit, "tag"]))
    return "goal" if dimension == scheme.assigned else label_column(dimension)


def _choices(names: Sequence[str]) -> str:
    return f"choose of: {', '.join(names)}"


def _cell(split: str, row: Row) -> Cell:
    return split, str(row.get("aspect") or row.get("origin") or "")
