"""Words and phrases that tell how people speak, and how often they stand in a text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field, field_validator

from scenarios.strict import Strict
from scenarios.wording import sentences, words
from scenarios.yaml_source import read_yaml, validate_model

SHIPPED: Final = Path(__file__).parent / "markers" / "en.yaml"
Phrase = tuple[str, ...]
Place = Literal["anywhere", "sentence start", "whole line"]
"""Where a phrase counts: wherever it stands, at the beginning of a sentence, or as all there is."""


class Marker(Strict):
    """One list of phrases, counted together."""

    title: str
    """What they are, as tables call them."""
    phrases: Annotated[tuple[str, ...], Field(min_length=1)]
    where: Place = "anywhere"

    @field_validator("phrases")
    @classmethod
    def _have_words(cls, phrases: tuple[str, ...]) -> tuple[str, ...]:
        for phrase in phrases:
            if not words(phrase):
                raise ValueError(f"a phrase without a word: {phrase!r}")
        return phrases

    @property
    def whole_lines(self) -> bool:
        """Whether lines are counted that are nothing else, and not phrases."""
        return self.where == "whole line"

    @cached_property
    def _by_first_word(self) -> Mapping[str, tuple[Phrase, ...]]:
        """The phrases by their first words, longer ones first."""
        found: dict[str, list[Phrase]] = {}
        for phrase in set(map(words, self.phrases)):
            found.setdefault(phrase[0], []).append(phrase)
        return {word: tuple(sorted(them, key=len, reverse=True)) for word, them in found.items()}

    def count(self, text: str) -> int:
        """Return how many of the phrases stand in a line; no word belongs to two of them."""
        if self.where == "sentence start":
            return sum(bool(self._phrase_at(words(part), 0)) for part in sentences(text))
        tokens = words(text)
        if self._by_first_word.keys().isdisjoint(tokens):  # most lines, and quickly seen
            return 0
        lengths = self._lengths_of_phrases(tokens)
        return int(sum(lengths) == len(tokens)) if self.whole_lines else len(lengths)

    def _lengths_of_phrases(self, tokens: Phrase) -> list[int]:
        """Return how many words each of the phrases in a line has, in order."""
        lengths, end = [], 0
        for at, word in enumerate(tokens):
            if at >= end and word in self._by_first_word:
                length = self._phrase_at(tokens, at)
                if length:
                    lengths.append(length)
                    end = at + length
        return lengths

    def _phrase_at(self, tokens: Phrase, at: int) -> int:
        """Return how many words the longest phrase has that begins there; 0 where none does."""
        for phrase in self._by_first_word.get(tokens[at], ()) if at < len(tokens) else ():
            if tokens[at : at + len(phrase)] == phrase:
                return len(phrase)
        return 0


class _MarkerFile(Strict):
    """A file of lists, all in one language."""

    language: Annotated[str, Field(pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]+)*$")]
    markers: Annotated[
        dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")], Marker], Field(min_length=1)
    ]


@dataclass(frozen=True, slots=True)
class Markers:
    """The lists of one language."""

    language: str
    lists: Mapping[str, Marker]

    def fit(self, language: str) -> bool:
        """Return whether they are about the language of a text; ``en`` is about ``en_GB``, too."""
        return re.split("[-_]", language)[0].casefold() == self.language.split("-")[0]


def load_markers(path: Path | None = None) -> Markers:
    """Return the lists of a file; without one the English ones that ship.

    Raises:
        InputError: the file cannot be read, or does not hold such lists.
    """
    read = validate_model(_MarkerFile, read_yaml(SHIPPED if path is None else path))
    return Markers(read.language, read.markers)
