"""Tell what a question asks for, by its form: a vague answer has to be an answer of that kind."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

WHETHER: Final = "whether"
_FORMS: Final = (
    ("when", r"(?:since |until |by )?when|how (?:long|soon)|what (?:time|day|year)"),
    ("amount", r"how (?:much|many|often|big|far|large)|what number"),
    ("who", r"(?:to |by |from |with )?who(?:m|se)?\b"),
    ("where", r"where"),
    (
        "why",
        r"why|how come|what(?:'s| is) the reason|what\b(?![^?]*\b(?:look|ask|stand|pay|wait|hope|out) for)[^?]{1,80}\bfor(?=\?|$)",
    ),
    ("how", r"how"),
    (
        "any",
        r"(?:is|are|was|were|has|have|had|did|do|does) (?:there|you|it)?\b[^?]{0,12}\b(?:any(?:thing)?|a (?:thing|part|page))\b|anything",
    ),
    ("what", r"(?:in |on |at |for |of )?(?:what|which)|tell me|put it|just say"),
    (WHETHER, r"(?:am|is|are|was|were|do|does|did|have|has|had|can|could|will|would|should|may)\b"),
)
"""Kinds of questions, and how a clause begins that asks one; the first that fits counts."""
_BEGINS: Final = tuple((form, re.compile(rf"(?:{begins})(?!\w)")) for form, begins in _FORMS)
_WITHIN: Final = tuple(
    (form, re.compile(rf"(?<!\w)(?:{begins})(?!\w)")) for form, begins in _FORMS[:-1]
)
_CLAUSE: Final = re.compile(r"(?<=[.?!]) |[,:;] ")
_CALL: Final = re.compile(r"^(?:and|but|so|then|now|okay|look|well|right|or) (?:then )?")
_SUPPOSED: Final = re.compile(
    r"if |(?:when|since|before|after) (?!(?:am|are|is|was|were|do|does|did|have|has|can|will|would)\b)"
)
"""How a clause begins that only leads up to a question."""


@lru_cache(maxsize=2048)
def question_form(question: str) -> str:
    """Return the kind of answer that a question wants; ``whether`` where nothing shows another.

    It may be asked in any clause, after what leads up to it, and within one: "who" in "Would you tell me who
    it was?".
    """
    clauses = [_CALL.sub("", clause) for clause in _CLAUSE.split(question.strip().lower())]
    asking = [clause for clause in clauses if not _SUPPOSED.match(clause)]
    first = next((form for clause in asking for form, at in _BEGINS if at.match(clause)), "")
    if first and first != WHETHER:
        return first
    last = asking[-1] if asking else ""
    if re.match(r"(?:could|can|would|will|may) (?:you|somebody|i)\b", last) or not first:
        return next((form for form, at in _WITHIN if at.search(last)), WHETHER)
    return first
