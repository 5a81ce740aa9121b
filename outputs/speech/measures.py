"""How people speak in a dialogue: figures that can be added up over lines.

Every figure is a quotient of two sums, so that it is known for any group of lines, and for every
resample of the dialogues that they are from.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

import numpy as np
from numpy.typing import NDArray

from outputs.speech.compared import ComparedLine
from outputs.speech.markers import Markers
from scenarios.errors import UsageError
from scenarios.wording import content_stems, sentences, words

WINDOW: Final = 25
"""Words of the windows in which different ones are counted."""
_ASKS: Final = ("?", "\uff1f", "\u061f")
Sums = NDArray[np.float64]
"""Numerators and denominators, shape ``(2, measures)``."""
Heard = tuple[ComparedLine, ComparedLine | None]
"""A line, and the one before it if another person says that."""


@dataclass(frozen=True, slots=True)
class SpeechMeasure:
    """One figure."""

    id: str
    title: str
    unit: str


FORM: Final = (
    SpeechMeasure("line_length", "length of a line", "words"),
    SpeechMeasure("sentence_length", "length of a sentence", "words"),
    SpeechMeasure("questions", "lines that ask", "% of lines"),
    SpeechMeasure("variety", f"different words among {WINDOW} in a row", "%"),
    SpeechMeasure("echo", "content words taken up from the line before", "% of them"),
)


def measures_with(markers: Markers) -> tuple[SpeechMeasure, ...]:
    """Return all measures: of form, and one for every list of markers.

    Raises:
        UsageError: a list has the name of a measure of form.
    """
    for name in (measure.id for measure in FORM if measure.id in markers.lists):
        raise UsageError(
            f"markers: {name}: this is the name of what is counted anyway",
            "name the list otherwise",
        )
    return (
        *FORM,
        *(
            SpeechMeasure(
                name, marker.title, "% of lines" if marker.whole_lines else "in 100 words"
            )
            for name, marker in markers.lists.items()
        ),
    )


def heard(lines: Sequence[ComparedLine]) -> list[Heard]:
    """Return every line with the one before it, if another person says that."""
    before: list[ComparedLine | None] = [None, *lines]
    return [
        (line, None if last is None or last.role == line.role else last)
        for line, last in zip(lines, before, strict=False)
    ]


def speech_sums(lines: Iterable[Heard], markers: Markers, language: str) -> Sums:
    """Add up the figures of lines of one dialogue, in order.

    Args:
        lines: those that count.
        markers: what is counted where the language fits.
        language: of the lines.
    """
    lines = list(lines)
    fits = markers.fit(language)
    rows = [_line_sums(line, before, markers, fits=fits) for line, before in lines]
    sums = np.sum(rows, axis=0) if rows else np.zeros((2, len(FORM) + len(markers.lists)))
    sums[:, _VARIETY] = _variety([line for line, _ in lines])
    return sums


_VARIETY: Final = [measure.id for measure in FORM].index("variety")


def _line_sums(
    line: ComparedLine, before: ComparedLine | None, markers: Markers, *, fits: bool
) -> Sums:
    """Return the sums of a line; its variety is that of the dialogue, and left out."""
    tokens = len(words(line.text))
    stems = content_stems(line.text) if before is not None else frozenset()
    taken = stems & content_stems(before.text) if before is not None else frozenset()
    form = [
        (tokens, 1),
        (tokens, len(sentences(line.text))),
        (100 * any(mark in line.text for mark in _ASKS), 1),
        (0, 0),
        (100 * len(taken), len(stems)),
    ]
    counted = [
        (100 * marker.count(line.text), 1 if marker.whole_lines else tokens) if fits else (0, 0)
        for marker in markers.lists.values()
    ]
    return np.array([*form, *counted], dtype=np.float64).T


def _variety(lines: Sequence[ComparedLine]) -> tuple[float, float]:
    """Add up the shares of different words in all windows of what each person says.

    Source: Covington and McFall 2010, Cutting the Gordian knot: the moving-average type-token
    ratio (MATTR).
    """
    total = windows = 0
    by_role = sorted(lines, key=lambda line: line.role)  # stable: each person's lines in order
    for _, said in groupby(by_role, key=lambda line: line.role):
        tokens = [word for line in said for word in words(line.text)]
        for start in range(len(tokens) - WINDOW + 1):
            total += len(set(tokens[start : start + WINDOW]))
            windows += 1
    return 100 * total / WINDOW, windows
