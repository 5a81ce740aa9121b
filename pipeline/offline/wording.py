"""Turn phrases into sentences: capitals, punctuation, formal or casual forms."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_SPACE = re.compile(r"\s+")
_BEFORE_MARK = re.compile(r"\s+([,.;:!?])")
_END = re.compile(r"(?<=[.?!]) ")
_DOUBLE = re.compile(r",\s*,")
_DONE = (
    r"(?:ever |never |quite |already |always )?"
    r"(?:asked|been|better|cost|forgotten|got|had|hidden|hoped|kept|made|noticed|said|seen|told)\b"
)
"""What follows "had" or "has", where "would" or "is" has the same short form."""
_FULL = (
    (re.compile(r"\b([Ww])on't\b"), r"\1ill not"),
    (re.compile(r"\b([Cc])an't\b"), r"\1annot"),
    (re.compile(r"\b([Ll])et's\b"), r"\1et us"),
    (re.compile(r"n't(?!\w)"), " not"),
    (re.compile(r"'m(?!\w)"), " am"),
    (re.compile(r"'ll(?!\w)"), " will"),
    (re.compile(r"'ve(?!\w)"), " have"),
    (re.compile(r"'re(?!\w)"), " are"),
    (re.compile(rf"'d(?= {_DONE})"), " had"),
    (re.compile(r"'d(?!\w)"), " would"),
    (re.compile(rf"(body|\b(?:[Ii]t|[Ww]ho|[Tt]here|[Nn]othing))'s (?={_DONE})"), r"\1 has "),
    (re.compile(r"\b(it|that|there|what|who|here|nothing|nobody)'s\b", re.IGNORECASE), r"\1 is"),
)
"""What people say in short, and its full form; the grammar's own phrases have no other short forms."""


def sentence(phrase: str) -> str:
    """Return a phrase as a sentence: capital, one closing mark, no doubled marks or spaces."""
    text = _SPACE.sub(" ", phrase).strip(" ,;:")
    text = _DOUBLE.sub(",", _BEFORE_MARK.sub(r"\1", text))
    if not text:
        return ""
    text = text[0].upper() + text[1:]
    return text if text[-1] in ".?!" else text + "."


def joined(phrases: Sequence[str]) -> str:
    """Return phrases as one text, a sentence each; equal ones only once."""
    return " ".join(dict.fromkeys(s for s in map(sentence, phrases) if s))


def adapted(text: str, register: str) -> str:
    """Bring a text of the grammar into its register: formal speech has no short forms."""
    if register == "formal":
        for pattern, full in _FULL:
            text = pattern.sub(full, text)
    return text[:1].upper() + text[1:]


def sentences(text: str) -> list[str]:
    """Split a text after each mark that ends a sentence."""
    return [part for part in _END.split(text) if part]


def repeats(text: str, said: Iterable[str]) -> bool:
    """Whether a sentence of ``text`` stands in something that was said."""
    parts = sentences(text)
    return any(part in before for before in said for part in parts)
