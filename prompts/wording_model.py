"""A linear model of wordings: does a text in English say what the lines it was trained with say?

The weights are learnt by ``python -m benchmarks.train_gates``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import cached_property, lru_cache
from itertools import chain, combinations, pairwise, repeat
from pathlib import Path
from typing import Final

from scenarios.strict import Strict
from scenarios.wording import sentences

SCALE: Final = 100
"""What one is in the numbers of a file."""
REMEMBERED: Final = 65_536
"""Words of which the classes are kept: more than people use, fewer than a model can make up."""
_FEWEST: Final = 20
"""Features that even the shortest text counts as having."""
_STEM: Final = 5
_STRAIGHT = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")
_SHORTENED = re.compile(
    r"\b(?:ca|wo|sha)n't\b|\bcannot\b|n't\b|(?:'(?:m|ve|re|ll|d)|\blet's)(?=\b|n't\b)"
)
_SPELT_OUT: Final = {
    "can't": "can not", "cannot": "can not", "won't": "will not", "shan't": "shall not",
    "n't": " not", "'m": " am", "'ve": " have", "'re": " are", "'ll": " will", "'d": " would",
    "let's": "let us",
}  # fmt: skip
_NAMED = re.compile(
    r"\W*(?!(?:\w+ )?(?:draft|answer|response|reply|note|line|output|option|version|example|"
    r"disclaimer|assistant|system|user|ai)\b)[a-z][\w'-]*(?: [\w'-]+)?: +"
)
"""The name of who speaks, which programs write before what is said."""
_TOKEN = re.compile(r"[a-z]+(?:-[a-z]+)*|'s|\d+|[?:]")
"""Quotes and brackets are left out: programs put lines and gestures into them."""
_PAIRED: Final = frozenset(["i", "me", "my", "you", "your", "not", "so", "to"])
"""Words that pairs are made of, too."""


class WordingModel(Strict):
    """Weights of words, of runs of words, and of classes of words that stand in one text."""

    classes: dict[str, str]
    """Words that are about one thing, between spaces; ``*`` is any ending."""
    intercept: int
    threshold: int
    """Score from which on a text says it."""
    weights: dict[str, int]
    """Of each feature that :func:`features` names."""

    def found(self, text: str) -> str | None:
        """Return the sentence of a text that says it most, if the text as a whole does."""
        return None if self.score(text) < self.threshold else self.telling(text)

    def telling(self, text: str) -> str:
        """Return the sentence of a text that says it most."""
        return max(sentences(text), key=self.score, default=text)

    def score(self, text: str) -> float:
        """Return how far a text says it, in units of 1 / ``SCALE``.

        The same on every machine: whole numbers are added and divided once.
        """
        found = features(text, self._classes)
        total = sum(map(self.weights.get, found, repeat(0)))
        return self.intercept + total * share(len(found))

    @cached_property
    def _classes(self) -> WordClasses:
        return WordClasses(self.classes)


class WordClasses:
    """Tells the classes of a word."""

    def __init__(self, classes: Mapping[str, str]) -> None:
        """Take the words of each class."""
        self._whole: dict[str, list[str]] = {}
        self._begun: dict[str, list[str]] = {}
        for name, words in classes.items():
            for word in words.split():
                held = self._begun if word.endswith("*") else self._whole
                held.setdefault(word.rstrip("*"), []).append(name)
        self.of = lru_cache(maxsize=REMEMBERED)(self._of)
        """Returns the classes that a word in lower case is in."""

    def _of(self, word: str) -> tuple[str, ...]:
        begun = (self._begun.get(word[:end], ()) for end in range(1, len(word) + 1))
        return tuple(dict.fromkeys([*self._whole.get(word, ()), *chain.from_iterable(begun)]))


@lru_cache(maxsize=8)
def wording_model(path: Path) -> WordingModel:
    """Return the model of a file."""
    return WordingModel.model_validate_json(path.read_bytes())


def features(text: str, classes: WordClasses) -> set[str]:
    """Return what a model sees of a text: no order but that of up to three words side by side.

    Args:
        text: in any case and with any quotes.
        classes: those of the model.
    """
    words = _words(text)
    framed = ["<", *words, ">"]
    names: set[str] = set().union(*filter(None, map(classes.of, words)))
    together = sorted(names.union(_PAIRED.intersection(words)))
    return {
        *framed,
        *map(" ".join, pairwise(framed)),
        *map(" ".join, zip(framed, words, framed[2:], strict=False)),
        *[f"p {word[:_STEM]}" for word in words if len(word) > _STEM],
        *[f"c {name}" for name in names],
        *[f"b {one} {two}" for one, two in combinations(together, 2)],
    }


def share(count: int) -> float:
    """Return what each of a number of features counts: rows are of unit length, or less."""
    return 1 / math.sqrt(max(count, _FEWEST))


def _words(text: str) -> list[str]:
    plain = (text if text.isascii() else text.translate(_STRAIGHT)).lower()
    if ": " in plain and (named := _NAMED.match(plain)):
        plain = plain[named.end() :]
    if "'" in plain or "cannot" in plain:
        plain = _SHORTENED.sub(lambda found: _SPELT_OUT[found[0]], plain)
    return _TOKEN.findall(plain)
