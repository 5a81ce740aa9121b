"""Lines of a set that may be lines of another with some words replaced, or in another order.

Runs of words find copies; a word replaced in every four leaves hardly any run. Such lines still
share most of their words, in whatever order: candidates are found by MinHash of the stems (Broder
1997; banding as in Leskovec, Rajaraman and Ullman, *Mining of Massive Datasets*, section 3.4), and
the similarity of each is then computed exactly. Two people may say the same thing in nearly the
same words without either having copied: what is found is to be looked at, and never certain.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scenarios.fingerprint import text_hash
from scenarios.wording import split_words, stem

SIMILARITY: Final = 0.5
"""Jaccard similarity of the words of two lines from which on one may be the other reworded."""
FEWEST_WORDS: Final = 8
"""Shorter lines share most of their words by chance."""
_BANDS, _ROWS = 48, 4
"""Lines of similarity .5 become candidates with probability 1 - (1 - .5 ** 4) ** 48 = .95."""
_LOOKED_AT = 64
"""Most candidates of a line, those that share most bands first."""
_FORM_ROWS = 10
_FORM_SHARE = 0.01
"""A line that so many rows of both sets have alike is their form: an opening, a template."""
_SHOWN = 20
_TEXT = 300
_KNOWN_LINES = 1 << 12

Words = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class RewordedLine:
    """A line of the checked set, and the line of the reference that it is most like."""

    row: int
    """1 is the first row."""
    similarity: float
    """Share of the words of both that they have in common."""
    text: str
    reference: str


@dataclass(frozen=True, slots=True)
class Reworded:
    """What may have been reworded; rows that hold copies do not count."""

    rows: int
    """Rows of the checked set with such a line."""
    lines: int
    """Lines of the reference that were found so."""
    form_lines: int
    """Lines of the reference left out of account: row after row of both sets says them in some words."""
    similarity: float
    worst: tuple[RewordedLine, ...]
    """Those that are most alike, at most 20."""
    places: tuple[int, ...] = ()
    """Which rows of the checked set; 0 is the first; sorted."""

    def summary(self) -> dict[str, object]:
        """Return the counts as plain data, without any text."""
        return {n: value for n, value in asdict(self).items() if n not in ("worst", "places")}


@dataclass(frozen=True, slots=True)
class _LineWords:
    """The words of a line."""

    key: bytes
    """A hash of its words in their order: of equal lines equal."""
    words: Words = field(compare=False)
    """A hash of each stem, sorted, each once."""
    bands: Words = field(compare=False)


class _LineIndex:
    """The lines of the reference, by their words and by their bands; lines are named by number."""

    def __init__(self, lines: Sequence[_LineWords]) -> None:
        """Take in at least one line."""
        self._lines = lines
        self._words = np.concatenate([line.words for line in lines])
        self._sizes = np.array([len(line.words) for line in lines])
        self._starts = np.cumsum(self._sizes) - self._sizes
        bands = np.concatenate([line.bands for line in lines])
        order = np.argsort(bands, kind="stable")
        self._bands, self._places = bands[order], (order // _BANDS).astype(np.int32)

    def alike(self, line: _LineWords) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the numbers of the lines that are like a line, and the similarity of each."""
        starts = np.searchsorted(self._bands, line.bands)
        ends = np.searchsorted(self._bands, line.bands, side="right")
        places = [self._places[a:b] for a, b in zip(starts, ends, strict=True) if b > a]
        if not places:
            return np.empty(0, np.int64), np.empty(0)
        candidates, bands = np.unique(np.concatenate(places), return_counts=True)
        looked_at = candidates[np.argsort(-bands, kind="stable")[:_LOOKED_AT]].astype(np.int64)
        common = self._words_in_common(line, looked_at)
        similarity = common / (len(line.words) + self._sizes[looked_at] - common)
        close = similarity >= SIMILARITY
        return looked_at[close], similarity[close]

    def alike_of(self, number: int) -> set[int]:
        """Return the numbers of the lines that are like a line of the reference, its own included."""
        return {number, *self.alike(self._lines[number])[0].tolist()}

    def _words_in_common(self, line: _LineWords, others: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many words of each of some lines a line has, too; of all lines in one go."""
        sizes = self._sizes[others]
        begins = np.cumsum(sizes) - sizes
        places = np.repeat(self._starts[others] - begins, sizes) + np.arange(sizes.sum())
        theirs = self._words[places]
        at = np.minimum(np.searchsorted(line.words, theirs), len(line.words) - 1)
        return np.add.reduceat((line.words[at] == theirs).astype(np.int64), begins)


class RewordedLines:
    """The lines of a reference set, and the lines of a checked set that are like them.

    Memory holds the text of each distinct line of the reference, and some 1,700 bytes more.
    """

    def __init__(self) -> None:
        """Begin with no line."""
        random = np.random.default_rng(1)
        drawn = random.integers(0, 2**63, (2, _BANDS * _ROWS), np.uint64)
        self._factors, self._offsets = drawn[0] | np.uint64(1), drawn[1]
        self._line = lru_cache(_KNOWN_LINES)(self._taken_apart)
        self._stem: Callable[[str], int] = lru_cache(1 << 17)(_stem_hash)
        self._numbers: dict[bytes, int] = {}
        self._known: list[_LineWords] = []
        self._texts: list[str] = []
        self._rows: Counter[int] = Counter()
        self._reference_rows = 0
        self._index: _LineIndex | None = None
        self._nearest = lru_cache(_KNOWN_LINES)(self._nearest_line)
        self._hits: list[tuple[int, int, float, str]] = []
        self._checked: Counter[int] = Counter()

    def add(self, lines: Sequence[str]) -> None:
        """Take in one row of the reference, before any is checked."""
        self._reference_rows += 1
        for line in self._distinct(lines):
            number = self._numbers.setdefault(line[1].key, len(self._known))
            if number == len(self._known):
                self._known.append(line[1])
                self._texts.append(line[0][:_TEXT])
            self._rows[number] += 1

    def check(self, number: int, lines: Sequence[str]) -> None:
        """Look up the lines of one row of the checked set; 0 is the first row."""
        if not self._known:
            return
        found: dict[int, tuple[float, str]] = {}
        for text, line in self._distinct(lines):
            if line.key in self._numbers:
                continue  # a copy, which runs of words tell better
            nearest = self._nearest(line)
            if nearest is not None:
                best, similarity = nearest
                if similarity > found.get(best, (0.0, ""))[0]:
                    found[best] = (similarity, text)
        for best, (similarity, text) in found.items():
            self._checked[best] += 1
            self._hits.append((number, best, similarity, text[:_TEXT]))

    def result(self, rows: int, copies: Iterable[int]) -> Reworded:
        """Return what was found.

        Args:
            rows: how many rows of the checked set there are.
            copies: the rows that hold copies, which are left out here.
        """
        form = {best for best in self._checked if self._is_form(best, rows)}
        left_out = set(copies)
        hits = [hit for hit in self._hits if hit[1] not in form and hit[0] not in left_out]
        worst = sorted(hits, key=lambda hit: (-hit[2], hit[0]))[:_SHOWN]
        places = sorted({hit[0] for hit in hits})
        return Reworded(
            len(places),
            len({hit[1] for hit in hits}),
            len(form),
            SIMILARITY,
            tuple(
                RewordedLine(row + 1, round(similarity, 3), text, self._texts[best])
                for row, best, similarity, text in worst
            ),
            tuple(places),
        )

    def _is_form(self, best: int, checked_rows: int) -> bool:
        """Whether rows of both sets have the line in some words or other, also with filled blanks."""
        own = self._indexed().alike_of(best)
        return all(
            sum(counts[at] for at in own) >= max(_FORM_ROWS, _FORM_SHARE * rows)
            for counts, rows in (
                (self._rows, self._reference_rows),
                (self._checked, checked_rows),
            )
        )

    def _indexed(self) -> _LineIndex:
        """Return the index of the reference, which is made when all its lines are known."""
        if self._index is None:
            self._index = _LineIndex(self._known)
        return self._index

    def _nearest_line(self, line: _LineWords) -> tuple[int, float] | None:
        """Return the line of the reference that is most like a line, the first of equals."""
        numbers, similarity = self._indexed().alike(line)
        if not len(numbers):
            return None
        best = np.lexsort((numbers, -similarity))[0]
        return int(numbers[best]), float(similarity[best])

    def _distinct(self, lines: Sequence[str]) -> list[tuple[str, _LineWords]]:
        """Return the lines that are long enough, each once."""
        taken = ((text, self._line(text)) for text in lines)
        return list({line.key: (text, line) for text, line in taken if line is not None}.values())

    def _taken_apart(self, text: str) -> _LineWords | None:
        spoken = split_words(text)
        if len(spoken) < FEWEST_WORDS:
            return None
        stems = np.array([self._stem(word) for word in spoken], np.uint64)
        words = np.unique(stems)
        drawn = (words[:, None] * self._factors + self._offsets).min(axis=0)
        bands = drawn.reshape(_BANDS, _ROWS)
        mixed = np.arange(_BANDS, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        for row in range(_ROWS):
            mixed = (mixed ^ bands[:, row]) * np.uint64(0xBF58476D1CE4E5B9)
            mixed ^= mixed >> np.uint64(31)
        key = hashlib.blake2b(stems.tobytes(), digest_size=16).digest()
        return _LineWords(key, words, mixed)


def _stem_hash(word: str) -> int:
    return text_hash(stem(word))
