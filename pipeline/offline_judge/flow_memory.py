"""The lines of scenarios with a flow, which the offline judge knows by heart, and mistakes in them.

Their labels need reading between the lines, which no rule here can. What it knows it forgets at a
given rate: readers of real lines differ, too, and a demonstration without doubt has nothing to flag.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from pipeline.offline_judge.memory import Words, spoken
from scenarios.catalogue import Catalogue
from scenarios.fingerprint import text_hash
from scenarios.lines.library import spoken_flow_lines
from scenarios.lines.model import FlowLine
from scenarios.pack import FAMILIES
from scenarios.schemes.dimension import ROLE
from scenarios.schemes.registry import load_scheme
from scenarios.terms import LabelValue

MISTAKES: Final = 0.15
"""The share of labels that are forgotten, by a hash of line and dimension."""
GOAL: Final = "goal"
"""In place of a dimension: what the scenes of a line are made for, where that is one thing."""


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of a line."""

    labels: Mapping[str, LabelValue]
    bound: frozenset[str]
    """Dimensions of which one decides what another can be."""
    rivals: Sequence[Mapping[str, LabelValue]]
    """The labels of the lines of its role in its scene, its own among them."""

    def read(self, text: str) -> Mapping[str, LabelValue]:
        """Return its labels; those that are bound, with a mistake, as another line has them.

        They are forgotten together: a reader who takes a refusal for praise finds in it what people
        want with praise, and not what they want with refusals.
        """
        part = _part(f"bound\n{text}") / MISTAKES
        if not self.bound or part >= 1:
            return self.labels
        other = self.rivals[int(part * len(self.rivals))]
        free = {name: value for name, value in self.labels.items() if name not in self.bound}
        return free | {name: value for name, value in other.items() if name in self.bound}


def remembered_label(text: str, dimension: str, options: Sequence[str]) -> LabelValue | None:
    """Return the label of a line that is known; another one of those on offer where it is mistaken.

    Args:
        text: what was said.
        dimension: what is asked.
        options: the labels that can be chosen; none where a number is asked for.

    Returns:
        None where the line is not known, nothing is known of the dimension, or its label is not on
        offer.
    """
    line = _known().get(spoken(text))
    labels = {} if line is None else line.read(text)
    known = labels.get(dimension, labels.get(GOAL) if dimension not in labels else None)
    if known is None or (bool(options) and known not in options):
        return None
    if not options:
        return known if isinstance(known, (int, float)) else None
    part = _part(f"{dimension}\n{text}") / MISTAKES
    if part >= 1 or len(options) < 2 or (line is not None and dimension in line.bound):
        return known
    others = [option for option in options if option != known]
    return others[int(part * len(others))]


def has_no_label(text: str, dimension: str) -> bool:
    """Return whether a line, as it is read, is one for which a dimension does not arise."""
    line = _known().get(spoken(text))
    if line is None or dimension not in line.bound:
        return False
    labels = line.read(text)
    return dimension not in labels and any(name in labels for name in line.bound)


def _part(key: str) -> float:
    """Return a number in ``[0, 1)`` that follows from a text."""
    return text_hash(key) / 2**64


@cache
def _known() -> Mapping[Words, _Known]:
    """Return what is known of each line by its words; of what is said twice, the first."""
    found: dict[Words, _Known] = {}
    for entry in Catalogue.load([FAMILIES], environment={}).entries.values():
        lines = spoken_flow_lines(entry.template) if entry.template.flow else None
        bound = _bound(entry.template.scheme)
        for roles in lines.flow.values() if lines else ():
            for moments in roles.values():
                said = [line for moment in moments for line in moment]
                labels = [_labels(line, entry.scenario.goals) for line in said]
                for line, own in zip(said, labels, strict=True):
                    found.setdefault(spoken(line.text), _Known(own, bound, labels))
    return found


@cache
def _bound(scheme: str) -> frozenset[str]:
    """Return the dimensions that are asked, or have labels, under a condition, and those it names."""
    bound: set[str] = set()
    for dimension in load_scheme(scheme).dimensions:
        conditions = [dimension.when, *(label.applies for label in dimension.labels)]
        named = {name for condition in conditions for name in condition if name != ROLE}
        if named:
            bound |= named | {dimension.id}
    return frozenset(bound)


def _labels(line: FlowLine, goals: tuple[str, ...]) -> dict[str, LabelValue]:
    made_for = line.goal or goals
    return {**line.labels, **({GOAL: made_for[0]} if len(made_for) == 1 else {})}
