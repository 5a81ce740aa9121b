"""Word lists of the offline judge, read once from data files."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import cast

from scenarios.wording import stem
from scenarios.yaml_source import read_yaml

DATA = Path(__file__).parent / "data"

_CONTRACTIONS = (
    (r"\b(?:won't|won`t)", "will not"), (r"\bcan't", "cannot"), (r"\bshan't", "shall not"),
    (r"n't\b", " not"), (r"'m\b", " am"), (r"'re\b", " are"), (r"'ve\b", " have"),
    (r"'ll\b", " will"), (r"\blet's\b", "let us"), (r"\b(i|you|he|she|we|they)'d\b", r"\1 would"),
    (r"\b(it|that|there|he|she|what|who|here|how|where)'s\b", r"\1 is"),
)  # fmt: skip


@lru_cache(maxsize=8)
def _load(name: str) -> dict[str, str]:
    return cast("dict[str, str]", read_yaml(DATA / f"{name}.yaml").data)


@lru_cache(maxsize=64)
def listed(file: str, key: str) -> frozenset[str]:
    """Return the words of a list."""
    return frozenset(_load(file)[key].split())


@lru_cache(maxsize=64)
def stems(file: str, key: str) -> frozenset[str]:
    """Return the stems of the words of a list."""
    return frozenset(stem(word) for word in listed(file, key))


@lru_cache(maxsize=8)
def opposites(file: str, key: str) -> dict[str, str]:
    """Return each word of a list of pairs with its partner; a word keeps its first one."""
    items = _load(file)[key].split()
    pairs: dict[str, str] = {}
    for left, right in zip(items[::2], items[1::2], strict=True):
        pairs.setdefault(left, right)
        pairs.setdefault(right, left)
    return pairs


@lru_cache(maxsize=64)
def phrases(file: str, key: str) -> re.Pattern[str]:
    """Return a list of phrases as one pattern, for texts made by :func:`plain`."""
    joined = re.sub(r"\|\s+", "|", _load(file)[key])
    return re.compile(rf"\b(?:{joined})\b")


def any_of(file: str, key: str) -> str:
    """Return a word list as one alternative of a pattern, longest first."""
    return "|".join(sorted(listed(file, key), key=lambda word: (-len(word), word)))


@lru_cache(maxsize=2048)
def plain(text: str) -> str:
    """Return a text in lower case, on one line, contractions written out."""
    flat = " ".join(text.replace("\u2019", "'").casefold().split())
    for pattern, full in _CONTRACTIONS:
        flat = re.sub(pattern, full, flat)
    return flat
