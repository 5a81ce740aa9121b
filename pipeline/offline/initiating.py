"""Write the initiator's questions where none was written by hand; they press harder with every turn.

The question itself takes up nothing that was answered, so that what is asked tells nothing of a goal: it is
drawn from the scene, the initiator's own questions and the seed alone. A reaction to the answer
may come before it (:mod:`pipeline.offline.reacting`).
"""

from __future__ import annotations

import re
from functools import lru_cache

from pipeline.offline.authored import ANGLE_LINE
from pipeline.offline.dice import Dice, hash_texts
from pipeline.offline.grammar import Slots, listed, realise
from pipeline.offline.manner import read_manner
from pipeline.offline.person import in_person
from pipeline.offline.phrases import tidy
from pipeline.offline.reading import ActorRequest
from pipeline.offline.wording import adapted, joined, repeats, sentences

_TRIES = 24
_INDIRECT = re.compile(r"\b(?:whether|who|what|why|how|when|where|which)\b.*", re.IGNORECASE)
_PRONOUN = re.compile(r"\b(?:he|she|him|his|her|hers|their|they|them|it|its)\b", re.IGNORECASE)


def ask(asked: ActorRequest, seed: int) -> str:
    """Return a question of one or two sentences that has not been asked before.

    Raises:
        PromptNotUnderstood: a section the rules need is missing.
    """
    situation = asked.section("Situation")
    speaker, hearer = asked.line("You", "Role"), asked.line("The other person", "Role")
    aim = asked.line("You", "Aim")
    manner_text = asked.sections.get("Way of speaking", "")
    manner = read_manner(manner_text)
    earlier = asked.said_by("INITIATOR")
    questions = (sentences(text)[-1] for text in earlier if text)
    dice = Dice(hash_texts((situation, aim, manner_text, *questions)), seed, asked.corrections)
    angle = asked.said_of("To find out", ANGLE_LINE)
    if angle and len(earlier) + dice.below(2) > 1 and not repeats(angle, earlier):
        return angle
    level = _level(max(1, len(earlier)), manner.hardness)
    slots: Slots = {"wh": _wanting_to_know(aim, speaker, hearer)}
    leads = listed("questions", "leads", manner.hardness or "plain")
    text = ""
    for attempt in range(_TRIES):
        cores = listed("questions", "cores", level)
        if manner.press and dice.chance(50):
            cores = listed("questions", "styles", manner.press)
        lead = dice.pick(leads) if dice.chance(50) else ""
        text = joined((lead, realise(cores, slots, dice)))
        text = adapted(text, manner.register)
        if not _said(text, earlier) and (attempt > _TRIES // 2 or not repeats(text, earlier)):
            return text
    while _said(text, earlier):
        text = f"{listed('questions', 'again')[0]} {text[:1].lower()}{text[1:]}"
    return text


def _said(text: str, earlier: tuple[str, ...]) -> bool:
    return any(text in before for before in earlier)


def _level(turn: int, hardness: str) -> str:
    """Return how hard to press: by the turn, one step earlier or later by the manner."""
    step = turn + (hardness == "sharp") - (hardness == "gentle")
    return ("first", "second", "third")[max(0, min(2, step - 1))]


@lru_cache(maxsize=1024)
def _wanting_to_know(aim: str, speaker: str, hearer: str) -> tuple[str, ...]:
    """Return the indirect question in an aim, as one says it to the other person."""
    match = _INDIRECT.search(tidy(aim, limit=240))
    if match is None:
        return ()
    clause = re.split(r" (?:before|so that|in order|without|while|after)\b", match[0])[0]
    clause = in_person(clause, speaker, hearer)
    if not clause or _PRONOUN.search(clause) or len(clause.split()) > 18:
        return ()
    return (clause[:1].lower() + clause[1:],)
