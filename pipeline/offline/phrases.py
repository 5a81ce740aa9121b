"""Extract noun phrases from English text by closed word classes."""

from __future__ import annotations

import re
from functools import lru_cache

from pipeline.offline.lexicon import words

_TOKEN = re.compile(r"[^\W_]+(?:['\-][^\W_]+)*(?:['](?=\s))?|[^\w\s]")
_UNSAFE = re.compile(r"[{}<>#|\"“”`*\\]")
_SPACE = re.compile(r"\s+")
_INNER_STOP = re.compile(r"(?<![.!?…])[.!?…]+(?=\s)")
_CONTENT = re.compile(r"[^\W\d_]{3,}")


def tidy(text: str, *, limit: int = 400) -> str:
    """Return a text as one clause: one line, no quotes or brackets, no sentence end inside."""
    flat = _SPACE.sub(" ", _UNSAFE.sub(" ", text.replace("\u2019", "'"))).strip()[:limit]
    return _INNER_STOP.sub(",", flat).rstrip(" .,;:!?…-")


def tokens(text: str) -> list[str]:
    """Split a text into words and punctuation marks."""
    return _TOKEN.findall(text.replace("\u2019", "'"))


@lru_cache(maxsize=4096)
def content_words(text: str) -> frozenset[str]:
    """Return the stems (first six letters) of the words that carry meaning."""
    return frozenset(
        word.lower()[:6] for word in _CONTENT.findall(text) if word.lower() not in words("stops")
    )


def is_past(word: str) -> bool:
    """Whether a word looks like a past form."""
    low = word.lower()
    if low in words("past"):
        return True
    return len(low) > 4 and low.endswith("ed") and low not in words("notpast")


def _fits(word: str, first: bool) -> bool:
    low = word.lower()
    if not word[0].isalnum() or low in words("stops") or low in words("determiners"):
        return False
    if not first and low in words("numbers"):
        return False
    if not first and low.endswith("ing") and low not in words("ingnouns"):
        return False
    if (
        low in words("present")
        or low in words("plain")
        or (not first and is_past(low))
        or low in words("past")
    ):
        return False
    return not (low.endswith("ly") and len(low) > 4 and low not in ("family", "supply", "reply"))


def _is_head(word: str) -> bool:
    low = word.lower()
    if low in words("badheads") or low.isdigit() or "'" in low or len(low) < 3:
        return False
    return not is_past(low) and not low.endswith(("ful", "ous", "ible", "able"))


@lru_cache(maxsize=2048)
def noun_phrases(text: str) -> tuple[str, ...]:
    """Return the noun phrases that start with a determiner, in order, each once.

    A phrase ends before the next function word, verb or mark; one whose last word is no likely
    head is left out.
    """
    parts = tokens(text)
    phrases = dict.fromkeys(_bare_plural(parts))
    for i, token in enumerate(parts):
        if token.lower() not in words("determiners") or token.lower() in ("that", "those", "these"):
            continue
        phrase: list[str] = []
        for word in parts[i + 1 : i + 5]:
            if not _fits(word, not phrase):
                break
            phrase.append(word)
        else:
            continue
        if phrase and _is_head(phrase[-1]):
            phrases[" ".join([token.lower(), *phrase])] = None
    return tuple(phrases)


def _bare_plural(parts: list[str]) -> list[str]:
    """Return a plural without determiner that a text starts with: ``Screenshots with names``."""
    phrase: list[str] = []
    for word in parts[:4]:
        if not _fits(word, not phrase):
            break
        phrase.append(word if phrase else word[:1].lower() + word[1:])
    last = phrase[-1] if phrase else ""
    plural = last.endswith("s") and not last.endswith(("ss", "us", "is"))
    return [" ".join(phrase)] if plural and len(phrase) <= 3 and _is_head(last) else []


def definite(phrase: str) -> str:
    """Return a noun phrase as one that both speakers know: ``a deposit`` becomes ``the deposit``."""
    head, _, rest = phrase.partition(" ")
    return f"the {rest}" if head in ("a", "an", "this", "another") else phrase


def lowered(clause: str, names: frozenset[str] = frozenset()) -> str:
    """Return a clause as it stands inside a sentence; names and ``I`` keep their capital."""
    first, space, rest = clause.partition(" ")
    if first.lower() in words("lowerable") or first.lower() in names:
        return first[:1].lower() + first[1:] + space + rest
    return clause
