"""Read a quota from a YAML file: cells one by one, and products of labels."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field

from pipeline.aims import CATEGORY
from pipeline.quotas.quota import GIVE_UP_AFTER, Quota, QuotaCell
from pipeline.tactics.design import drawable, why_not_drawn
from scenarios.errors import InputError, Problem
from scenarios.located import Located, Step, shortened
from scenarios.schemes.model import Dimension, Scheme
from scenarios.schemes.vocabulary import resolve_label
from scenarios.strict import Strict
from scenarios.yaml_source import validate_model

MOST_CELLS = 10_000
ALL = "all"
"""In place of labels: every one of the dimension."""
COUNT = "accepted"
_GOAL = "goal"

MOST_ACCEPTED = 10_000_000
Count = Annotated[int, Field(ge=1, le=MOST_ACCEPTED, strict=True)]


class QuotaFile(Strict):
    """What a quota file holds.

    ``each`` is a mapping from dimensions to labels (a label, a list, or ``all``), or a list of such
    mappings: every combination of one is a cell. ``cells`` are single combinations, each with
    ``accepted`` of its own if need be, which goes before that of a combination of ``each``.
    Dimensions are those of an utterance, the one that is assigned (also as ``goal``), and
    ``category``, the category of the scenario.
    """

    accepted: Count | None = None
    """Accepted utterances that are wanted of every cell that does not say otherwise."""
    each: Any = None
    cells: Annotated[tuple[dict[str, Any], ...], Field(max_length=MOST_CELLS)] = ()
    give_up_after: Count = GIVE_UP_AFTER
    """Utterances in a row asked for a cell in vain, before it is given up."""


def read_quota(located: Located, scheme: Scheme, categories: Sequence[str]) -> Quota:
    """Return the quota that the data of a YAML file describes.

    Args:
        located: the data, see :class:`QuotaFile`.
        scheme: whose labels they are.
        categories: of the scenarios that are selected.

    Raises:
        InputError: something in it is not right; every problem has its line and field.
    """
    content = validate_model(QuotaFile, located)
    reader = _QuotaReader(located, scheme, categories, content.accepted)
    cells: dict[object, QuotaCell] = {}
    for cell, _ in reader.products(content.each):
        cells[cell.key] = cell
    single: dict[object, tuple[Step, ...]] = {}
    for cell, where in reader.single(content.cells):
        if cell.key in single:
            first = located.line(single[cell.key])
            reader.refuse(where, cell.name, "every cell once", f"it is on line {first}, too")
        single[cell.key] = where
        cells[cell.key] = cell
    if not cells and not reader.problems:
        reader.refuse((), "no cell", "each or cells", "")
    if reader.problems:
        raise InputError(reader.problems)
    return Quota(tuple(cells.values()), content.give_up_after)


def _is_count(value: object) -> bool:
    """Whether something is a number of utterances that may be wanted."""
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MOST_ACCEPTED


@dataclass
class _QuotaReader:
    """Resolves names in a quota file and collects what is wrong with them."""

    located: Located
    scheme: Scheme
    categories: Sequence[str]
    accepted: int | None
    problems: list[Problem] = field(default_factory=list)

    def __post_init__(self) -> None:
        scheme = self.scheme
        self._dimensions: dict[str, Dimension] = {d.id: d for d in drawable(scheme)}
        if scheme.assigned:
            self._dimensions[scheme.assigned] = scheme.goal
        self._names = (*self._dimensions, CATEGORY)

    def products(self, each: object) -> Iterator[tuple[QuotaCell, tuple[Step, ...]]]:
        """Yield a cell for every combination of the products."""
        if each is None:
            return
        several = each if isinstance(each, list) else [each]
        for index, product in enumerate(several):
            where: tuple[Step, ...] = ("each", index) if isinstance(each, list) else ("each",)
            if not isinstance(product, Mapping) or not product:
                expected = "a mapping from dimensions to labels"
                self.refuse(where, shortened(product), expected, "veracity: [Quantity, Manner]")
                continue
            if self.accepted is None:
                self.refuse((COUNT,), "nothing", "how many of every cell are wanted", "")
                return
            choices = {}
            for name, value in product.items():
                dimension = self._dimension(name, (*where, name))
                choices[dimension] = self._labels(dimension, value, (*where, name))
            size = 1
            for labels in choices.values():
                size *= max(1, len(labels))
            if size > MOST_CELLS:
                self.refuse(
                    where, f"{size:,} cells", f"at most {MOST_CELLS:,}", "name fewer labels"
                )
                continue
            for combination in itertools.product(*choices.values()):
                yield self._cell(dict(zip(choices, combination, strict=True)), self.accepted), where

    def single(
        self, rows: Sequence[Mapping[str, Any]]
    ) -> Iterator[tuple[QuotaCell, tuple[Step, ...]]]:
        """Yield the cells that are named one by one."""
        for index, row in enumerate(rows):
            where: tuple[Step, ...] = ("cells", index)
            before = len(self.problems)
            wanted = row.get(COUNT, self.accepted)
            if wanted is None:
                self.refuse(where, "no accepted", "how many of this cell are wanted", "")
            elif not _is_count(wanted):
                expected = f"a whole number from 1 to {MOST_ACCEPTED:,}"
                self.refuse((*where, COUNT), shortened(wanted), expected, "")
            chosen = {}
            for name, value in row.items():
                if name == COUNT:
                    continue
                dimension = self._dimension(name, (*where, name))
                labels = self._labels(dimension, value, (*where, name), one=True)
                chosen[dimension] = labels[0] if labels else ""
            if not chosen:
                self.refuse(where, shortened(row), f"labels of: {', '.join(self._names)}", "")
            elif wanted is not None and len(self.problems) == before:
                yield self._cell(chosen, wanted), where

    def refuse(self, where: Sequence[Step], found: str, expected: str, hint: str) -> None:
        """Note a problem."""
        self.problems.append(self.located.problem(where, found=found, expected=expected, hint=hint))

    def _dimension(self, name: str, where: Sequence[Step]) -> str:
        """Return the id of a dimension; an unknown one is a problem, and comes back as it is."""
        if name == _GOAL and name not in self._dimensions and self.scheme.assigned:
            return self.scheme.assigned
        if name not in self._names:
            hint = why_not_drawn(self.scheme, name)
            self.refuse(where, name, f"one of: {', '.join(self._names)}", hint)
        return name

    def _labels(
        self, name: str, value: object, where: Sequence[Step], *, one: bool = False
    ) -> list[str]:
        """Return the labels that are named, as the scheme spells them, each once."""
        if name not in self._names:
            return []
        known = self.categories if name == CATEGORY else self._dimensions[name].values
        if value == ALL and not one:
            return list(known)
        if one and (isinstance(value, list) or value == ALL):
            hint = "several labels make several cells: use each"
            self.refuse(where, shortened(value), "one label", hint)
            return []
        several = value if isinstance(value, list) else [value]
        if not several:
            self.refuse(where, "an empty list", "at least one label, or all", "")
        found: list[str] = []
        for index, raw in enumerate(several):
            label = self._label(name, raw)
            if label is None:
                place = (*where, index) if isinstance(value, list) else where
                self.refuse(place, shortened(raw), f"one of: {', '.join(known)}", "")
            elif label not in found:
                found.append(label)
        return found

    def _label(self, name: str, raw: object) -> str | None:
        if name == CATEGORY:
            return raw if isinstance(raw, str) and raw in self.categories else None
        resolved = resolve_label(self._dimensions[name], raw)
        return None if resolved is None else str(resolved[0])

    def _cell(self, chosen: Mapping[str, str], accepted: int) -> QuotaCell:
        assigned = self.scheme.assigned
        labels = tuple(
            (name, chosen[name]) for name in self._dimensions if name in chosen and name != assigned
        )
        goal = chosen.get(assigned) if assigned else None
        return QuotaCell(labels, goal, chosen.get(CATEGORY), accepted, assigned or "")
