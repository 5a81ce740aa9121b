"""Cues that prove nothing alone, and points for those that stand together in a text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from scenarios.strict import Strict
from scenarios.yaml_source import read_yaml

_EDGE = r"\b"
_STRAIGHT = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")
_WORD = re.compile(r"[a-z]+(?:['-][a-z]+)*")


class CueWords(Strict):
    """Single words that are about one thing."""

    points: int
    """What they count together, however many of them a text has."""
    telling: bool = False
    """Whether such a word makes it worth while to look for phrases."""
    words: str
    """Words between spaces, in lower case; ``*`` is any ending."""


class CuePhrases(Strict):
    """Ways to say one thing in several words."""

    points: int
    """What they count together; negative for what speaks against the others."""
    patterns: tuple[str, ...]
    """Regular expressions for plain text in lower case."""


class CueFile(Strict):
    """Families of cues, by their names."""

    needed: int
    """Points that a text needs."""
    words: dict[str, CueWords]
    phrases: dict[str, CuePhrases]


@dataclass(frozen=True)
class CuePoints:
    """Families of cues, ready for searching."""

    file: CueFile

    def found(self, text: str) -> str | None:
        """Return the cues of a text that has enough of them, in its order; None of any other."""
        plain = " ".join(text.translate(_STRAIGHT).lower().split())
        families = {name: (at, word) for at, word, name in self._words_of(plain)}
        if not any(self.file.words[name].telling for name in families):  # most texts
            return None
        points = sum(self.file.words[name].points for name in families)
        cues = list(families.values())
        for worth, pattern, left in self._phrases:
            if points + left < self.file.needed:
                return None
            if match := pattern.search(plain):
                points += worth
                cues.append((match.start(), match[0].strip()))
        if points < self.file.needed:
            return None
        return " \u2026 ".join(dict.fromkeys(words for _, words in sorted(cues)))

    def _words_of(self, text: str) -> Iterator[tuple[int, str, str]]:
        for match in _WORD.finditer(text):
            for name in self._families_of(match[0]):
                yield match.start(), match[0], name

    def _families_of(self, word: str) -> tuple[str, ...]:
        known = self._known.get(word)
        if known is None:
            found = (name for name, pattern in self._endings.items() if pattern.fullmatch(word))
            known = self._known[word] = tuple(found)
        return known

    @cached_property
    def _known(self) -> dict[str, tuple[str, ...]]:
        return {}

    @cached_property
    def _endings(self) -> Mapping[str, re.Pattern[str]]:
        return {
            name: re.compile("|".join(re.escape(w).replace(r"\*", ".*") for w in its.words.split()))
            for name, its in self.file.words.items()
        }

    @cached_property
    def _phrases(self) -> tuple[tuple[int, re.Pattern[str], int], ...]:
        """Points and pattern of each family, and the most points that it and those after it give."""
        families = list(self.file.phrases.values())
        return tuple(
            (
                its.points,
                re.compile(any_of(its.patterns)),
                sum(max(0, later.points) for later in families[place:]),
            )
            for place, its in enumerate(families)
        )


def any_of(patterns: Iterable[str]) -> str:
    """Return one expression for many; those that begin at the edge of a word are tried there alone."""
    held: dict[bool, list[str]] = {True: [], False: []}
    for one in patterns:
        held[one.startswith(_EDGE)].append(f"(?:{one.removeprefix(_EDGE)})")
    at_edge = [rf"{_EDGE}(?:{'|'.join(held[True])})"] if held[True] else []
    return "|".join([*at_edge, *held[False]])


@lru_cache(maxsize=8)
def cue_points(path: Path) -> CuePoints:
    """Return the cues of a file."""
    return CuePoints(CueFile.model_validate(read_yaml(path).data))
