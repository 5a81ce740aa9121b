"""Put untrusted text on one line, and strip speaker tags and quotes from utterances."""

from __future__ import annotations

import re

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\s]+")
_SPEAKER = re.compile(
    r"[*_]{0,2}(?:initiator|responder|utterance|response)[*_]{0,2}(?:\s?\([^()]{1,80}\))?"
    r"\s*:\s*[*_]{0,2}\s*",
    re.IGNORECASE,
)
_PAIRS = {'"': '"', "\u201c": "\u201d", "\u2018": "\u2019", "'": "'", "\u00ab": "\u00bb"}
_INNER_APOSTROPHE = re.compile(r"(?<=\w)['\u2019](?=\w)")


def whole(text: str) -> str:
    """Return the text with halves of surrogate pairs put together.

    A lone half, which no UTF-8 file and no database can hold, becomes the replacement character.
    """
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def one_line(text: str) -> str:
    """Return the :func:`whole` text on one line.

    Control characters and runs of whitespace become one space.
    """
    if text.isprintable() and "  " not in text:
        return text.strip()
    return _CONTROL.sub(" ", whole(text)).strip()


def shortened(text: str, limit: int = 80) -> str:
    """Return the text on one line, cut to ``limit`` characters with an ellipsis."""
    line = one_line(text)
    return line if len(line) <= limit else line[: limit - 3].rstrip() + "..."


def spoken(text: str) -> str:
    """Return an utterance without line breaks, a speaker tag in front, or quotes around it."""
    line = one_line(text)
    while True:
        bare = _unquoted(line)
        tag = _SPEAKER.match(bare)
        bare = bare[tag.end() :] if tag else bare
        if bare == line:
            return line
        line = bare


def _unquoted(line: str) -> str:
    """Remove quotes that enclose the whole line, and only those."""
    closing = _PAIRS.get(line[:1])
    if closing is None or len(line) < 2 or line[-1] != closing:
        return line
    inner = line[1:-1]
    rest = _INNER_APOSTROPHE.sub("", inner)
    return line if line[0] in rest or closing in rest else inner.strip()
