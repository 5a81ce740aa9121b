"""A page of the list of dialogues, and what could be chosen to narrow it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quality.viewer.columns import VERDICTS, DialogueColumns, Mask
from quality.viewer.dialogue_filter import DialogueFilter
from quality.viewer.label_table import in_order
from quality.viewer.viewed_run import ViewedRun
from scenarios.arms import Arm

PAGE = 50
MOST_CHOICES = 400
"""Values of one select; labels that are numbers can have any number of them."""
_TITLES = {"verdict": "Verdict", "fact": "Fact", "flag": "Flag"}


@dataclass(frozen=True, slots=True)
class FilterChoice:
    """One value of a select, and how many dialogues it leaves."""

    value: str
    name: str
    n: int
    chosen: bool


@dataclass(frozen=True, slots=True)
class ChoiceGroup:
    """One select of the form."""

    parameter: str
    title: str
    choices: tuple[FilterChoice, ...]


@dataclass(frozen=True, slots=True)
class ListRow:
    """One dialogue, or one failure, of the list."""

    id: str
    """``case/arm``."""
    scenario: str
    fact: str
    goal: str
    strategy: str
    model: str
    verdict: str
    flags: tuple[str, ...]
    words: str
    """How it begins; of a failure its reason."""


@dataclass(frozen=True, slots=True)
class ListPage:
    """One page of the list."""

    rows: tuple[ListRow, ...]
    found: int
    """Dialogues that pass the filter."""
    number: int
    """From 1."""
    pages: int
    groups: tuple[ChoiceGroup, ...]
    unindexed: int
    """Dialogues in which words were not looked for, because they are not read yet."""


def list_page(run: ViewedRun, chosen: DialogueFilter, number: int) -> ListPage:
    """Return a page of the dialogues that pass a filter; the last one where there are not so many."""
    columns = run.columns
    found = run.found(chosen.text)
    rows = columns.listed(columns.mask(chosen, found))
    pages = max(1, -(-len(rows) // PAGE))
    number = min(max(number, 1), pages)
    there = rows[(number - 1) * PAGE : number * PAGE].tolist()
    return ListPage(
        rows=_rows(run, columns, there),
        found=len(rows),
        number=number,
        pages=pages,
        groups=choice_groups(run, chosen, found),
        unindexed=int(np.count_nonzero(columns.seq > run.words.until)) if chosen.text else 0,
    )


def choice_groups(
    run: ViewedRun, chosen: DialogueFilter, found: Mask | None = None
) -> tuple[ChoiceGroup, ...]:
    """Return the selects of the form; one that has no two values, and no wish, is left out."""
    columns, order = run.columns, run.label_order
    counts = columns.choices(chosen, found)
    wishes = dict(chosen.wishes)
    groups = []
    for parameter, by_value in counts.items():
        values = {value: n for value, n in by_value.items() if value}
        wish = wishes.get(parameter, "")
        total = columns.fields[parameter].names if parameter in columns.fields else values
        if wish or len([value for value in total if value]) > 1 or (values and parameter == "flag"):
            name = parameter.removeprefix("label.")
            title = _TITLES.get(name, name.replace("_", " ").capitalize())
            choices = _choices(parameter, values, wish, order.get(name, ()))
            groups.append(ChoiceGroup(parameter, title, choices))
    return tuple(groups)


def neighbours(rows: NDArray[np.int64], row: int) -> tuple[int | None, int | None, int]:
    """Return the rows before and after one in a list, and its place in it, from 0; -1 if outside."""
    places = np.flatnonzero(rows == row)
    if not len(places):
        return None, None, -1
    place = int(places[0])
    before = int(rows[place - 1]) if place else None
    after = int(rows[place + 1]) if place + 1 < len(rows) else None
    return before, after, place


def arm_names(arms: Mapping[str, Arm]) -> dict[str, str]:
    """Return a name for each arm by id; arms of one name are told apart by their settings."""
    names: dict[str, str] = {}
    for arm_id, arm in arms.items():
        alike = [other for key, other in arms.items() if other.label == arm.label and key != arm_id]
        names[arm_id] = f"{arm.label} ({arm_id[:8]})" if alike else arm.label
    return names


def _choices(
    parameter: str, values: Mapping[str, int], wish: str, order: Sequence[str]
) -> tuple[FilterChoice, ...]:
    names = list(values)
    if parameter == "verdict":
        names = [verdict for verdict in VERDICTS if verdict in values]
    elif parameter == "flag":
        names = sorted(values, key=lambda value: (-values[value], value))
    else:
        names = in_order(values, order)
    kept = names[:MOST_CHOICES]
    if wish and wish not in kept:
        kept.append(wish)
    return tuple(
        FilterChoice(name, _shown(parameter, name), values.get(name, 0), name == wish)
        for name in kept
    )


def _shown(parameter: str, value: str) -> str:
    if parameter == "fact":
        return value.replace("/", " · ", 1)
    return value.replace("_", " ") if parameter in ("flag", "scenario") else value


def _rows(run: ViewedRun, columns: DialogueColumns, rows: Sequence[int]) -> tuple[ListRow, ...]:
    places = {int(columns.seq[row]): row for row in rows}
    listed = run.reader.listed(list(places))

    shown = []
    for one in listed:
        row = places[one.seq]
        shown.append(
            ListRow(
                id=f"{one.case}/{one.arm}",
                scenario=columns.value("scenario", row),
                fact=columns.value("fact", row).partition("/")[2],
                goal=columns.value("goal", row),
                strategy=columns.value("strategy", row),
                model=columns.value("model", row),
                verdict=columns.value("verdict", row),
                flags=tuple(code for code, there in columns.flags.items() if there[row]),
                words=one.words if one.code is None else f"{one.code}: {one.reason}",
            )
        )
    return tuple(shown)
