"""Measure the overlap of two data sets: shared 13-grams, reworded lines, nearest neighbours."""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from outputs.contamination.comparable import Row, row_lines
from outputs.contamination.folded_text import folded_text
from outputs.contamination.neighbours import Neighbourhood, Neighbours
from outputs.contamination.ngrams import SIZE, Hashes, NgramHasher, NgramIndex
from outputs.contamination.reworded_lines import Reworded, RewordedLines
from pipeline.embeddings.embeddings import Embed
from scenarios.wording import words

_FEWEST_COMMON = 10
"""What fewer rows than this share is never taken for boilerplate."""
_PASSAGES = 20
_PASSAGE_WORDS = 60
_NEIGHBOUR_WORDS = 100
_TELLING_WORDS = 4
"""Lines of fewer words are ids, labels and nods, which say nothing of what a row is about."""


@dataclass(frozen=True, slots=True)
class RowSet:
    """A data set that can be read from its start as often as needed."""

    name: str
    rows: Callable[[], Iterable[Row]]


@dataclass(frozen=True, slots=True)
class Settings:
    """When two rows count as overlapping."""

    size: int = SIZE
    """Words per n-gram."""
    common: float = 0.2
    """An n-gram in at least this share of the rows of *both* sets is their form, not content."""
    least: float = 0.1
    """A row overlaps if it shares more than this share of its n-grams; 0: any one of them.

    Stock phrases make long rows share an n-gram or two; a copied utterance makes them share more.
    """
    cosine: float = 0.95
    """A row whose nearest neighbour is at least this similar overlaps as well."""
    reworded: bool = True
    """Whether lines are looked for that have words replaced or swapped."""
    remove_reworded: bool = False
    """Whether rows with such lines are to be removed, too; they are not certain, so they are told
    alone by default."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two sets."""

    name: str
    rows: int
    bare: int
    """Rows without any n-gram of their own: too short to tell, or nothing but form."""
    sharing: int
    """Rows that share an n-gram with the other set."""
    overlapping: int
    """Rows that share more of them than the settings let pass."""


@dataclass(frozen=True, slots=True)
class Passage:
    """The longest passage that a row of the checked set shares with the reference."""

    row: int
    """1 is the first row."""
    share: float
    """Of the row's n-grams, in (0, 1]."""
    text: str
    """Its words in lower case, cut after 60."""


@dataclass(frozen=True, slots=True)
class Contamination:
    """What comparing a set with a reference found."""

    checked: Side
    reference: Side
    settings: Settings
    shared_ngrams: int
    common_ngrams: int
    """N-grams left out of account because both sets repeat them in row after row."""
    passages: tuple[Passage, ...]
    """The worst 20, those that share most first."""
    neighbours: Neighbours | None
    """None where no embedding model was given."""
    reworded: Reworded | None
    """What may be reworded lines of the reference; None where nobody looked."""
    rows: NDArray[np.int64]
    """The rows of the checked set to remove: those that overlap, by words or by neighbour, and with
    ``remove_reworded`` those that may hold reworded lines; 0 is the first; sorted."""

    def summary(self) -> dict[str, object]:
        """Return the counts as plain data, without any text of the rows."""
        near, again = self.neighbours, self.reworded
        return {
            "checked": self.checked.name,
            "reference": self.reference.name,
            "checked_rows": self.checked.rows,
            "reference_rows": self.reference.rows,
            "checked_rows_bare": self.checked.bare,
            "reference_rows_bare": self.reference.bare,
            "checked_rows_sharing": self.checked.sharing,
            "reference_rows_sharing": self.reference.sharing,
            "checked_rows_overlapping": self.checked.overlapping,
            "reference_rows_overlapping": self.reference.overlapping,
            "checked_rows_to_remove": len(self.rows),
            "ngram_size": self.settings.size,
            "least_share": self.settings.least,
            "shared_ngrams": self.shared_ngrams,
            "common_ngrams": self.common_ngrams,
            "nearest_neighbour": None if near is None else near.summary(),
            "reworded": None if again is None else again.summary(),
        }

    def report(self) -> dict[str, object]:
        """Return the counts and the worst passages as plain data."""
        shown = [{"row": p.row, "share": p.share, "text": p.text} for p in self.passages]
        worst = () if self.reworded is None else self.reworded.worst
        return {**self.summary(), "passages": shown, "reworded_lines": [asdict(w) for w in worst]}


def compare(
    checked: RowSet,
    reference: RowSet,
    settings: Settings | None = None,
    embed: Embed | None = None,
) -> Contamination:
    """Find the rows of one set that overlap with another, and how much of the other they cover.

    Both sets are streamed, twice each (and once more with ``embed``). Memory holds 12 bytes per
    distinct n-gram of the *reference*, and its embeddings; the checked set may be of any size.
    So give the smaller set, usually the one that is held out, as the reference. Reworded lines
    cost about two kilobytes more per distinct line of the reference; copies are not looked at again.

    Raises:
        UsageError: a file cannot be read, or the embedding model not loaded.
    """
    settings = settings or Settings()
    hasher = NgramHasher(settings.size)
    reworded = RewordedLines() if settings.reworded else None
    index, reference_rows = _index(reference, hasher, reworded)
    seen, checked_rows = _occurrences(checked, hasher, index)
    common = _is_common(index.rows, reference_rows, settings) & _is_common(
        seen, checked_rows, settings
    )
    tally = _Tally(hasher, index, common, np.ones(len(common), np.bool_), settings.least)
    worst = _Worst(hasher, index, common)
    for number, lines in enumerate(_lines(checked)):
        share = tally.add(number, lines)
        if share:
            worst.offer(number, share, lines)
        if reworded is not None and share <= settings.least:
            reworded.check(number, lines)
    other = _Tally(hasher, index, common, seen > 0, settings.least)
    for number, lines in enumerate(_lines(reference)):
        other.add(number, lines)
    overlapping = np.array(tally.overlapping, np.int64)
    neighbours = None
    if embed is not None:
        form = frozenset(index.hashes[common].tolist())
        near = _neighbours(
            checked, reference, settings=settings, hasher=hasher, form=form, embed=embed
        )
        neighbours, overlapping = near.result(), np.union1d(overlapping, near.close)
    again = None if reworded is None else reworded.result(checked_rows, overlapping.tolist())
    if again is not None and settings.remove_reworded:
        overlapping = np.union1d(overlapping, np.array(again.places, np.int64))
    return Contamination(
        checked=tally.side(checked.name, checked_rows),
        reference=other.side(reference.name, reference_rows),
        settings=settings,
        shared_ngrams=int(((seen > 0) & ~common).sum()),
        common_ngrams=int(common.sum()),
        passages=worst.passages(),
        neighbours=neighbours,
        reworded=again,
        rows=overlapping,
    )


def without(checked: RowSet, comparison: Contamination) -> Iterator[Row]:
    """Yield the rows of the checked set that do not overlap, in their order."""
    leave_out = iter(comparison.rows.tolist())
    following = next(leave_out, None)
    for number, row in enumerate(checked.rows()):
        if number == following:
            following = next(leave_out, None)
        else:
            yield row


def _lines(rows: RowSet) -> Iterator[list[str]]:
    for row in rows.rows():
        yield [folded_text(line) for line in row_lines(row)]


def _index(
    reference: RowSet, hasher: NgramHasher, reworded: RewordedLines | None
) -> tuple[NgramIndex, int]:
    """Return the n-grams of a set and its number of rows; its lines are taken in by the way."""
    count = 0

    def hashes() -> Iterator[Hashes]:
        nonlocal count
        for lines in _lines(reference):
            count += 1
            if reworded is not None:
                reworded.add(lines)
            yield hasher.row(lines)

    index = NgramIndex.of(hashes())
    return index, count


def _occurrences(
    checked: RowSet, hasher: NgramHasher, index: NgramIndex
) -> tuple[NDArray[np.int32], int]:
    """Return in how many rows of a set each n-gram of the index occurs, and its number of rows."""
    seen = np.zeros(len(index.hashes), np.int32)
    count = 0
    for lines in _lines(checked):
        count += 1
        seen[index.find(hasher.row(lines))] += 1
    return seen, count


def _is_common(rows: NDArray[np.int32], total: int, settings: Settings) -> NDArray[np.bool_]:
    return rows >= max(_FEWEST_COMMON, settings.common * total)


class _Tally:
    """Counts the rows of one set that hold n-grams which the other set holds too."""

    def __init__(
        self,
        hasher: NgramHasher,
        index: NgramIndex,
        common: NDArray[np.bool_],
        elsewhere: NDArray[np.bool_],
        least: float,
    ) -> None:
        self._hasher, self._index, self._common, self._least = hasher, index, common, least
        self._shared = elsewhere & ~common
        self.overlapping = array("q")
        self._bare = 0
        self._sharing = 0

    def add(self, number: int, lines: Sequence[str]) -> float:
        """Count one row and return which share of its own n-grams the other set holds."""
        hashes = self._hasher.row(lines)
        at = self._index.find(hashes)
        own = len(hashes) - int(self._common[at].sum())
        if not own:
            self._bare += 1
            return 0.0
        share = int(self._shared[at].sum()) / own
        self._sharing += share > 0
        if share > self._least:
            self.overlapping.append(number)
        return share

    def side(self, name: str, rows: int) -> Side:
        """Return what was counted."""
        return Side(name, rows, self._bare, self._sharing, len(self.overlapping))


class _Worst:
    """Keeps the passages of the rows that share most, with equals in the order of the rows."""

    def __init__(self, hasher: NgramHasher, index: NgramIndex, common: NDArray[np.bool_]) -> None:
        self._hasher, self._index, self._common = hasher, index, common
        self._heap: list[tuple[float, int, str]] = []

    def offer(self, number: int, share: float, lines: Sequence[str]) -> None:
        """Keep a row's passage if it is among the worst."""
        key = (share, -number)
        if len(self._heap) < _PASSAGES:
            heapq.heappush(self._heap, (*key, self._longest(lines)))
        elif key > self._heap[0][:2]:
            heapq.heapreplace(self._heap, (*key, self._longest(lines)))

    def passages(self) -> tuple[Passage, ...]:
        """Return what was kept, the worst first."""
        worst = sorted(self._heap, reverse=True)
        return tuple(Passage(1 - minus, round(share, 4), text) for share, minus, text in worst)

    def _longest(self, lines: Sequence[str]) -> str:
        """Return the longest run of words that is in the reference too, n-gram by n-gram."""
        best: Sequence[str] = ()
        for line in lines:
            tokens = words(line)
            start: int | None = None
            shared = [*(self._is_shared(h) for h in self._hasher.line(tokens)), False]
            for at, hit in enumerate(shared):
                if hit:
                    start = at if start is None else start
                elif start is not None:
                    run = tokens[start : at - 1 + self._hasher.size]
                    best = run if len(run) > len(best) else best
                    start = None
        text = " ".join(best[:_PASSAGE_WORDS])
        return f"{text} ..." if len(best) > _PASSAGE_WORDS else text

    def _is_shared(self, value: np.uint64) -> bool:
        at = self._index.find(np.array([value], np.uint64))
        return len(at) > 0 and not self._common[at[0]]


def _neighbours(
    checked: RowSet,
    reference: RowSet,
    *,
    settings: Settings,
    hasher: NgramHasher,
    form: frozenset[int],
    embed: Embed,
) -> Neighbourhood:
    """Find the nearest neighbour of each checked row among the reference rows."""

    def contents(rows: RowSet) -> Iterator[str]:
        for lines in _lines(rows):
            yield _content(lines, hasher, form)

    near = Neighbourhood(contents(reference), embed, settings.cosine)
    near.check(contents(checked))
    return near


def _content(lines: Sequence[str], hasher: NgramHasher, form: frozenset[int]) -> str:
    """Return the last words of a row that are its own: what a small encoder can take in."""
    own: list[str] = []
    for line in reversed(lines):
        tokens = words(line)
        hashes = hasher.line(tokens).tolist()
        if len(tokens) < _TELLING_WORDS or (hashes and form.issuperset(hashes)):
            continue
        own[:0] = line.split()
        if len(own) >= _NEIGHBOUR_WORDS:
            break
    return " ".join(own[-_NEIGHBOUR_WORDS:])


def overlap_share(summary: Mapping[str, object], key: str = "checked_rows_to_remove") -> str:
    """Return the share of checked rows that ``key`` of a summary counts, for people."""
    rows, found = summary["checked_rows"], summary[key]
    if not isinstance(rows, int) or not isinstance(found, int) or not rows:
        return "no rows"
    return f"{found:,} of {rows:,} rows ({found / rows:.2%})"


def reworded_share(summary: Mapping[str, object]) -> str:
    """Return the share of checked rows that may hold reworded lines, for people."""
    found = summary.get("reworded")
    if not isinstance(found, Mapping):
        return "not looked for"
    return overlap_share({"checked_rows": summary["checked_rows"], "rows": found["rows"]}, "rows")
