"""Read which labels may stand beside which others, from what a prompt says of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pipeline.chunks import marked_parts

_DIMENSION = re.compile(r"^## ([^:\n]+): .*$", re.MULTILINE)
_ELSE = re.compile(r'Only where (.+?); else answer "([^"]+)"\.')
_LABEL = re.compile(r"^- ([^:\n]+): .*\(Only where (.+?)\.\)", re.MULTILINE)
_NAMED = re.compile(r'(\w+) is ((?:"[^"]*"(?:, | or )?)+)')
_QUOTED = re.compile(r'"([^"]*)"')

Condition = Mapping[str, frozenset[str]]
"""By dimension, the labels of which one has to be there."""


@dataclass(frozen=True)
class Conditions:
    """The conditions under which dimensions are asked for, and labels can be chosen."""

    dimensions: Mapping[str, tuple[Condition, str]]
    """By dimension: its condition, and what is answered where it does not hold."""
    labels: Mapping[tuple[str, str], Condition]

    def open(
        self, dimension: str, options: Sequence[str], chosen: Mapping[str, object]
    ) -> tuple[str, ...]:
        """Return the options that may stand beside what was chosen for other dimensions."""
        if dimension in self.dimensions:
            condition, otherwise = self.dimensions[dimension]
            if not _holds(condition, chosen):
                return (otherwise,)
            options = [option for option in options if option != otherwise]
        fitting = tuple(
            option for option in options if _holds(self.labels.get((dimension, option), {}), chosen)
        )
        return fitting or tuple(options)


@lru_cache(maxsize=256)
def read_conditions(told: str) -> Conditions:
    """Return the conditions that the static text of a prompt names."""
    dimensions: dict[str, tuple[Condition, str]] = {}
    labels: dict[tuple[str, str], Condition] = {}
    for mark, part in marked_parts(told, _DIMENSION.finditer(told)):
        section = part.partition("\n# ")[0]
        if found := _ELSE.search(section):
            dimensions[mark[1]] = (_condition(found[1]), found[2])
        for label, condition in _LABEL.findall(section):
            labels[mark[1], label] = _condition(condition)
    return Conditions(dimensions, labels)


def _condition(text: str) -> Condition:
    return {name: frozenset(_QUOTED.findall(values)) for name, values in _NAMED.findall(text)}


def _holds(condition: Condition, chosen: Mapping[str, object]) -> bool:
    return all(chosen.get(name) in labels for name, labels in condition.items())
