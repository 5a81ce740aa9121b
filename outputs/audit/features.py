"""What a probe may look at, as numbers: words, categories, counts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from outputs.audit.cross_fit import Floats, Integers, Matrix
from scenarios.wording import pairs_of_signs

MOST_COLUMNS = 500
"""Words, or categories, that a probe looks at: the commonest of those in at least two scenarios."""
_WORD_OR_SIGN = re.compile(r"\w+(?:['\u2019]\w+)?|[^\w\s]")
"""A word, or a sign: a comma may tell as much as a word."""
_BINS = 8
_SIGNS = (",", ".", "?", "!", ";", ":", "-", "\u2013", "\u2014", "\u2026", '"', "(")
_SAME_SIGNS = str.maketrans(
    "\u3001\uff0c\u060c\u3002\u0964\u06d4\uff1f\u061f\uff01\uff1b\u061b\uff1a\uff08\u300c\u201e\u00ab",
    ",,,...??!;;:(" + '"""',
)
"""Signs of other scripts and languages, as those of English that do the same."""


def word_columns(texts: Sequence[str], scenarios: Integers) -> Matrix | None:
    """Return words and pairs of words of each text, weighted by how rare they are.

    Args:
        texts: one an item.
        scenarios: of each item; what occurs in one scenario only says nothing about the others.

    Returns:
        A sparse matrix; None where nothing occurs in two scenarios.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415 heavy, extra audit
    from sklearn.preprocessing import normalize  # noqa: PLC0415

    if not any(re.search(r"\S", text) for text in texts):
        return None
    vectors = TfidfVectorizer(
        tokenizer=_words_and_signs,
        token_pattern=None,
        ngram_range=(1, 2),
        sublinear_tf=True,
        norm=None,
    ).fit_transform(texts)
    kept = _useful(vectors, scenarios)
    return None if kept is None else normalize(kept)


def category_columns(
    items: Sequence[Mapping[str, str | float]], scenarios: Integers
) -> Matrix | None:
    """Return one column per category, and one per number, of the items.

    Args:
        items: by name: a text is a category, a number counts.
        scenarios: of each item.
    """
    from sklearn.feature_extraction import DictVectorizer  # noqa: PLC0415 heavy, extra audit

    if not any(items):
        return None
    return _useful(DictVectorizer().fit_transform(items).tocsr(), scenarios)


def repeated_lines(texts: Sequence[str], groups: Integers) -> Floats | None:
    """Return one column for each line that occurs, word for word, in several groups.

    Args:
        texts: of lines, one an item.
        groups: of each item, such as its pair.
    """
    groups_of: dict[str, set[int]] = {}
    for text, group in zip(texts, groups.tolist(), strict=True):
        for line in text.splitlines():
            groups_of.setdefault(line, set()).add(group)
    again = [line for line, found in groups_of.items() if len(found) > 1]
    again.sort(key=lambda line: (-len(groups_of[line]), line))
    if len(again) < 2:
        return None
    place = {line: number for number, line in enumerate(again[:MOST_COLUMNS])}
    table = np.zeros((len(texts), len(place)))
    for row, text in enumerate(texts):
        for line in text.splitlines():
            if line in place:
                table[row, place[line]] = 1.0
    return table


def number_columns(values: Floats) -> Matrix | None:
    """Return each number in units of its spread, and which eighth of the items it falls into.

    Args:
        values: shape ``(items, numbers)``.

    Returns:
        None where no number varies.
    """
    columns: list[Floats] = []
    for column in values.T:
        spread = float(column.std())
        if spread < 1e-12:
            continue
        columns.append(((column - column.mean()) / spread)[:, None])
        edges = np.unique(np.quantile(column, np.linspace(0, 1, _BINS + 1)[1:-1]))
        bins = np.searchsorted(edges, column, side="left")
        columns.append((bins[:, None] == np.arange(len(edges) + 1)).astype(np.float64))
    return np.hstack(columns) if columns else None


def signs(text: str) -> list[float]:
    """Count punctuation, digits and capital letters of a text, and look at its last sign."""
    plain = text.translate(_SAME_SIGNS)
    counts = [float(plain.count(sign)) for sign in _SIGNS]
    end = plain.rstrip()[-1:]
    return [
        *counts,
        float(sum(char.isdigit() for char in text)),
        float(sum(char.isupper() for char in text)),
        *(float(end == sign) for sign in ".?!"),
    ]


def edge_words(text: str, *, last: bool) -> dict[str, float]:
    """Return the first (or last) word of a text, the first two and the first three."""
    words = [word for word in _words_and_signs(text.casefold()) if re.match(r"\w", word)]
    if last:
        words.reverse()
    return {" ".join(words[:size]): 1.0 for size in (1, 2, 3) if len(words) >= size}


def _words_and_signs(text: str) -> list[str]:
    return [part for word in _WORD_OR_SIGN.findall(text) for part in pairs_of_signs(word)]


def _useful(matrix: Matrix, scenarios: Integers) -> Matrix | None:
    """Keep the commonest columns that vary and occur in at least two scenarios."""
    there = matrix.copy()
    there.data = np.ones_like(there.data)
    places, columns = there.nonzero()
    count = int(scenarios.max()) + 1
    seen = np.unique(columns.astype(np.int64) * count + scenarios[places]) // count
    spread_over = np.bincount(seen, minlength=matrix.shape[1])
    often = np.bincount(columns, minlength=matrix.shape[1])
    values = np.asarray(matrix.sum(axis=0)).ravel()
    squares = np.asarray(matrix.multiply(matrix).sum(axis=0)).ravel()
    varies = squares - values**2 / matrix.shape[0] > 1e-9
    kept = np.flatnonzero((spread_over > 1) & varies)
    if not len(kept):
        return None
    common = kept[np.argsort(-often[kept], kind="stable")[:MOST_COLUMNS]]
    return matrix[:, np.sort(common)].tocsr()
