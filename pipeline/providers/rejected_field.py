"""Which part of a request an endpoint does not take, from the words of its refusal."""

from __future__ import annotations

import re
from collections.abc import Collection

from pipeline.providers.error_body import ErrorBody

_NOT_TAKEN = re.compile(
    r"unsupported|not[ _]support|n.t support|support only|only supports|unrecogni[sz]ed|unknown|unexpected"
    r"|extra[_ ](?:inputs|forbidden|fields)|not permitted|not allowed|not available|not implemented"
    r"|deprecated|cannot (?:both )?be (?:used|specified|set)|must be 1\b|should be 1\b|incompatible"
    r"|only be set to|or unset when|only [\d.]+ is (?:allowed|supported)",
    re.IGNORECASE,
)
_TOGETHER = re.compile(
    r"\b(?:both|together|simultaneously|and)\b|only (?:\w+ )?one\b|same time", re.IGNORECASE
)
"""How endpoints speak of two fields that they do not take in one request."""
_SCHEMA = re.compile(
    r"response_format|output_config|output_format|json_schema|json schema|structured output"
    r"|guided (?:decoding|json)|response_?schema|the specified schema",
    re.IGNORECASE,
)
_NEVER_LEFT_OUT = frozenset({"model", "messages", "system", "stream"})


def rejected_field(reported: ErrorBody, sent: Collection[str]) -> str | None:
    """Return the body field that an error says is not taken, if it is one that was sent.

    A field that is merely out of range is the user's to mend, not to be dropped: the error has to
    speak of not supporting or not knowing it. Of two that are not taken together it is ``top_p``, of
    others that are named the first.
    """
    root = re.split(r"[.\[]", reported.parameter or "")[0]
    for carrier in ("response_format", "output_config"):
        if carrier in sent and (root == carrier or _SCHEMA.search(reported.message)):
            return carrier
    droppable = [name for name in sent if name not in _NEVER_LEFT_OUT]
    if not _NOT_TAKEN.search(f"{reported.kind} {reported.message}"):
        return None
    if root in sent:
        return root if root in droppable else None
    quoted = _named(droppable, r"[`'\"]{}\b", reported.message)
    # one-letter names occur in prose, so that bare 'n' proves nothing
    found = quoted or _named(
        [name for name in droppable if len(name) > 1], r"\b{}\b", reported.message
    )
    if "top_p" in found and _TOGETHER.search(reported.message):
        return "top_p"
    return min(found, key=found.__getitem__, default=None)


def _named(names: Collection[str], pattern: str, message: str) -> dict[str, int]:
    """Return those names that a message has, in this spelling or in camel case, and where."""
    spelled = {name: rf"{re.escape(name)}|{re.escape(_camel(name))}" for name in names}
    found = {
        name: re.search(pattern.format(f"(?:{spelling})"), message)
        for name, spelling in spelled.items()
    }
    return {name: match.start() for name, match in found.items() if match is not None}


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))
