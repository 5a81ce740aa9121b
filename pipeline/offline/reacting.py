"""React to the answer just heard, before the next question: take it up, press, or let it go."""

from __future__ import annotations

from pipeline.offline.dice import Dice, hash_texts
from pipeline.offline.grammar import available, fill, listed
from pipeline.offline.hearing import TOLD, UNANSWERED, claims_heard, frame, hear
from pipeline.offline.manner import read_manner
from pipeline.offline.reading import ActorRequest
from pipeline.offline.staging import staged_scene
from pipeline.offline.wording import adapted, joined, repeats, sentences

_REACTED = {TOLD: 65, **dict.fromkeys(UNANSWERED, 85)}
"""Percent of the answers that are taken up, by how they sound."""
_PRESSED = {"sharp": 85, "": 60, "gentle": 30}
"""Percent of unanswered questions that are pressed on, by manner, until one was."""
_LONGEST = 40
"""Words of what somebody asks."""
_NAMING = 50
"""Percent of reactions that name what was said, where it can be named."""
_REPEATED = 10
"""Words of the longest clause that is said back."""


def react(asked: ActorRequest, question: str, seed: int) -> str:
    """Return a question after a reaction to the last answer; alone where nobody could tell what that was.

    Only what was said is known here: a lie is taken up like a truth. Who asks for what was told already
    says so. It stays at two sentences, and a question of two has its own way in.

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
    if not heard.form or len(sentences(question)) > 1:
        return question
    if not again and not dice.chance(_REACTED[heard.form]):
        return question
    if heard.form == TOLD and again:
        way = "again"
    elif heard.form == TOLD:
        after_none = hear(earlier, scene, *roles).form in UNANSWERED
        way = "at_last" if after_none and dice.chance(50) else "plain"
    else:
        way = "press" if dice.chance(_PRESSED[manner.hardness]) else "let_go"
        way = "let_go" if _was_pressed(said) else way
    slots = {name: said for name, said in heard.slots.items() if _is_short(said)}
    options = available(listed("reactions", heard.form, way), slots)
    naming = [option for option in options if "{" in option]
    if naming and dice.chance(_NAMING):
        options = naming
    # A question that was written keeps its short forms in a formal manner, too.
    register = manner.register if adapted(question, "formal") == question else ""
    reactions = (adapted(joined((fill(o, slots, dice),)), register) for o in options)
    fresh = [one for one in reactions if not repeats(one, said) and not _begins_as(one, question)]
    texts = [f"{reaction} {question}" for reaction in fresh]
    short = [text for text in texts if len(text.split()) <= _LONGEST]
    return dice.pick(short) if short else question


def _is_short(said: tuple[str, ...]) -> bool:
    return all(len(text.split()) <= _REPEATED for text in said)


def _begins_as(reaction: str, question: str) -> bool:
    """Whether both begin with one word: "Okay. Okay, that one's in my size."."""
    first, other = (text.split(maxsplit=1)[0].rstrip(",.").lower() for text in (reaction, question))
    return first == other


def _was_pressed(said: tuple[str, ...]) -> bool:
    """Whether the one who asks has said already that a question was not answered."""
    phrases = [
        phrase
        for form in UNANSWERED
        for option in listed("reactions", form, "press")
        for phrase in frame(option)
    ]
    return any(phrase in text.lower() for text in said for phrase in phrases)
