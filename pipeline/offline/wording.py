"""Turn phrases into sentences: capitals, punctuation, formal or casual forms."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_SPACE = re.compile(r"\s+")
_BEFORE_MARK = re.compile(r"\s+([,.;:!?])")
_END = re.compile(r"(?<=[.?!]) ")
_DOUBLE = re.compile(r",\s*,")
_SHORT = re.compile(
    r"\b(?:(?P<am>I am)|(?P<wont>will not)|(?P<will>(?:I|you|we) will(?! not))|(?P<would>(?:I|you|we) would(?! not))"
    r"|(?P<have>I have) (?=(?:not|never|told|said|been|heard|kept|decided|chosen|left|answered|given|had|looked)\b)"
    r"|(?P<let>[Ll]et us)|(?P<cannot>cannot)"
    r"|(?P<nt>(?:[Dd]o|does|did|is|was|are|were|would|could|should|has|had) not)"
    r"|(?P<is>(?:(?<=^)|(?<=[.,;] )|(?<=\bthat )|(?<=\bbecause )|(?<=\band ))(?:[Ii]t is|[Tt]here is|[Tt]hat is)))"
    r"(?= \w)",
)
_FIXED = {"am": "I'm", "wont": "won't", "cannot": "can't"}
_TAILS = {"will": "'ll", "would": "'d", "have": "'ve"}
_CASUAL = (
    (re.compile(r"\bregarding\b"), "about"),
    (re.compile(r"\bon the subject of\b"), "about"),
    (re.compile(r"\bI am grateful\b"), "I am so glad"),
    (re.compile(r"\bgladly\b"), "happily"),
    (re.compile(r"\bsince you\b"), "seeing as you"),
    (re.compile(r"\bMy apologies\b"), "Sorry"),
    (re.compile(r"\bmy apologies\b"), "sorry"),
)
_FORMAL = (
    (re.compile(r"^(?:right|look here),\s", re.IGNORECASE), "in fairness, "),
    (re.compile(r"\blook,\s", re.IGNORECASE), "if I may, "),
    (re.compile(r"\bwell,\s", re.IGNORECASE), "to be precise, "),
    (re.compile(r"\byou know,\s", re.IGNORECASE), "as you are aware, "),
    (re.compile(r"\blisten,\s", re.IGNORECASE), "with respect, "),
    (re.compile(r"\ball right,\s", re.IGNORECASE), "very well, "),
)


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


def contracted(text: str) -> str:
    """Write the full forms of a text as people say them."""
    return _SHORT.sub(_contraction, text)


def _contraction(match: re.Match[str]) -> str:
    text, kind = match[0], match.lastgroup or ""
    word, _, rest = text.partition(" ")
    if kind in _FIXED:
        return _FIXED[kind]
    if kind in _TAILS:
        return word + _TAILS[kind] + " " * rest.endswith(" ")
    return word + ("n't" if kind == "nt" else "'s")


def adapted(text: str, register: str, *, spoken: bool) -> str:
    """Bring a text into its register; ``spoken`` says whether neutral speech contracts."""
    if register == "formal":
        for pattern, new in _FORMAL:
            text = pattern.sub(new, text)
    elif register == "casual":
        for pattern, new in _CASUAL:
            text = pattern.sub(new, text)
    if register == "casual" or (spoken and register != "formal"):
        text = contracted(text)
    return text[:1].upper() + text[1:]


def sentences(text: str) -> list[str]:
    """Split a text after each mark that ends a sentence."""
    return [part for part in _END.split(text) if part]


def repeats(text: str, said: Iterable[str]) -> bool:
    """Whether a sentence of ``text`` stands in something that was said."""
    parts = sentences(text)
    return any(part in before for before in said for part in parts)
