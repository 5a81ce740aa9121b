"""Realise a tactic by the grammar, where no authored line can be said."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from pipeline.offline.dice import Dice
from pipeline.offline.grammar import Slots, choices, fill, listed, realise
from pipeline.offline.lexicon import words
from pipeline.offline.manner import Manner, read_manner
from pipeline.offline.person import in_person
from pipeline.offline.phrases import content_words, definite, lowered, noun_phrases, tidy
from pipeline.offline.reading import ActorRequest
from pipeline.offline.tactics import Tactic
from pipeline.offline.wording import adapted, joined, repeats, sentences

_TRIES = 24
_LONG = 14
"""Words of a clause that is put into a sentence of the grammar."""
_BELIEVED = "You want it believed that"
_CLAIMED, _UNTRUE = "You have claimed", "Of this your fact makes untrue"


@dataclass(frozen=True, slots=True)
class Scene:
    """What the one who answers has to work with."""

    topics: tuple[str, ...]
    details: tuple[str, ...]
    """Clauses that are true and no secret."""
    covers: tuple[str, ...]
    """Clauses that are to be believed instead of the fact, only where the goal misleads; none that
    speaks of a person as nobody would who knows them (the former partner)."""
    manner: Manner
    said: frozenset[str]
    """Everything said before, draft included, which must not be said again."""


def read_scene(asked: ActorRequest) -> Scene:
    """Gather what the prompt gives the one who answers.

    Raises:
        PromptNotUnderstood: a section the rules need is missing.
    """
    speaker = asked.line("You", "Role")
    hearer = asked.line("The other person", "Role")
    about = asked.line("What only you know", "It concerns")
    fact = asked.section("What only you know").partition("Fact:")[2].strip()
    if not fact:
        asked.line("What only you know", "Fact")
    situation = asked.section("Situation")
    private = content_words(about) | content_words(fact)
    untrue = set(sentences(asked.said_of("Where you stand", _UNTRUE)))
    claimed = sentences(asked.said_of("Where you stand", _CLAIMED))
    held = " ".join(claim for claim in claimed if claim not in untrue)
    return Scene(
        topics=_topics(situation, private, speaker, hearer),
        details=_details(held, frozenset(), speaker, hearer)
        or _details(situation, private, speaker, hearer)
        or listed("asides", "details"),
        covers=tuple(
            cover
            for cover in _clauses(asked.said_of("Where you stand", _BELIEVED), speaker, hearer)
            if not words("people") & set(cover.lower().split())
        ),
        manner=read_manner(asked.sections.get("Way of speaking", "")),
        said=frozenset((*(text for _, text in asked.spoken), asked.draft)),
    )


@lru_cache(maxsize=2048)
def _topics(situation: str, private: frozenset[str], speaker: str, hearer: str) -> tuple[str, ...]:
    """Return things of the situation worth talking about that do not touch the fact."""
    roles = f"{speaker} {hearer}".lower().split()
    options = []
    for phrase in noun_phrases(situation):
        last = phrase.split(" ")[-1].lower()
        if last not in words("agenda") or last in roles or content_words(phrase) & private:
            continue
        if len(phrase.split(" ")) <= 4:
            options.append(definite(phrase))
    distinct = tuple(dict.fromkeys(options))
    return distinct or listed("asides", "topics")


@lru_cache(maxsize=2048)
def _clauses(claims: str, speaker: str, hearer: str) -> tuple[str, ...]:
    """Return claims as the speaker says them, where that is safe; those that are short enough."""
    spoken = (in_person(tidy(claim, limit=160), speaker, hearer) for claim in sentences(claims))
    return tuple(lowered(clause) for clause in spoken if clause and len(clause.split()) <= _LONG)


@lru_cache(maxsize=2048)
def _details(text: str, private: frozenset[str], speaker: str, hearer: str) -> tuple[str, ...]:
    """Return what a text says, where it keeps clear of the fact and does not speak of the two as others."""
    people = content_words(f"{speaker} {hearer}")
    clauses = _clauses(text, speaker, hearer)
    return tuple(c for c in clauses if not content_words(c) & (private | people))


def speak(scene: Scene, tactic: Tactic, dice: Dice) -> str:
    """Realise a tactic in one or two sentences nobody has said before in the conversation."""
    text = ""
    for attempt in range(_TRIES):
        text, core = _realised(scene, tactic, dice)
        repeated = repeats(text, scene.said) or any(core in said.lower() for said in scene.said)
        if text not in scene.said and (attempt > _TRIES // 2 or not repeated):
            return text
    while text in scene.said:  # a very long conversation has used up the others
        text = f"Again, {text[:1].lower()}{text[1:]}"
    return text


def _realised(scene: Scene, tactic: Tactic, dice: Dice) -> tuple[str, str]:
    """Return one realisation, and its core alone in lower case, without a way in."""
    lies = scene.covers or listed("asides", "lies")
    slots: Slots = {"detail": scene.details, "lie": lies, "topic": scene.topics}
    core = realise(choices("cores", tactic.veracity, tactic.act, tactic.mark), slots, dice)
    closers = (
        () if tactic.intention == "Inform" else listed("closers", tactic.intention, tactic.veracity)
    )
    closer = fill(dice.pick(closers), slots, dice) if closers else ""
    register = scene.manner.register
    text = joined((_led(core, dice, scene.manner), closer))
    bare = adapted(core, register).lower().rstrip("?")
    return adapted(text, register), bare


def _led(core: str, dice: Dice, manner: Manner) -> str:
    """Put a way in before the core now and then, in this person's manner."""
    leads = listed("asides", "leads", manner.pace or manner.register or "plain")
    if (
        not leads
        or not dice.chance(40)
        or core.split(maxsplit=1)[0].lower() not in words("plainstarts")
    ):
        return core
    return f"{dice.pick(leads)} {core}"
