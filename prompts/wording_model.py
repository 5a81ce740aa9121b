"""A linear model of wordings: does a text in English say what the lines it was trained with say?

The weights are learnt by ``python -m benchmarks.train_gates``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import combinations, pairwise, repeat
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
_SPELT: Final = (
    (re.compile(r"\bca(?:n't|nnot)\b"), "can not"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"\bshan't\b"), "shall not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"'m\b"), " am"),
    (re.compile(r"'ve\b"), " have"),
    (re.compile(r"'re\b"), " are"),
    (re.compile(r"'ll\b"), " will"),
    (re.compile(r"'d\b"), " would"),
    (re.compile(r"\blet's\b"), "let us"),
)
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
        found = features(text, classes_of(tuple(self.classes.items())))
        total = sum(map(self.weights.get, found, repeat(0)))
        return self.intercept + total * share(len(found))


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
        self._known: dict[str, tuple[str, ...]] = {}

    def of(self, word: str) -> tuple[str, ...]:
        """Return the classes that a word in lower case is in."""
        known = self._known.get(word)
        if known is None:
            begun = (self._begun.get(word[:end], ()) for end in range(1, len(word) + 1))
            names = [*self._whole.get(word, ()), *(name for some in begun for name in some)]
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            known = self._known[word] = tuple(dict.fromkeys(names))
        return known


@lru_cache(maxsize=8)
def classes_of(classes: tuple[tuple[str, str], ...]) -> WordClasses:
    """Return the classes of a file, put together once."""
    return WordClasses(dict(classes))


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
    names = {name for word in words for name in classes.of(word)}
    return {
        *framed,
        *map(" ".join, pairwise(framed)),
        *map(" ".join, zip(framed, words, framed[2:], strict=False)),
        *(f"p {word[:_STEM]}" for word in words if len(word) > _STEM),
        *(f"c {name}" for name in names),
        *(f"b {one} {two}" for one, two in combinations(sorted(names | _PAIRED & {*words}), 2)),
    }


def share(count: int) -> float:
    """Return what each of a number of features counts: rows are of unit length, or less."""
    return 1 / math.sqrt(max(count, _FEWEST))


def _words(text: str) -> list[str]:
    plain = (text if text.isascii() else text.translate(_STRAIGHT)).lower()
    if ": " in plain and (named := _NAMED.match(plain)):
        plain = plain[named.end() :]
    if "'" in plain or "cannot" in plain:
        for pattern, spelt in _SPELT:
            plain = pattern.sub(spelt, plain)
    return _TOKEN.findall(plain)
