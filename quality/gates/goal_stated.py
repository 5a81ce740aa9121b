"""The responder says outright which goal it was given."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

from prompts.wording_model import wording_model
from quality.gates.goal_in_chinese import tells_in_chinese
from quality.gates.protocol import GatedDialogue, GateExtension, NoSettings, quoted
from scenarios.han_words import is_chinese
from scenarios.negation import is_negated
from scenarios.schemes.model import Dimension, Scheme
from scenarios.verdicts import Flag
from scenarios.wording import REMEMBERED, sentences, stem, words

WEIGHTS = Path(__file__).parent / "data" / "goal_weights.json"
_AIM = (
    "goal|aim|objective|task|assignment|mission|strategy|tactic|role|job|instructions?|orders|"
    "purpose|plan|intention|brief"
)
_FRAME = re.compile(
    rf"\b(?:my|our|the|this) (?:\w+ ){{0,2}}(?:{_AIM})\b"
    r"|\b(?:i|we)(?: \w+){0,2} (?:(?:told|asked|instructed|supposed|ordered|directed) to|assigned|given)\b"
    r"|\b(?:i am|we are) (?:\w+ )?(?:here|trying|aiming|going|out|set|meant|about) to\b"
    r"|\b(?:i|we) (?:want|intend|mean|have|plan|need|aim) to\b|\bas part of (?:my|the)\b",
)
_NAMED = (
    r"\b(?:this|it|that)(?: is|'s| was)(?: a case of| called| what \w+ call)? {name}\b"
    r"|\b(?:practi[sc]ing|practi[sc]e|doing|using|applying|choosing|chose|committed to|called|"
    r"opted for|doing is) {name}\b"
)
_CONFESSED = (
    r"\b(?:i|we)(?: am| are| was| were| have been| did| had to| must| will)?"
    r"(?: \w+ly| just| only| really| simply| now| always| still| all along)*"
    r" (?:{verbs})(?: to)? (?:you|to you|about|the whole time|all along|right now|here)\b"
    r"|\b(?:i am|we are)(?: \w+ly| just| only| now)* (?:{verbs})\b(?! (?:down|low|in|on))"
)
_GAP = (
    r"(?: (?!(?:an?|who|what|whether|he|she|they|it|find|know|learn|see|show|prove|hear|stop|avoid|catch|"
    r"you are|be (?:called|told))\b)\S+){0,6} (?:VERBS)\b"
)
"""What may stand between a frame and the name of a goal: nothing that makes it somebody else's."""
_ELSE = re.compile(
    r"\b(?:lie|lies|lying) (?:low|down|in|on|awake|ahead|behind|there|at|beneath|under|about in)\b"
    r"|\b(?:\w+ )?non ?disclosure (?:agreement|clause|contract|form|policy|order)s?\b"
)
"""Where lying is no deceit, and non-disclosure a paper."""
_UNREAL = re.compile(
    r"\b(?:if|would|could|might|suppose|whether|accus\w+|call(?:ing)? me)\b"
    r"|\b(?:you|they|he|she|people|some\w*|any\w*|who\w*)(?: \w+)? (?:say|think|believe|claim)s?\b"
)
_FULL = {"i'm": "i am", "we're": "we are", "i've": "i have", "we've": "we have"}
_LYING = (
    "lie lied lying deceive deceived deceiving mislead misled misleading fooling duping tricking"
)


@dataclass(frozen=True, slots=True)
class _GoalNames:
    """How the labels of a goal dimension can be called."""

    phrases: tuple[str, ...]
    """Names of several words, and acronyms."""
    stems: frozenset[str]
    """Stems of the names of one word."""
    dimension: tuple[str, ...]
    """What the dimension is called."""


@dataclass(frozen=True, slots=True)
class GoalStated:
    """Looks for sentences in which the responder names its goal as its own.

    Names come from the scheme; the frames around them are English or Chinese. The virtues people claim in
    any conversation ("I am being honest") are no statement of a goal.
    """

    code: ClassVar[str] = "goal_stated"

    def check(self, subject: GatedDialogue) -> list[Flag]:
        """Flag every answer that gives a goal away, whichever."""
        found = []
        for turn in subject.answers:
            told = goal_in(turn.text, subject.scheme)
            if told is not None:
                found.append(subject.flag(self.code, f"names a goal: {quoted(told)}", turn))
        return found


def goal_in(text: str, scheme: Scheme) -> str | None:
    """Return the sentence of an answer that gives a goal away.

    A goal is named by a name of the scheme in a frame; that somebody is to mislead or to keep
    something back is told by a model of wordings, too, where lying is a goal of the scheme.

    Args:
        text: what a responder says.
        scheme: whose goals are looked for; one that assigns none has none to give away.
    """
    if not scheme.assigned:
        return None
    names = _names(scheme.goal)
    parts = sentences(text)
    told = next((part for part in parts if _tells(part, names)), None)
    if told is None and not text.isascii() and is_chinese(text):
        told = next((part for part in parts if tells_in_chinese(part, scheme.goal)), None)
    if told is None and stem("lie") in names.stems:
        return _shown(text)
    return told


@lru_cache(maxsize=64)
def _names(goal: Dimension) -> _GoalNames:
    phrases, stems = [], set()
    for label in goal.labels:
        single = len(words(label.id)) == 1
        for name in (label.id, *label.aliases):
            parts = words(name)
            if len(parts) > 1 or (name.isupper() and len(name) > 1):
                phrases.append(" ".join(parts))
            elif parts and single:
                stems.add(stem(parts[0]))
    if stems & {stem(word) for word in _LYING.split()}:
        stems |= {stem(word) for word in _LYING.split()}
    titles = {" ".join(words(goal.id)), " ".join(words(goal.title))} - {""}
    return _GoalNames(tuple(dict.fromkeys(phrases)), frozenset(stems), tuple(sorted(titles)))


@lru_cache(maxsize=REMEMBERED)
def _shown(text: str) -> str | None:
    return wording_model(WEIGHTS).found(text)


@lru_cache(maxsize=REMEMBERED)
def _tells(sentence: str, names: _GoalNames) -> bool:
    parts = [word for part in words(sentence) for word in _FULL.get(part, part).split()]
    flat = _ELSE.sub(" ", " ".join(parts))
    parts = flat.split()
    phrase = next((name for name in names.phrases if f" {name} " in f" {flat} "), None)
    word = next((part for part in parts if stem(part) in names.stems), None)
    name = phrase or word
    if name is None:
        return False
    framed = _FRAME.search(flat) is not None
    if _labelled(flat, names, name) or (phrase is not None and (framed or _named(flat, phrase))):
        return True
    if word is None or is_negated(sentence) or sentence.endswith("?"):
        return False
    real = _UNREAL.search(flat[: flat.index(word)]) is None
    return real and _confessed(flat, parts, names)


def _named(flat: str, phrase: str) -> bool:
    return re.search(_NAMED.replace("{name}", re.escape(phrase)), flat) is not None


def _confessed(flat: str, parts: Sequence[str], names: _GoalNames) -> bool:
    verbs = "|".join(sorted({re.escape(part) for part in parts if stem(part) in names.stems}))
    framed = f"(?:{_FRAME.pattern}){_GAP.replace('VERBS', verbs)}"
    return re.search(f"{_CONFESSED.replace('{verbs}', verbs)}|{framed}", flat) is not None


def _labelled(flat: str, names: _GoalNames, name: str) -> bool:
    """Whether the answer's form shows through: ``Goal: deception``."""
    return any(
        f" {title}{link}{name} " in f" {flat} "
        for title in names.dimension
        for link in (" ", " is ", " is to ")
    )


GATE = GateExtension(
    GoalStated.code, NoSettings, lambda _: GoalStated(), reads=lambda code: code in ("en", "zh")
)
