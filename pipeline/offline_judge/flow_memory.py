"""The lines of scenarios with a flow, which the offline judge knows by heart, and mistakes in them.

Their labels need reading between the lines, which no rule here can. What it knows it forgets at a
given rate: readers of real lines differ, too, and a demonstration without doubt has nothing to flag.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from pipeline.offline_judge.memory import Words, spoken
from scenarios.catalogue import Catalogue
from scenarios.lines.library import spoken_flow_lines
from scenarios.lines.model import FlowLine
from scenarios.pack import FAMILIES
from scenarios.schemes.model import LabelValue

MISTAKES: Final = 0.15
"""The share of labels that are forgotten, by a hash of line and dimension."""
GOAL: Final = "goal"
"""In place of a dimension: what the scenes of a line are made for, where that is one thing."""


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
    labels = _known().get(spoken(text), {})
    known = labels.get(dimension, labels.get(GOAL) if dimension not in labels else None)
    if known is None or (bool(options) and known not in options):
        return None
    if not options:
        return known if isinstance(known, (int, float)) else None
    digest = hashlib.blake2b(f"{dimension}\n{text}".encode("utf-8", "replace"), digest_size=8)
    drawn = int.from_bytes(digest.digest(), "big") / 2**64
    if drawn >= MISTAKES or len(options) < 2:
        return known
    others = [option for option in options if option != known]
    return others[int(drawn / MISTAKES * len(others))]


@cache
def _known() -> Mapping[Words, Mapping[str, LabelValue]]:
    """Return the labels of each line by its words; of what is said twice, those of the first."""
    found: dict[Words, Mapping[str, LabelValue]] = {}
    for entry in Catalogue.load([FAMILIES], environment={}).entries.values():
        lines = spoken_flow_lines(entry.template) if entry.template.flow else None
        for roles in lines.flow.values() if lines else ():
            for moments in roles.values():
                for line in (line for moment in moments for line in moment):
                    found.setdefault(spoken(line.text), _labels(line, entry.scenario.goals))
    return found


def _labels(line: FlowLine, goals: tuple[str, ...]) -> dict[str, LabelValue]:
    made_for = line.goal or goals
    return {**line.labels, **({GOAL: made_for[0]} if len(made_for) == 1 else {})}
