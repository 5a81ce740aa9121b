"""About how many tokens training rows have, told without a tokenizer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import ceil
from typing import Final

DEFAULT_WINDOW: Final = 1024
"""Tokens at which trainers cut a row where nothing else was asked for (TRL's ``max_length``)."""
_PIECE = 7
"""Letters of a word that make one token."""
_TOKENS = re.compile(rf"[A-Za-z]{{1,{_PIECE}}}|\d|\s{{2,}}|[^\sA-Za-z\d]")
_GAPS = re.compile(r"\s{2,}")
_FOREIGN = re.compile(r"[A-Za-z]{1,2}|\d|\s{2,}|[^\sA-Za-z\d]")
"""The same where words are not English: vocabularies hold few of them whole."""
_LETTERS = bytes(byte | 0x20 if chr(byte).isalpha() else 0x20 for byte in range(128)).ljust(256)
"""Letters in lower case, and a space for every other byte."""
_NO_SIGNS = bytes(byte for byte in range(128) if chr(byte).isalpha() or chr(byte).isspace())
"""What is neither a digit nor a sign."""
_BLANKS = bytes(0x20 if chr(byte).isspace() else byte for byte in range(128)).ljust(256)
"""A space for every character between words."""
_COMMON = frozenset(b"the and you that this what with from your they".split())
"""Words that English is full of, and that look like those of few other languages."""
_ENOUGH, _SHARE = 10, 0.05
"""Of so many different words and more, such a share is among them where a text is English."""
_ACCENTED = re.compile(r"[\u00c0-\u1fff\u2c00-\U0010ffff]")
_WIDE = re.compile(r"[\u0800-\u1fff\u2c00-\U0010ffff]")
"""Characters of three bytes and more, but for the signs of English print, like quotation marks."""
_OF_A_MESSAGE = 4
"""Tokens that chat templates put around a message."""
_SIDES = ("chosen", "rejected")


@lru_cache(maxsize=1024)
def estimated_tokens(text: str) -> int:
    """Return about how many tokens a text has: of a word one for every seven letters.

    Of English rows that is somewhat more than a tokenizer of 30,000 entries finds: too many rather
    than too few, so that a row that is cut is told. Where it is not English, every two letters of
    ASCII count one; a character of three bytes and more counts one less than it has bytes, as
    vocabularies made mostly of English cut it.
    """
    lines = [line for line in text.split("\n") if line]
    if not lines:
        return 0
    words, common, foreign, tokens = map(sum, zip(*map(_counts, lines), strict=True))
    whole = words >= _ENOUGH and common < _SHARE * words
    if whole or foreign:
        tokens = sum(_foreign_tokens(x) if whole or _counts(x)[2] else _counts(x)[3] for x in lines)
    return tokens + len(lines) - 1


# Most lines of a row have been there in one of the rows before.


@lru_cache(maxsize=4096)
def _counts(line: str) -> tuple[int, int, bool, int]:
    """Count what tells the language of one line.

    Returns:
        How many different words it has, how many of them are common in English, whether it is not
        English by itself, and how many tokens it has if it is.
    """
    data = line.encode("ascii", "replace")
    words = data.translate(_LETTERS).split()
    different = set(words)
    common = len(different & _COMMON)
    if line.isascii():  # the same as the pattern finds, in a third of the time
        more = sum([(len(word) - 1) // _PIECE for word in words if len(word) > _PIECE])
        gaps = len(_GAPS.findall(line)) if b"  " in data.translate(_BLANKS) else 0
        signs = len(data.translate(None, _NO_SIGNS))
        return len(different), common, False, len(words) + more + signs + gaps
    is_foreign = _ACCENTED.search(line) is not None and common < _SHARE * len(different)
    return len(different), common, is_foreign, len(_TOKENS.findall(line)) + _wide_tokens(line)


@lru_cache(maxsize=4096)
def _foreign_tokens(line: str) -> int:
    return len(_FOREIGN.findall(line)) + _wide_tokens(line)


def _wide_tokens(line: str) -> int:
    """Return what characters of three bytes and more take beyond one token each."""
    if line.isascii():
        return 0
    return sum(2 if char > "\uffff" else 1 for char in _WIDE.findall(line))


@dataclass(frozen=True, slots=True)
class TokenLengths:
    """How long the rows of one configuration are."""

    subset: str
    rows: int
    median: int
    most_of: int
    """What 95 % of the rows do not exceed."""
    longest: int
    over: int
    """Rows of more than :data:`DEFAULT_WINDOW` tokens."""

    @property
    def sentence(self) -> str:
        """The lengths in words."""
        spread = f"median {self.median:,}, 95 % at most {self.most_of:,}, longest {self.longest:,}"
        return f"tokens a row, estimated ({self.subset}): {spread}"


@dataclass(slots=True)
class RowLengths:
    """Counts the lengths of rows while they are written, configuration by configuration."""

    columns: Sequence[str]
    """Those that a model reads or writes."""
    _found: dict[str, Counter[int]] = field(default_factory=dict)
    _sides: tuple[str, ...] = field(init=False)
    _shared: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Tell the two answers of a pair from what comes before both."""
        self._sides = tuple(name for name in self.columns if name in _SIDES)
        self._shared = tuple(name for name in self.columns if name not in _SIDES)

    def add(self, subset: str, row: Mapping[str, object]) -> None:
        """Count one row: the prompt with its answer, of two answers the longer one."""
        tokens = sum([_tokens(row[name]) for name in self._shared])
        if self._sides:
            tokens += max([_tokens(row[name]) for name in self._sides])
        self._found.setdefault(subset, Counter())[tokens] += 1

    def table(self) -> tuple[TokenLengths, ...]:
        """Return what was counted."""
        return tuple(
            TokenLengths(
                subset,
                counts.total(),
                _quantile(counts, 0.5),
                _quantile(counts, 0.95),
                max(counts),
                sum(n for length, n in counts.items() if length > DEFAULT_WINDOW),
            )
            for subset, counts in self._found.items()
        )


def _quantile(counts: Counter[int], share: float) -> int:
    rank, seen = max(1, ceil(share * counts.total())), 0
    for length in sorted(counts):
        seen += counts[length]
        if seen >= rank:
            return length
    return 0


def _tokens(value: object) -> int:
    if isinstance(value, str):
        return estimated_tokens(value) + _OF_A_MESSAGE
    if isinstance(value, dict):
        return _tokens(value.get("content", value.get("value")))
    if isinstance(value, list | tuple):
        return sum(map(_tokens, value))
    return 0
