"""React to the answer just heard, before the next question: take it up, press, or let it go."""

from __future__ import annotations

from pipeline.offline.dice import Dice, hash_texts
from pipeline.offline.grammar import available, fill, listed
from pipeline.offline.hearing import TOLD, UNANSWERED, claims_heard, frame, hear
from pipeline.offline.manner import read_manner
from pipeline.offline.phrases import lowered
from pipeline.offline.reading import ActorRequest
from pipeline.offline.staging import staged_scene
from pipeline.offline.wording import adapted, joined, repeats, sentences

_REACTED = 85
"""Percent of the answers whose kind is heard that are taken up."""
_PRESSED = {"sharp": 85, "": 60, "gentle": 30}
"""Percent of unanswered questions that are pressed on, by manner, until one was."""
_LONGEST = 40
"""Words of what somebody asks."""
_NAMING = 70
"""Percent of reactions that name what was said, where it can be named."""


def react(asked: ActorRequest, question: str, seed: int) -> str:
    """Return a question after a reaction to the last answer; alone where nobody could tell what that was.

    Only what was said is known here: a lie is taken up like a truth. Who asks for what was told already
    says so. It stays at two sentences.

    Raises:
        PromptNotUnderstood: a section the rules need is missing.
    """
    scene = staged_scene(asked)
    roles = asked.line("The other person", "Role"), asked.line("You", "Role")
    answers = asked.said_by("RESPONDER")[-2:]
    earlier, last = ("", *answers)[-2:] if answers else ("", "")
    heard = hear(last, scene, *roles)
    manner = read_manner(asked.sections.get("Way of speaking", ""))
    said = asked.said_by("INITIATOR")
    dice = Dice(hash_texts((*said, last)), seed, asked.corrections)
    told = scene is not None and claims_heard(asked.said_by("RESPONDER"), scene, *roles)
    again = bool(scene and told and told & scene.claims_in_answer(question))
    if not heard.form or not (again or dice.chance(_REACTED)):
        return question
    if heard.form == TOLD and again:
        way = "again"
    elif heard.form == TOLD:
        after_none = hear(earlier, scene, *roles).form in UNANSWERED
        way = "at_last" if after_none and dice.chance(50) else "plain"
    else:
        way = "press" if dice.chance(_PRESSED[manner.hardness]) else "let_go"
        way = "let_go" if _was_pressed(said) else way
    options = available(listed("reactions", heard.form, way), heard.slots)
    naming = [option for option in options if "{" in option]
    if naming and dice.chance(_NAMING):
        options = naming
    reactions = (joined((fill(option, heard.slots, dice),)) for option in options)
    fresh = [text for text in reactions if not repeats(adapted(text, manner.register), said)]
    texts = [_before(question, adapted(text, manner.register)) for text in fresh]
    short = [text for text in texts if len(text.split()) <= _LONGEST]
    return dice.pick(short) if short else question


def _before(question: str, reaction: str) -> str:
    """Put a reaction before a question; in one sentence with its first where it has two."""
    if len(sentences(question)) == 1:
        return f"{reaction} {question}"
    first = question.split("'", 1)[0]  # "You've" is lowered as "You" is
    inner = lowered(first) + question[len(first) :]
    if inner == question and not question.startswith(("I ", "I'")):
        return question  # it may begin with a name
    return f"{reaction.rstrip('.')}; {inner}"


def _was_pressed(said: tuple[str, ...]) -> bool:
    """Whether the one who asks has said already that a question was not answered."""
    phrases = [
        phrase
        for form in UNANSWERED
        for option in listed("reactions", form, "press")
        for phrase in frame(option)
    ]
    return any(phrase in text.lower() for text in said for phrase in phrases)
