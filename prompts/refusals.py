"""What models say when they fall out of a role: they will not play, or speak as a machine."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path
from typing import Final, cast

from prompts.cue_points import any_of, cue_points
from prompts.wording_model import SCALE, wording_model
from scenarios.yaml_source import read_yaml

PHRASES = Path(__file__).parent / "data" / "refusals.yaml"
CUES = PHRASES.with_name("refusal_cues.yaml")
WEIGHTS = PHRASES.with_name("refusal_weights.json")
REMEMBERED: Final = 16_384
"""Words of which it is kept what signs they may be of."""
DOUBTFUL: Final = -2 * SCALE
"""Score of the model of wordings from which on cues decide what it does not."""
_NO_DIGITS: Final = str.maketrans("", "", "0123456789")
"""No sign has any, and each number would be a word of its own to remember."""
_CAPITAL = re.compile(r"(?<!\\)[A-Z]")
"""A letter that is no class such as ``\\W``."""


@lru_cache(maxsize=4096)
def refusal_in(text: str, more: tuple[str, ...] = ()) -> str | None:
    """Return the words of a text that only a machine would say; None where there are none.

    They are those of a phrase, the sentence that a model of wordings takes for a refusal most, or,
    where it is in doubt, cues that stand together.

    Args:
        text: what was answered.
        more: further phrases beside those that ship, taken literally, whatever their case.
    """
    return _first(("declined", "out_of_role"), more, text) or _shown(text)


def shown_beside(text: str) -> bool:
    """Return whether phrases or cues show a refusal to whoever is in doubt; for training the model."""
    told = _first(("declined", "out_of_role"), (), text) or cue_points(CUES).found(text)
    return told is not None


def _shown(text: str) -> str | None:
    model = wording_model(WEIGHTS)
    score = model.score(text)
    if score >= model.threshold:
        return model.telling(text)
    return cue_points(CUES).found(text) if score >= DOUBTFUL else None


def declined_in(text: str) -> str | None:
    """Return the first words by which a model declines; None where there are none.

    Words of the task, which no person in a dialogue says, are none: whoever labels a dialogue
    writes them.
    """
    return _first(("declined",), (), text)


def refusal_languages() -> frozenset[str]:
    """Return the codes of the languages that models are seen to decline in."""
    return frozenset(_data()["declined"])


def _first(kinds: tuple[str, ...], more: tuple[str, ...], text: str) -> str | None:
    flat = " ".join(text.replace("\u2019", "'").split())
    lower = flat.lower()
    signs = chain.from_iterable(map(_signs_with, lower.translate(_NO_DIGITS).split()))
    if not any(map(lower.__contains__, chain(signs, _flat(more)))):  # nearly always
        return None
    match = _compiled(kinds, more).search(lower)
    if match is None:
        return None
    return flat[slice(*match.span())] if len(flat) == len(lower) else match[0]


@lru_cache(maxsize=REMEMBERED)
def _signs_with(word: str) -> tuple[str, ...]:
    """Return the signs that a text with this word may have.

    A sign is one of some words of which at least one is in every text that any phrase fits.
    """
    return tuple(sign for sign, longest in _signs() if longest in word)


@cache
def _signs() -> tuple[tuple[str, str], ...]:
    """Return every sign, in lower case, and its longest word."""
    shipped = [sign for signs in _data()["signs"].values() for sign in signs]
    return tuple((sign, max(sign.split(), key=len)) for sign in shipped)


@lru_cache(maxsize=16)
def _flat(more: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(" ".join(phrase.split()).lower() for phrase in more)


@cache
def _data() -> dict[str, dict[str, list[str]]]:
    return cast("dict[str, dict[str, list[str]]]", read_yaml(PHRASES).data)


@lru_cache(maxsize=16)
def _compiled(kinds: tuple[str, ...], more: tuple[str, ...] = ()) -> re.Pattern[str]:
    """Put the phrases of all languages together: a machine may fall back into English.

    The pattern is for texts in lower case: to look at every letter in both cases takes five times
    as long.
    """
    data = _data()
    shipped = [one for kind in kinds for patterns in data[kind].values() for one in patterns]
    own = [re.escape(phrase) for phrase in _flat(more)]
    lower = [_CAPITAL.sub(lambda found: found[0].lower(), pattern) for pattern in shipped]
    return re.compile(any_of([*lower, *own]))
