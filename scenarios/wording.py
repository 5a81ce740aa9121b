"""Text measures without a model: sentences, words, stems, shingles, similarity."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise

from scenarios.han_numbers import han_numbers
from scenarios.han_words import carries_content, is_chinese

_HAN_CLOSERS = "\"'\u201d\u2019\u300d\u300f\uff09)\u3011"
_HAN_OPENS = "[\u201c\u2018\u300c\u300e\uff08]*+[\u3040-\u9fff]"
_END = re.compile(
    r"((?<![.!?\u2026])[.!?\u2026]++[\"'\u201d\u2019)\]]*+)(?=\s|$)"
    rf"|([\u3002\uff01\uff1f\uff61]++[{_HAN_CLOSERS}]*+"
    rf"|(?<![.!?\u2026])[!?]++[{_HAN_CLOSERS}]*+(?={_HAN_OPENS})|(?<=[\u3040-\u9fff])\.(?={_HAN_OPENS})"
    r"|[\u061f\u06d4\u0964\u0965]++[.!?\u2026]*+[\"'\u201d\u2019\u00bb)\]]*+(?=\s|$))"
)
"""Marks are looked at once, however many stand in a row: their number is a model's."""
_MARKS = "".join(
    char for char in map(chr, range(0x300, 0x1B00)) if unicodedata.category(char) in ("Mn", "Mc")
)
"""Vowel signs and accents that letters carry; re counts them among what separates words."""
_LETTERS = rf"[^\W\d_]+(?:[{_MARKS}\u200c\u200d]+[^\W\d_]*)*"
_WORD = re.compile(rf"\d+(?:[.,]\d+)*|{_LETTERS}(?:['\u2019]{_LETTERS})*")
_ASCII_WORD = re.compile(r"\d+(?:[.,]\d+)*|[a-z]+(?:'[a-z]+)*")
"""The same, found quicker, in texts of ASCII signs alone, as most English ones are."""
WITHOUT_SPACES = frozenset({"zh", "yue", "ja", "th", "lo", "km", "my"})
"""Languages whose words nothing stands between."""
_DENSE = re.compile("[\u3040-\u9fff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
REMEMBERED = 8192
"""Texts of which measures are kept: the turns of a dialogue are looked at by many, one by one."""
_AHEAD = 60
"""Signs that are looked at behind a mark: all the rest would be copied for every mark."""
_OPENERS = "\"'\u201c\u2018(["
_ABBREVIATIONS_TEXT = (
    "mr mrs ms dr prof st mt messrs sr jr rev gen col lt sgt hon gov sen rep vs cf approx fig ca "
    "e.g i.e inc ltd co corp dept est art sec para bzw evtl ggf inkl"
)
_SPACED_ABBREVIATIONS = frozenset(["d. h", "u. a", "o. ä"])
_AFTER_ORDINAL = frozenset(
    [
        "januar",
        "jänner",
        "februar",
        "märz",
        "april",
        "mai",
        "juni",
        "juli",
        "august",
        "september",
        "oktober",
        "november",
        "dezember",
        "jahrhundert",
        "jahrhunderts",
    ]
)
"""German writes a point after the number of a day."""
_BEFORE_NUMBER_TEXT = "no nos p pp vol ch art sec nr para"
_STOP_TEXT = (
    "a about above after again against all along already also although always am an and another any "
    "anybody anyone anything are aren't around as asked at away back be because been before being "
    "below between both but by came can can't cannot come could couldn't did didn't do does doesn't "
    "doing don't down during each either else ever every for from further gave get give given go "
    "goes going gone got had hadn't has hasn't have haven't having he her here hers him his how i "
    "i'm if in into is isn't it it's its itself just kept last later let like long made make many "
    "may me might more most much must my near never new next no nobody nor not nothing now of off "
    "often old on once one only or other our ours out over own per put said same say says see she "
    "should since so some someone something still such take than that that's the their theirs them "
    "themselves then there these they this those though through till to together told too took "
    "toward under until up upon us use used very was wasn't way we well were weren't what when "
    "where whether which while who whole whom whose why will with within without won't would "
    "wouldn't yet you your yours"
)
# Small numbers count people and things in any phrase; they give nothing away.
_NUMERALS_TEXT = (
    "five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred "
    "thousand million billion dozen"
)
_ABBREVIATIONS = frozenset(_ABBREVIATIONS_TEXT.split())
_BEFORE_NUMBER = frozenset(_BEFORE_NUMBER_TEXT.split())
_STOP = frozenset(_STOP_TEXT.split())
_NUMERALS = frozenset(_NUMERALS_TEXT.split())
_ENDINGS = (
    ("ies", "y"), ("ied", "y"), ("ings", ""), ("ing", ""), ("edly", ""), ("ed", ""), ("ers", ""),
    ("er", ""), ("ations", ""), ("ation", ""), ("ment", ""), ("ments", ""), ("ness", ""),
    ("es", ""), ("s", ""), ("ly", ""), ("e", ""),
)  # fmt: skip


def sentences(text: str) -> list[str]:
    """Split a text into sentences; abbreviations, initials and decimals do not end one."""
    text = " ".join(text.split())
    parts: list[str] = []
    start = 0
    for match in _END.finditer(text):
        if match.group(1) is not None and not _ends_sentence(match, start):
            continue
        parts.append(text[start : match.end()].strip())
        start = match.end()
    rest = text[start:].strip()
    return [part for part in [*parts, rest] if part]


def _ends_sentence(match: re.Match[str], start: int) -> bool:
    text, mark = match.string, match.group(1)
    following = text[match.end() : match.end() + _AHEAD].lstrip()
    if not following:
        return True
    opening = following.lstrip(_OPENERS)[:1]
    if opening and opening.islower():
        return False
    if mark[0] != ".":
        return True
    before = text[start : match.start()].split()
    last = before[-1].lstrip(_OPENERS) if before else ""
    if last.casefold() in _BEFORE_NUMBER and opening.isdigit():
        return False
    if _is_german_point(before[-2:], following):
        return False
    is_initial = len(last) == 1 and last.isupper() and last != "I"
    return not (last.casefold() in _ABBREVIATIONS or is_initial or re.fullmatch(r"(\w\.)+\w", last))


def _is_german_point(before: Sequence[str], following: str) -> bool:
    """Whether a point stands after the number of a day or century, or in an abbreviation."""
    last = before[-1] if before else ""
    if last.isdigit() and len(last) < 3:
        word = _WORD.match(following)
        return word is not None and word.group().casefold() in _AFTER_ORDINAL
    return " ".join(before) in _SPACED_ABBREVIATIONS or (last == "z" and following[:2] == "B.")


@lru_cache(maxsize=REMEMBERED)
def words(text: str) -> tuple[str, ...]:
    """Return the words and numbers in lower case; scripts without spaces give pairs of signs."""
    return tuple(split_words(text))


def split_words(text: str) -> list[str]:
    """Return what :func:`words` does, and remember nothing: for texts that do not come again."""
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    flat = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'")
    found = _WORD.findall(flat)
    if not _is_dense(flat):
        return found
    parts: list[str] = []
    for word in found:
        parts += pairs_of_signs(word)
    return parts


def pairs_of_signs(word: str) -> list[str]:
    """Return a word as it is; what is written without spaces, in pairs of signs that overlap."""
    if not _is_dense(word):
        return [word]
    return [word[i : i + 2] for i in range(max(1, len(word) - 1))]


def word_count(text: str) -> int:
    """Return how many words a text has; in scripts without spaces two signs count as one."""
    found = [match.group() for match in _WORD.finditer(unicodedata.normalize("NFKC", text))]
    return sum((len(word) + 1) // 2 if _is_dense(word) else 1 for word in found)


@lru_cache(maxsize=REMEMBERED)
def stem(word: str) -> str:
    """Cut the commonest English endings off, so that ``repaired`` and ``repairs`` meet."""
    word = word.removesuffix("'s")
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word[: -len(ending)] + instead
            break
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "sl" else word


@lru_cache(maxsize=REMEMBERED)
def content_stems(text: str) -> frozenset[str]:
    """Return the stems of the words that carry content (no function words).

    Of Chinese they are pairs of signs, and numbers in digits.
    """
    found = frozenset(stem(word) for word in _content_words(text))
    return found if text.isascii() or not is_chinese(text) else found | numbers(text)


def numbers(text: str) -> frozenset[str]:
    """Return the numbers of a text, in digits or words; those of other scripts in our digits."""
    if text.isascii():
        return frozenset(word for word in words(text) if word[0].isdigit() or word in _NUMERALS)
    flat = unicodedata.normalize("NFKC", text)
    figures = "".join(str(unicodedata.digit(char, char)) for char in flat)
    found = (word for word in words(figures) if word[0].isdigit() or word in _NUMERALS)
    return frozenset(found) | han_numbers(figures)


@lru_cache(maxsize=REMEMBERED)
def shingles(text: str, size: int) -> frozenset[tuple[str, ...]]:
    """Return the runs of ``size`` stems of a text, function words included."""
    stems = [stem(word) for word in words(text)]
    return frozenset(tuple(stems[i : i + size]) for i in range(len(stems) - size + 1))


def share(part: frozenset[object], whole: frozenset[object]) -> float:
    """Return which share of ``part`` occurs in ``whole``, in [0, 1]; 0 where ``part`` is empty."""
    return len(part & whole) / len(part) if part else 0.0


def resemblance(left: str, right: str) -> float:
    """Return the Jaccard similarity of the content stems and word pairs of two texts, in [0, 1]."""
    a, b = content_terms(left), content_terms(right)
    return len(a & b) / len(a | b) if a | b else 0.0


def content_terms(text: str) -> frozenset[object]:
    """Return the content stems of a text and the pairs of them that follow each other."""
    return content_stems(text) | _content_pairs(text)


def union(texts: Iterable[str]) -> frozenset[str]:
    """Return the content stems of all the texts together."""
    return frozenset().union(*(content_stems(text) for text in texts))


def _content_pairs(text: str) -> frozenset[object]:
    return frozenset(pairwise(stem(word) for word in _content_words(text)))


def _content_words(text: str) -> list[str]:
    found = [word for word in words(text) if _carries(word)]
    if text.isascii() or not is_chinese(text):
        return found
    return [word for word in found if carries_content(word)]


def _carries(word: str) -> bool:
    if word in _STOP or word.removesuffix("n't").partition("'")[0] in _STOP:  # there's, you'd
        return False
    return len(word) > 2 or word[0].isdigit() or _is_dense(word) or _is_syllables(word)


def _is_syllables(word: str) -> bool:
    """Whether a word is Korean and of two signs: each is a syllable, and most nouns have two."""
    return len(word) == 2 and all("\uac00" <= char <= "\ud7a3" for char in word)


def _is_dense(word: str) -> bool:
    return _DENSE.search(word) is not None
