"""Fill phrase templates of the grammar."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from pipeline.offline.dice import Dice
from pipeline.offline.lexicon import load, tree

Slots = Mapping[str, Sequence[str]]
"""The fillers each slot may take; a slot without any makes its templates unavailable."""

_SLOT = re.compile(r"\{(\w+)\}")
MARKS = re.compile(r"^(?=[tdcm])([td]?)([cm]?)\| ")
"""What stands before a template: the goal it is kept for, and why it is said alone."""
_FRAME = 3
"""Words around a slot from which on a template is known again."""
_INTENTIONS = {"": "Inform", "c": "Convince", "m": "Motivate"}
"""Why a line is said that stands alone, by its mark."""


@lru_cache(maxsize=4096)
def slots_of(template: str) -> tuple[str, ...]:
    """Return the slots a template has, in order."""
    return tuple(_SLOT.findall(template))


@lru_cache(maxsize=4096)
def around_slots(template: str) -> tuple[str, ...]:
    """Return what stands before, between and after the slots of a template, if it is known again by it."""
    parts = (part.strip(" ,:") for part in _SLOT.split(template)[::2])
    return tuple(part for part in parts if len(part.split()) >= _FRAME)


@lru_cache(maxsize=1024)
def choices(book: str, first: str, second: str, mark: str, intention: str = "") -> tuple[str, ...]:
    """Return the templates of one cell of a phrase book that fit the goal mark ``t`` or ``d``.

    A cell that the book does not have has none. With an intention, only those that have it when they
    stand alone are returned.
    """
    fillers = []
    for line in tree(book).get(first, {}).get(second, ()):
        match = MARKS.match(line)
        goal, why = match.groups() if match else ("", "")
        if goal in ("", mark) and intention in ("", _INTENTIONS[why]):
            fillers.append(line[match.end() :] if match else line)
    return tuple(fillers)


@lru_cache(maxsize=256)
def listed(book: str, *path: str) -> tuple[str, ...]:
    """Return the templates that stand under ``path`` in a data file; none where there are none."""
    node: object = load(book)
    for key in path:
        node = node.get(key) if isinstance(node, dict) else None
    return tuple(str(item) for item in node) if isinstance(node, list) else ()


def available(templates: Sequence[str], slots: Slots) -> list[str]:
    """Return the templates whose slots can all be filled."""
    return [t for t in templates if all(slots.get(name) for name in slots_of(t))]


def fill(template: str, slots: Slots, dice: Dice) -> str:
    """Fill a template; what is put in is text and never read as a template again."""
    if "{" not in template:
        return template
    return _SLOT.sub(lambda match: dice.pick(slots[match[1]]), template)


def realise(templates: Sequence[str], slots: Slots, dice: Dice) -> str:
    """Draw one available template and fill it."""
    usable = available(templates, slots)
    return fill(dice.pick(usable), slots, dice) if usable else ""
