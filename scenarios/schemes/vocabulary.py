"""Resolve what was written to a label of a dimension, through aliases."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

from scenarios.errors import UsageError
from scenarios.schemes.model import Dimension, Scheme
from scenarios.schemes.translation import label_names
from scenarios.spelling import suggestion
from scenarios.terms import LARGEST, LabelValue

_SEPARATORS = re.compile(r"[,;|\n\u3001\uff0c\uff1b]")
_SIGN = re.compile(r"[^\W_]\s*(?P<sign>[-+\u2212\u2013])[\W_]*\Z")
NONE_OF_THEM = "none of them"
"""What people choose or write where no label of a multi dimension fits."""
_NOTHING = ("none", NONE_OF_THEM)
_NUMBER = re.compile(r"[-+]?(\d{1,15}(\.\d{0,15})?|\.\d{1,15})")


def resolve_label(dimension: Dimension, raw: object) -> tuple[LabelValue, bool] | None:
    """Return the label that ``raw`` names, and whether an alias or a normalisation was needed.

    Names are tried as they are, then as aliases, then without regard to case, then without regard
    to spaces and punctuation, first with and then without a plus or minus at the end; a spelling
    that fits two labels fits none. What no name of the scheme fits may be a name that the label has
    in another language that ships, e.g. Chinese. A multi dimension takes a list or a text with
    separators and keeps the order of the dimension; there "none" and "none of them" stand for no
    label, unless a label is called so. An interval dimension takes a number in its range.

    Returns:
        ``(label, changed)``, or None where ``raw`` names no label of the dimension.
    """
    if dimension.measurement == "interval":
        return _number(dimension, raw)
    if dimension.measurement == "multi":
        return _several(dimension, raw)
    text = _text(raw)
    if text is None:
        return None
    label = _one(dimension, text)
    return None if label is None else (label, label != raw)


def _text(raw: object) -> str | None:
    if isinstance(raw, str):
        return raw.strip()
    if isinstance(raw, int) and not isinstance(raw, bool):
        return str(raw)
    if isinstance(raw, float) and raw.is_integer():
        return str(int(raw))
    return None


def _one(dimension: Dimension, text: str) -> str | None:
    # What is plain ASCII is no name in another language: those are then not even read.
    tables = _tables(dimension), () if text.isascii() else _translated_tables(dimension)
    for levels in tables:
        for level, table in zip(_LEVELS, levels, strict=bool(levels)):
            if (label := table.get(level(text))) is not None:
                return label
    return None


def _several(dimension: Dimension, raw: object) -> tuple[LabelValue, bool] | None:
    if isinstance(raw, (list, tuple, set, frozenset)):
        items = [_text(item) for item in raw]
        written = {item for item in raw if isinstance(item, str)}
    else:
        text = _text(raw)
        if text is None:
            return None
        items = [text] if _one(dimension, text) else [p.strip() for p in _SEPARATORS.split(text)]
        items = [item for item in items if item]
        if not items:
            return None
        written = set()
    if len(items) == 1 and items[0] is not None and _is_nothing(dimension, items[0]):
        return (), items[0] != NONE_OF_THEM
    labels = [None if item is None else _one(dimension, item) for item in items]
    if None in labels:
        return None
    chosen = tuple(value for value in dimension.values if value in labels)
    return chosen, set(chosen) != written or len(chosen) != len(items)


def takes_none(dimension: Dimension) -> bool:
    """Whether "none of them" is an answer to a multi dimension: where no label is called so."""
    return dimension.measurement == "multi" and _one(dimension, NONE_OF_THEM) is None


def label_list(labels: tuple[str, ...]) -> list[str]:
    """Return labels of a multi dimension as people choose or write them."""
    return list(labels) or [NONE_OF_THEM]


def _is_nothing(dimension: Dimension, text: str) -> bool:
    return _folded(text) in _NOTHING and _one(dimension, text) is None


def _number(dimension: Dimension, raw: object) -> tuple[LabelValue, bool] | None:
    changed = False
    if isinstance(raw, str):
        if not _NUMBER.fullmatch(raw.strip()):
            return None
        value, changed = float(raw), True
    elif isinstance(raw, (int, float)) and not isinstance(raw, bool):
        if isinstance(raw, int) and abs(raw) > LARGEST:
            return None
        value = float(raw)
    else:
        return None
    lowest, highest = dimension.range or (-math.inf, math.inf)
    return (value, changed) if math.isfinite(value) and lowest <= value <= highest else None


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _bare(text: str) -> str:
    """Leave letters, marks and digits only."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return "".join(char for char in folded if unicodedata.category(char)[0] in "LMN")


def _signed(text: str) -> str:
    """Leave letters, marks and digits, and the plus or minus that follows the last of them.

    The sign tells ``hneg+`` from ``hneg-``; whatever else stands around a name, such as the marks
    of Markdown or a full stop, goes.
    """
    sign = _SIGN.search(text)
    return _bare(text) + ("" if sign is None else "+" if sign["sign"] == "+" else "-")


def _as_it_is(text: str) -> str:
    return text


_LEVELS: tuple[Callable[[str], str], ...] = (_as_it_is, _folded, _signed, _bare)
"""How loosely a name is compared, one after the other."""


@lru_cache(maxsize=256)
def _tables(dimension: Dimension) -> tuple[Mapping[str, str], ...]:
    """Return one table from spelling to label for each level of looseness."""
    return _spellings({label.id: (label.id, *label.aliases) for label in dimension.labels})


@lru_cache(maxsize=256)
def _translated_tables(dimension: Dimension) -> tuple[Mapping[str, str], ...]:
    """Return the same tables for the names of labels in other languages."""
    return _spellings(label_names(dimension))


def _spellings(names: Mapping[str, tuple[str, ...]]) -> tuple[Mapping[str, str], ...]:
    tables: list[dict[str, str]] = []
    for level in _LEVELS:
        meant: dict[str, set[str]] = {}
        for label, spelled in names.items():
            for name in spelled:
                meant.setdefault(level(name), set()).add(label)
        tables.append(
            {name: labels.pop() for name, labels in meant.items() if name and len(labels) == 1}
        )
    return tuple(tables)


def goals_named(scheme: Scheme, names: Iterable[str]) -> tuple[str, ...]:
    """Return the goals of a scheme that are named, as it spells them.

    Raises:
        UsageError: the scheme assigns no goals, or has none of such a name.
    """
    if not scheme.assigned:
        raise UsageError(f"the scheme {scheme.id!r} assigns no goals", "leave --goals out")
    found = []
    for name in names:
        resolved = resolve_label(scheme.goal, name)
        if resolved is None:
            raise UsageError(
                f"the scheme {scheme.id!r} has no {scheme.assigned} {name!r}",
                suggestion(name, scheme.goal.values, listing="labels"),
            )
        found.append(str(resolved[0]))
    return tuple(found)
