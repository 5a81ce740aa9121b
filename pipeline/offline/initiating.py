"""Write the initiator's questions; they press harder with every turn."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from pipeline.offline.dice import Dice, hash_texts
from pipeline.offline.grammar import Slots, listed, realise
from pipeline.offline.lexicon import words
from pipeline.offline.manner import read_manner
from pipeline.offline.person import in_person
from pipeline.offline.phrases import definite, noun_phrases, tidy
from pipeline.offline.reading import ActorRequest
from pipeline.offline.wording import adapted, contracted, joined, repeats

_TRIES = 24
_ANGLE = "A question you want answered sooner or later"
_INDIRECT = re.compile(r"\b(?:whether|who|what|why|how|when|where|which)\b.*", re.IGNORECASE)
_PRONOUN = re.compile(r"\b(?:he|she|him|his|her|hers|their|they|them|it|its)\b", re.IGNORECASE)


def ask(asked: ActorRequest, dice: Dice) -> str:
    """Return a question of one or two sentences that has not been asked before.

    Raises:
        PromptNotUnderstood: a section the rules need is missing.
    """
    asked.section("Situation")
    speaker, hearer = asked.line("You", "Role"), asked.line("The other person", "Role")
    aim = asked.line("You", "Aim")
    manner = read_manner(asked.sections.get("Way of speaking", ""))
    turn = max(1, sum(who == "INITIATOR" for who, _ in asked.spoken))
    known: Slots = {
        "wh": _wanting_to_know(aim, speaker, hearer),
        "np": _mentioned(asked.last("RESPONDER"), speaker, hearer),
        "thing": _at_issue(next(iter(asked.said_by("INITIATOR")), ""), aim, speaker, hearer),
    }
    earlier = {text for _, text in asked.spoken}
    angle = asked.said_of("To find out", _ANGLE)
    if angle and turn + dice.below(2) > 1 and not repeats(angle, earlier):
        return angle
    dodged = _has_remarked(asked.said_by("INITIATOR"))
    level = _level(turn, manner.hardness)
    contracts = Dice(hash_texts((speaker, aim))).chance(70)
    text = ""
    for attempt in range(_TRIES):
        slots = {name: (dice.pick(fillers),) if fillers else () for name, fillers in known.items()}
        core = listed("questions", "cores", level)
        if manner.press and dice.chance(50):
            core = listed("questions", "styles", manner.press)
        lead = (
            "" if dice.chance(25) else realise(_leads(manner.hardness, level, dodged), slots, dice)
        )
        text = joined((lead, realise(core, slots, dice)))
        text = adapted(text, manner.register, spoken=contracts)
        if text not in earlier and (attempt > _TRIES // 2 or not repeats(text, earlier)):
            return text
    while text in earlier:
        text = f"{listed('questions', 'again')[0]} {text[:1].lower()}{text[1:]}"
    return text


def _level(turn: int, hardness: str) -> str:
    """Return how hard to press: by the turn, one step earlier or later by the manner."""
    step = turn + (hardness == "sharp") - (hardness == "gentle")
    return ("first", "second", "third")[max(0, min(2, step - 1))]


def _leads(hardness: str, level: str, dodged: bool) -> tuple[str, ...]:
    """Return ways into a question; that one was dodged is said once at most, and not at first."""
    leads = listed("questions", "leads", hardness or ("gentle" if level == "first" else "plain"))
    return leads if dodged or level == "first" else leads + listed("questions", "leads", "dodged")


def _has_remarked(questions: Iterable[str]) -> bool:
    """Say whether the initiator has said already that a question was not answered."""
    remarks = listed("questions", "leads", "dodged")
    forms = [form.casefold() for remark in remarks for form in (remark, contracted(remark))]
    return any(form in question.casefold() for question in questions for form in forms)


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


@lru_cache(maxsize=2048)
def _mentioned(answer: str, speaker: str, hearer: str) -> tuple[str, ...]:
    """Return what the other person has just named."""
    roles = f"{speaker} {hearer}".lower().split()
    options = []
    for phrase in noun_phrases(answer):
        parts = phrase.split(" ")
        if parts[0] == "my" and parts[-1] not in words("ours"):
            options.append(f"your {' '.join(parts[1:])}")
        elif parts[0] in ("the", "a", "an") and parts[-1] not in {*roles, *words("ours")}:
            options.append(definite(phrase))
    return tuple(dict.fromkeys(options))[:3]


@lru_cache(maxsize=1024)
def _at_issue(opening: str, aim: str, speaker: str, hearer: str) -> tuple[str, ...]:
    """Return the things that the first question and the aim are about."""
    roles = f"{speaker} {hearer}".lower().split()
    options = []
    for phrase in (*noun_phrases(opening), *noun_phrases(aim)):
        parts = phrase.split(" ")
        if parts[0] in ("the", "this") and parts[-1].lower() not in {*roles, *words("people")}:
            options.append(definite(phrase))
    return tuple(dict.fromkeys(options))
