"""Rewrite third-person clauses into the first or second person, where that is safe."""

from __future__ import annotations

import re
from functools import lru_cache

from pipeline.offline.lexicon import words
from pipeline.offline.phrases import is_past, lowered, tidy, tokens
from pipeline.offline.wording import sentences

_PRONOUN = re.compile(r"\b(?:he|she|him|his|her|hers|himself|herself)\b", re.IGNORECASE)
_NAME = re.compile(r"(?<=[a-z,] )(?!I\b)[A-Z]\w+")
_CALLER = re.compile(r"\bthe caller\b", re.IGNORECASE)
_BOTH = re.compile(r"\bthe (two|couple|pair) (\w+)", re.IGNORECASE)
_KIN = re.compile(r"\bthe (\w+)")
_LONG = 14
"""Words of a clause that is put into a sentence of the grammar."""
_CLOSE = frozenset({"friend", "flatmate", "roommate", "colleague", "teammate", "fiancé", "fiancée"})
"""Who besides kin says "we" of themselves and the hearer."""
_WE = re.compile(r"\b(?:ours?|ourselves|us|we)\b", re.IGNORECASE)
_NOT_TURNED = re.compile(
    r"\b(?:you|yours?|yourself|yourselves|let's|(?:am|was) I)\b", re.IGNORECASE
)
"""What cannot be turned round: the hearer is named in it, or the verb stands before the speaker."""
_TURNED_ROUND = tuple(
    (re.compile(said), heard)
    for said, heard in (
        (r"\bI'm\b", "you're"),
        (r"\bI am\b", "you are"),
        (r"\bI was\b", "you were"),
        (r"\bI wasn't\b", "you weren't"),
        (r"\b(?:I|we|me|us)\b", "you"),
        (r"\b(?:my|our)\b", "your"),
        (r"\b(?:mine|ours)\b", "yours"),
        (r"\bmyself\b", "yourself"),
        (r"\bourselves\b", "yourselves"),
    )
)
_BUT = re.compile(r"\b(?:but|than|except|besides) $")


def in_person(clause: str, speaker: str, hearer: str) -> str:
    """Put a clause into the speaker's mouth, or return nothing where that is not safe.

    He and she become I only where the same clause names the speaker before them: of a clause that
    begins with one nobody can tell whom it means. Whoever is there is not spoken of as a third
    person: two partners are "we", and who calls is "you".
    """
    text = _CALLER.sub(lambda m: f"the {hearer}", clause) if hearer else clause
    text = _as_we(text, speaker)
    if not text or re.match(r"(?:He|She)\b", text):
        return ""
    for role, (subject, other, owner) in (
        (speaker, ("I", "me", "my")),
        (hearer, ("you", "you", "your")),
    ):
        changed = _replaced(text, role, subject, other, owner)
        if changed is None:
            return ""
        text = changed
    if _PRONOUN.search(text):
        if re.match(r"I\b", text):
            text = "" if _has_person(text) or _NAME.search(text) else _pronouns_to_me(text)
        elif not (text[:4].lower() == "the " and _has_person(text.split(" ", 6)[0:6])):
            text = ""
    return text


def _as_we(clause: str, speaker: str) -> str:
    """Let one of two partners say "we" for the two; nothing where a clause has other kin as third persons."""
    if not words("kin") & set(speaker.lower().split()):
        return clause
    both = _BOTH.match(clause)
    if both and _is_verb(both[2]):
        clause = f"We {_plain(both[2], 'we')}{clause[both.end() :]}"
    if any(_is_verb(m[2]) or m[1] != "two" for m in _BOTH.finditer(clause)):
        return ""
    others = words("kin") - set(speaker.lower().split())
    return "" if any(m[1] in others for m in _KIN.finditer(clause.lower())) else clause


def _has_person(text: str | list[str]) -> bool:
    parts = tokens(text) if isinstance(text, str) else text
    return any(part.lower().removesuffix("'s").rstrip("s") in words("people") for part in parts)


def _pronouns_to_me(text: str) -> str:
    """Read every he and his in a clause about the speaker as the speaker; nothing if unclear."""
    if re.search(r"\b(?:her|him|hers)\b", text):
        return ""
    out = re.sub(r"\bhis\b", "my", text)
    out = re.sub(r"\b(?:himself|herself)\b", "myself", out)
    return re.sub(r"\b(?:he|she) (\w+)", lambda m: _agree(f"I {m[1]}"), out)


def _replaced(text: str, role: str, subject: str, other: str, owner: str) -> str | None:
    """Replace mentions of a role by pronouns; None where the grammar is not plain."""
    pattern = mention(role)
    if pattern is None or not pattern.search(text):
        return text
    if re.search(
        pattern.pattern + r" (?:and|or)\b|\b(?:and|or) " + pattern.pattern, text, re.IGNORECASE
    ):
        return None
    out, rest = "", text
    while match := pattern.search(rest):
        after = rest[match.end() :]
        if after[:2] == "'s":
            word, after = owner, after[2:]
        elif _BUT.search(rest[: match.start()]):
            word = other
        elif _is_verb(next(iter(tokens(after)), "")):
            word, after = subject, _agree(subject + after)[len(subject) :]
        elif not out and match.start() == 0:
            return None
        else:
            word = other
        out, rest = out + rest[: match.start()] + word, after
    joined = out + rest
    return joined[:1].upper() + joined[1:]


@lru_cache(maxsize=512)
def mention(role: str) -> re.Pattern[str] | None:
    """Return a pattern for "the <role>", by the whole name or its head noun alone."""
    name = " ".join(role.lower().split())
    stem = re.split(r" (?:of|at|for|in|from|with|to)\b", name)[0]
    heads = {name, stem, stem.split(" ")[-1]} - {""}
    if not heads:
        return None
    options = "|".join(sorted(map(re.escape, heads), key=len, reverse=True))
    return re.compile(rf"\bthe (?:{options})(?![\w-])", re.IGNORECASE)


def _is_verb(word: str) -> bool:
    low = word.lower()
    return (
        low in words("aux")
        or low in words("adverbs")
        or low in words("present")
        or is_past(low)
        or (low.endswith("ly") and len(low) > 4)
    )


def _agree(text: str) -> str:
    """Make the verb after a leading ``I`` or ``you`` agree with it."""
    parts = text.split(" ")
    first = parts[0]
    for i in range(1, min(4, len(parts))):
        low = parts[i].lower().rstrip(",.;")
        if low in words("adverbs") or (low.endswith("ly") and len(low) > 4):
            continue
        parts[i] = parts[i].replace(low, _plain(low, first), 1)
        break
    return " ".join(parts)


def _plain(verb: str, subject: str) -> str:
    if subject == "I":
        fixed = {"is": "am", "has": "have", "does": "do", "was": "was", "were": "was"}
    else:
        fixed = {"is": "are", "has": "have", "does": "do", "was": "were"}
    if verb in fixed:
        return fixed[verb]
    if verb in words("present"):
        if verb.endswith("ies") and len(verb) > 4:
            return verb[:-3] + "y"
        cut = verb.endswith(("sses", "shes", "ches", "xes", "zes", "oes"))
        return verb[:-2] if cut else verb[:-1]
    return verb


@lru_cache(maxsize=2048)
def spoken_clauses(claims: str, speaker: str, hearer: str) -> tuple[str, ...]:
    """Return claims as the speaker says them, where that is safe; those that are short enough."""
    spoken = (in_person(tidy(claim, limit=160), speaker, hearer) for claim in sentences(claims))
    return tuple(lowered(clause) for clause in spoken if clause and len(clause.split()) <= _LONG)


@lru_cache(maxsize=2048)
def as_heard(clause: str, speaker: str, hearer: str) -> str:
    """Return what a speaker says of itself as the hearer says it: "I sleep here" becomes "you sleep here".

    Nothing is returned where that is not safe: of two who are close, "we" may be both.
    """
    close = (words("kin") | _CLOSE) & {*speaker.lower().split(), *hearer.lower().split()}
    if _NOT_TURNED.search(clause) or (close and _WE.search(clause)):
        return ""
    for said, heard in _TURNED_ROUND:
        clause = said.sub(heard, clause)
    return clause
