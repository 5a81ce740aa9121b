"""Forms of a private fact for the grammar: true parts, named things, denials."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from pipeline.offline.lexicon import words
from pipeline.offline.person import in_person, mention
from pipeline.offline.phrases import (
    content_words,
    definite,
    is_past,
    lowered,
    noun_phrases,
    tidy,
    tokens,
)

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_JOINT = re.compile(
    r";\s+|,\s+(?:and|but|so)\s+(?=(?:the|a|an|my|no|it|he|she|they|one|another)\b)", re.IGNORECASE
)
_REST = re.compile(
    r"(?<!look)(?<!looks)(?<!looked)(?<!looking),?\s+(?:because|although|though|whereas|while|"
    r"so that|since|before|after|until|when|as if|in return|in order to|so as to)\b.*"
    r"|,\s+.*|:\s.*",
    re.IGNORECASE,
)
_LEADING = re.compile(
    r"^(?:(?:in|on|at|since|after|before|during|for|last|from|until|that|every|by|when|over|instead)\b"
    r"[^,]{0,60},\s+"
    r"|[^,.;]{1,30}?\b(?:ago|earlier|later|morning|evening|autumn|summer|spring|winter)\s+"
    r"(?=(?:the|a|an|my|i|you|another)\b))",
    re.IGNORECASE,
)
_LEADING_PLACE = re.compile(
    r"^(?:in|on|at|since|for|over|under|behind|through|via|with|by|last|most|every|that)\b",
    re.IGNORECASE,
)
_GROUP = re.compile(r"^(?:it|they|them|their|this|these|those|he|she)\b", re.IGNORECASE)
_NEGATIVE = re.compile(
    r"\b(?:not|never|no|nobody|none|nothing|neither|nor|without|hardly|n't)\b", re.IGNORECASE
)
_DANGLING = re.compile(
    r"\b(?:ones|the two|the same|the other|they|them|it|these|those)\b|\bago (?!the|a|an|my|i)\w"
    r"|\b(?:\w+ing|days?|weeks?|months?|years?|hours?|minutes?)$(?<!thing)",
    re.IGNORECASE,
)
_NAME = re.compile(r"[^\W\d_]+")
_FIRST_HALF = re.compile(
    r" and (?=(?:\w+ed|put|paid|let|told|kept|left|sent|gave|took|hands|signs|keeps|uses)\b).*"
)
_NEGATED_BY = {
    "was": "never", "were": "never", "has": "never", "have": "never", "had": "never",
    "is": "not", "are": "not", "am": "not",
}  # fmt: skip
_MAX_WORDS = 18


@dataclass(frozen=True, slots=True)
class FactForms:
    """A fact cut into what an utterance can use."""

    about: str
    clauses: tuple[str, ...]
    """True clauses, first person where the speaker is named, none of them the whole fact."""
    things: tuple[str, ...]
    """Noun phrases that stand in the fact."""
    denials: tuple[str, ...]
    """Clauses that cannot be true if the fact is."""
    stems: frozenset[str]
    """What the fact and its subject are about, to keep away from when changing the subject."""


@lru_cache(maxsize=2048)
def fact_forms(about: str, fact: str, speaker: str, hearer: str) -> FactForms:
    """Cut a fact; ``speaker`` and ``hearer`` are the names of the two roles."""
    names = frozenset(word for word in _NAME.findall(fact) if word.islower())
    subject = _known(lowered(tidy(about, limit=120), names), speaker, hearer)
    flat = " ".join(fact.replace("\u2019", "'").split())
    pieces = [piece for piece in _pieces(flat, speaker) if piece]
    spoken = [in_person(piece, speaker, hearer) for piece in pieces]
    clauses = [lowered(tidy(c), names) for c in spoken if c and _is_clause(c)]
    limit = int(0.7 * len(flat.split()))
    usable = tuple(
        dict.fromkeys(c for c in clauses if 4 <= len(c.split()) <= min(limit, _MAX_WORDS))
    )
    whole = {_bare(flat)}
    return FactForms(
        about=subject,
        clauses=tuple(c for c in usable if _bare(c) not in whole),
        things=_things(flat, speaker, hearer),
        denials=tuple(dict.fromkeys(d for c in clauses if (d := _denied(c)))),
        stems=content_words(about) | content_words(fact),
    )


def _known(about: str, speaker: str, hearer: str) -> str:
    """Name the subject as something both know; fall back on "that" where it is long or unclear."""
    if not about or len(about.split()) > 14:
        return "that"
    spoken = in_person(about, speaker, hearer, phrase=True)
    return definite(spoken) if spoken else "that"


def _bare(text: str) -> str:
    return re.sub(r"\W+", " ", text).strip().lower()


def _pieces(text: str, speaker: str) -> list[str]:
    """Split into main clauses, without a leading 'Two winters ago' and without subordinate rests."""
    forms = []
    for sentence in _SENTENCE_END.split(text):
        trimmed = _from_speaker(_LEADING.sub("", sentence), speaker)
        for i, piece in enumerate(_JOINT.split(trimmed)):
            main = _REST.sub("", piece).strip()
            if i == 0 or not _GROUP.match(main):
                forms.append(main[:1].upper() + main[1:] if i == 0 else main)
    return forms


def _from_speaker(sentence: str, speaker: str) -> str:
    """Drop 'Behind the paint tins' before 'the husband keeps', if that is how it starts."""
    pattern = mention(speaker)
    match = pattern.search(sentence) if pattern and _LEADING_PLACE.match(sentence) else None
    if match is None or match.start() > 45 or sentence[match.end() :][:2] == "'s":
        return sentence
    before = tokens(sentence[: match.start()])
    plain = not any(is_past(word) or word.lower() in words("aux") or word == "," for word in before)
    joined = bool(before) and before[-1].lower() in words("stops")
    return sentence[match.start() :] if plain and not joined else sentence


def _is_clause(text: str) -> bool:
    """Whether a piece can stand alone: a subject first, then a finite verb, nothing cut open."""
    parts = tokens(text)
    if len(parts) < 3 or parts[0].lower() not in words("starts") or _DANGLING.search(text):
        return False
    if parts[0].lower() == "there":
        return parts[1].lower() in ("is", "are", "was", "were") and len(parts) > 4
    if parts[-1].lower() in words("stops") and parts[-1].lower() not in words("particles"):
        return False
    return _verb_at(parts) > 0


def _verb_at(parts: list[str]) -> int:
    """Return where the finite verb of a simple clause stands, or -1.

    A word with a plain past form counts only where no determiner stands right before it.
    """
    for i, word in enumerate(parts[1:9], 1):
        low = word.lower()
        if low in words("relatives") or word in ",;:":
            return -1
        if i == 1 and parts[0] in ("I", "you") and low not in words("stops") | words("adverbs"):
            return i
        if low in words("aux") or low in words("present"):
            return i
        if low in words("plain"):
            return -1
        if low == "left" and not _takes_object(parts[i + 1 : i + 2]):
            continue
        by = low.endswith("ed") and parts[i + 1 : i + 2] == ["by"]
        if is_past(low) and not by and parts[i - 1].lower() not in words("determiners"):
            return i
    return -1


def _takes_object(following: list[str]) -> bool:
    return not following or following[0].lower() in words("determiners") | words("stops")


def _things(text: str, speaker: str, hearer: str) -> tuple[str, ...]:
    """Return noun phrases of the fact that name things, not the two people or anybody else."""
    forms = []
    for phrase in noun_phrases(text):
        last = phrase.split(" ")[-1].lower()
        if last.rstrip("s") in words("people") or last in speaker.lower() or last in hearer.lower():
            continue
        if phrase.startswith("another ") or "'" in phrase:
            continue
        forms.append(phrase)
    return tuple(forms)


def _denied(clause: str) -> str:
    """Return the clause with its truth turned round, or nothing where that is not safe."""
    clause = _FIRST_HALF.sub("", clause)
    parts = clause.split(" ")
    first = parts[0].lower()
    if not 4 <= len(parts) <= _MAX_WORDS or first not in words("deniable"):
        return ""
    if parts[1].lower() in words("shares") or " still " in clause or " so " in clause:
        return ""
    if first == "there":
        match = re.match(r"there (is|was) an? ", clause)
        return f"there {match[1]} no {clause[match.end() :]}" if match else ""
    if _NEGATIVE.search(clause):
        return _affirmed(clause)
    at = _verb_at([part.rstrip(",") for part in parts])
    low = parts[at].lower() if at > 0 else ""
    perfect = _participle("".join(parts[at + 1 : at + 2]))
    aux = low in words("aux") and (low not in ("has", "have", "had") or perfect)
    if (aux and low not in _NEGATED_BY) or not (aux or is_past(low)):
        return ""
    head, tail = (parts[: at + 1], parts[at + 1 :]) if aux else (parts[:at], parts[at:])
    word = _NEGATED_BY[low] if aux else "never"
    if tail[:1] == ["been"] and tail[1:2] and tail[1].endswith("ing"):
        word = "not"
    if first in ("a", "an"):
        head, word = ["no", *head[1:]], "ever" if word == "never" else ""
    return " ".join(part for part in (*head, word, *tail) if part)


def _participle(word: str) -> bool:
    low = word.lower()
    return low in words("participles") or is_past(low) or low.endswith("en")


def _affirmed(clause: str) -> str:
    """Take the one plain negation out of a clause."""
    negations = _NEGATIVE.findall(clause)
    if len(negations) != 1:
        return ""
    match = re.search(
        r"\b(was|were|is|are|has|had|have|could|can|will|would) (?:not|never) (?!until|only|before)",
        clause,
    )
    if match is None or re.search(r"\b(?:and|who|which|that|where)\b", clause[: match.start()]):
        return ""
    return clause[: match.end(1)] + clause[match.end() - 1 :]
