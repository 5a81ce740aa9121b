"""The probes: what the label is guessed from, and whether that may tell anything about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from outputs.audit.corpus import AuditedAnswer, AuditedDialogue, Known
from outputs.audit.cross_fit import Floats, Matrix
from outputs.audit.features import (
    category_columns,
    edge_words,
    number_columns,
    repeated_lines,
    signs,
    word_columns,
)
from outputs.audit.items import AuditItems, Block, Unit
from outputs.audit.ties import Shows
from scenarios.wording import words

ProbeKind = Literal["must-not", "surface", "tied"]
"""``tied``: read where labels show that the scheme ties to the goal; only told."""
GRAM = 5
"""Words in a row that an answer shares with the fact."""
_DIGITS = 4
"""Digits at the beginning of an id that are looked at."""


@dataclass(frozen=True, slots=True)
class ShortcutProbe:
    """One thing to guess a label from."""

    name: str
    about: str
    kind: ProbeKind
    """``must-not``: it may tell nothing, and gates; ``surface``: it is read off the words that are
    labelled or off what answers them, and only told."""
    columns: Callable[[AuditItems], Matrix | None]
    """What is looked at; None where it is the same throughout."""
    of_goal: Unit | None = "dialogue"
    """What the goal is guessed for; None: it is not guessed from this."""
    of_answers: bool = True
    """Whether labels of answers are guessed from it."""
    block: Block = "pair"
    """What keeps together when labels of answers are permuted."""
    of_plan: bool = False
    """Whether it is about the plan of a dialogue, which requirements of the scheme reach into."""
    needs: Known | None = None
    """What not every source holds."""
    seen: bool = False
    """Whether it learns from other pairs of the same scenarios, not from other scenarios."""
    shows: Shows | None = None
    """Which answers show in it, and with them labels that are tied to the goal: the goal is then
    guessed where none of them is tied, and told apart for all; None: none shows."""


def _opening(items: AuditItems) -> Matrix | None:
    return word_columns([d.opening for d in items.dialogues], items.scenarios)


def _opening_again(items: AuditItems) -> Matrix | None:
    return repeated_lines([d.opening for d in items.dialogues], items.pairs)


def _asked(items: AuditItems) -> Matrix | None:
    return word_columns([d.asked for d in items.dialogues], items.scenarios)


def _before(items: AuditItems) -> Matrix | None:
    return word_columns([answer.before for answer in items.answers], items.scenarios)


def _after(items: AuditItems) -> Matrix | None:
    return word_columns([answer.after for answer in items.answers], items.scenarios)


def _position(items: AuditItems) -> Matrix | None:
    places = [(a.turn, d.answers[-1].turn - a.turn) for d, a in _both(items)]
    return number_columns(np.array(places, dtype=np.float64))


def _turns(items: AuditItems) -> Matrix | None:
    counts = [[len(d.answers)] for d in items.dialogues]
    return number_columns(np.array(counts, dtype=np.float64))


def _length(items: AuditItems) -> Matrix | None:
    return number_columns(_sizes([answer.text for answer in items.answers]))


def _length_around(items: AuditItems) -> Matrix | None:
    parts = [[d.opening for d in items.dialogues], [a.before for a in items.answers]]
    return number_columns(np.hstack([_sizes(texts) for texts in parts]))


def _sizes(texts: Sequence[str]) -> Floats:
    """Return the number of words and of characters, shape ``(texts, 2)``."""
    return np.array([(len(text.split()), len(text)) for text in texts], dtype=np.float64)


def _traits(items: AuditItems) -> Matrix | None:
    return category_columns([dict(d.traits) for d in items.dialogues], items.scenarios)


def _ids(items: AuditItems) -> Matrix | None:
    found: list[Mapping[str, str | float]] = []
    for d in items.dialogues:
        digits = {f"digit {place}": sign for place, sign in enumerate(d.case[:_DIGITS])}
        found.append(digits | {f"fact {word}": 1.0 for word in d.fact.split("_")})
    return category_columns(found, items.scenarios)


def _arm(items: AuditItems) -> Matrix | None:
    made = [{"arm": d.arm, **d.made_by} for d in items.dialogues]
    return category_columns(made, items.scenarios)


def _overlap(items: AuditItems) -> Matrix | None:
    counts = []
    for d, answer in _both(items):
        shared = _shared_grams(answer.text, d.fact_text, d.public_text)
        counts.append([float(shared), float(shared > 0)])
    return number_columns(np.array(counts, dtype=np.float64))


@lru_cache(maxsize=4096)
def _private_grams(fact: str, public: str) -> frozenset[tuple[str, ...]]:
    return _grams(fact) - _grams(public)


def _grams(text: str) -> frozenset[tuple[str, ...]]:
    said = words(text)
    return frozenset(said[i : i + GRAM] for i in range(len(said) - GRAM + 1))


def _shared_grams(text: str, fact: str, public: str) -> int:
    private = _private_grams(fact, public)
    return len(_grams(text) & private) if private else 0


def _labels(items: AuditItems) -> Matrix | None:
    return category_columns([dict(answer.labels) for answer in items.answers], items.scenarios)


def _first_answer(items: AuditItems) -> Matrix | None:
    return word_columns([d.answers[0].text for d in items.dialogues], items.scenarios)


def _line(items: AuditItems) -> Matrix | None:
    return word_columns([answer.text for answer in items.answers], items.scenarios)


def _first_words(items: AuditItems) -> Matrix | None:
    return category_columns(
        [edge_words(answer.text, last=False) for answer in items.answers], items.scenarios
    )


def _last_words(items: AuditItems) -> Matrix | None:
    return category_columns(
        [edge_words(answer.text, last=True) for answer in items.answers], items.scenarios
    )


def _punctuation(items: AuditItems) -> Matrix | None:
    return number_columns(np.array([signs(answer.text) for answer in items.answers]))


def _both(items: AuditItems) -> Iterator[tuple[AuditedDialogue, AuditedAnswer]]:
    return zip(items.dialogues, items.answers, strict=True)


PROBES: tuple[ShortcutProbe, ...] = (
    ShortcutProbe("opening", "words of all lines before the first answer", "must-not", _opening,
                  needs="lines"),
    ShortcutProbe("opening again", "the same lines before the first answer, seen before",
                  "must-not", _opening_again, of_answers=False, needs="lines", seen=True),
    ShortcutProbe("position", "place of the answer, from both ends", "must-not", _position,
                  of_goal=None, block="turn of a pair", of_plan=True),
    ShortcutProbe("turns", "number of answers", "must-not", _turns, of_plan=True),
    ShortcutProbe("length", "words and characters of the answer", "must-not", _length,
                  of_goal="answer", shows="answers up to it"),
    ShortcutProbe("length around", "those of the opening and of the other's line before", "must-not",
                  _length_around, of_goal="answer", of_answers=False, needs="lines",
                  shows="answers before"),
    ShortcutProbe("other lines", "words of all lines of those who are not labelled", "must-not", _asked,
                  of_answers=False, needs="lines", shows="all answers"),
    ShortcutProbe("line before", "words of the other's line before", "must-not", _before,
                  of_goal="answer", needs="lines", shows="answers before"),
    ShortcutProbe("line after", "words of the other's line after, which may take up the answer",
                  "surface", _after, of_goal=None, needs="lines"),
    ShortcutProbe("variation", "persona, register and whatever was drawn", "must-not", _traits,
                  needs="variation"),
    ShortcutProbe("ids", "digits of the case's id, words of the fact's id", "must-not", _ids),
    ShortcutProbe("arm", "arm, strategy and model", "must-not", _arm, block="dialogue"),
    ShortcutProbe("overlap", "runs of five words that are in the private fact", "must-not",
                  _overlap, of_goal="answer", needs="fact text", shows="answers up to it"),
    ShortcutProbe("labels", "labels of the answer", "must-not", _labels,
                  of_goal="answer", of_answers=False, shows="answers up to it"),
    ShortcutProbe("first words", "up to three words at the beginning of the line", "surface",
                  _first_words, of_goal="answer"),
    ShortcutProbe("last words", "up to three words at the end of the line", "surface",
                  _last_words, of_goal="answer"),
    ShortcutProbe("punctuation", "signs, digits and capitals of the line", "surface",
                  _punctuation, of_goal="answer"),
    ShortcutProbe("line", "words of the line alone", "surface", _line, of_goal="answer"),
    ShortcutProbe("first answer", "words of the first answer", "surface", _first_answer,
                  of_answers=False),
)  # fmt: skip
"""Every probe of dialogues, in the order in which they are told."""
