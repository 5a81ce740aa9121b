"""Write the responder's answer: an utterance with a given tactic, and its rationales."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from pipeline.offline.dice import Dice, hash_texts
from pipeline.offline.facts import FactForms, fact_forms
from pipeline.offline.grammar import Slots, available, choices, fill, listed, realise
from pipeline.offline.lexicon import words
from pipeline.offline.manner import Manner, read_manner
from pipeline.offline.person import in_person
from pipeline.offline.phrases import content_words, definite, lowered, noun_phrases, tidy
from pipeline.offline.reading import ActorRequest
from pipeline.offline.tactics import Tactic
from pipeline.offline.wording import adapted, joined, repeats, sentence, sentences

_TRIES = 24
_LONG = 20
_HALF_TRUTH = 0.4
"""Share of what a fact is about that one clause may tell."""
_BELIEVED = "You want it believed that"
_OWN_WAY_IN = (
    "no,",
    "yes,",
    "by the way",
    "all right",
    "regarding",
    "when it",
    "on the",
    "as ",
    "with ",
    "if ",
    "before ",
    "not at all",
    "believe it",
    "well yes",
    "since you ask",
    "that reminds",
    "you have it",
    "thank goodness",
)


@dataclass(frozen=True, slots=True)
class Scene:
    """What the one who answers has to work with."""

    speaker: str
    hearer: str
    forms: FactForms
    topics: tuple[str, ...]
    question: tuple[str, ...]
    echo: tuple[str, ...]
    covers: tuple[str, ...]
    """Clauses that are to be believed instead of the fact; only where the goal misleads."""
    manner: Manner
    contracts: bool
    """Whether this person contracts words where no register is asked for."""
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
    forms = fact_forms(about, fact, speaker, hearer)
    before = asked.said_by("RESPONDER")
    return Scene(
        speaker=tidy(speaker, limit=60),
        hearer=tidy(hearer, limit=60) or "hearer",
        forms=forms,
        topics=_topics(asked.section("Situation"), forms.stems, speaker, hearer),
        question=_picked_up(asked.last("INITIATOR"), speaker, hearer),
        echo=_echo(before[0]) if before else (),
        covers=_clauses(asked.said_of("Where you stand", _BELIEVED), speaker, hearer),
        manner=read_manner(asked.sections.get("Way of speaking", "")),
        contracts=Dice(hash_texts((speaker, about))).chance(70),
        said=frozenset((*(text for _, text in asked.spoken), asked.draft)),
    )


@lru_cache(maxsize=2048)
def _topics(situation: str, stems: frozenset[str], speaker: str, hearer: str) -> tuple[str, ...]:
    """Return things of the situation worth talking about that do not touch the fact."""
    roles = f"{speaker} {hearer}".lower().split()
    options = []
    for phrase in noun_phrases(situation):
        last = phrase.split(" ")[-1].lower()
        if last not in words("agenda") or last in roles or content_words(phrase) & stems:
            continue
        if len(phrase.split(" ")) <= 4:
            options.append(definite(phrase))
    distinct = tuple(dict.fromkeys(options))
    return distinct * 2 + listed("asides", "topics") if distinct else listed("asides", "topics")


@lru_cache(maxsize=2048)
def _clauses(claims: str, speaker: str, hearer: str) -> tuple[str, ...]:
    """Return claims as the speaker says them, where that is safe; those that are short enough."""
    spoken = (in_person(tidy(claim, limit=160), speaker, hearer) for claim in sentences(claims))
    return tuple(lowered(clause) for clause in spoken if clause and len(clause.split()) <= _LONG)


@lru_cache(maxsize=2048)
def _picked_up(question: str, speaker: str, hearer: str) -> tuple[str, ...]:
    """Return things the other person has just mentioned."""
    roles = {*f"{speaker} {hearer}".lower().split(), *words("ours")}
    options = []
    for phrase in noun_phrases(question):
        parts = phrase.split(" ")
        if parts[0] in ("the", "this") and len(parts) <= 4 and parts[-1] not in roles:
            options.append(f"the {' '.join(parts[1:])}")
        elif parts[0] == "my" and len(parts) <= 3:
            options.append(f"your {' '.join(parts[1:])}")
    return tuple(dict.fromkeys(options))[:3]


@lru_cache(maxsize=2048)
def _echo(statement: str) -> tuple[str, ...]:
    """Return the first claim of the opening statement as a clause, where it reads as one."""
    first = statement.split(". ", maxsplit=1)[0].split("? ", maxsplit=1)[0]
    flat = tidy(first, limit=160)
    for word in ("No, ", "Yes, ", "Never, ", "Not once, ", "Well, "):
        flat = flat.removeprefix(word)
    parts = flat.split(" ")
    if not 4 <= len(parts) <= 11 or "," in flat or parts[0].lower() not in words("openings"):
        return ()
    return (lowered(flat),)


def slots_for(scene: Scene, tactic: Tactic, dice: Dice) -> Slots:
    """Return the fillers that this tactic may use."""
    forms = scene.forms
    plain_that = dice.chance(60 if len(forms.about.split()) > 6 else 35)
    other = _other_things(forms)
    about = ("that",) if plain_that or (forms.things and not other) else (forms.about,)
    things = other or forms.things
    return {
        "A": about,
        "part": (_part(forms, things, about, tactic.mark, dice),),
        "np": things,
        "lie": (_lie(scene, about, dice),),
        "topic": scene.topics,
        "echo": scene.echo,
        "q": scene.question,
        "other": (scene.hearer,),
    }


def _other_things(forms: FactForms) -> tuple[str, ...]:
    """Return the things of a fact that its subject does not name, so that neither explains itself."""
    named = set(forms.about.split())
    return tuple(thing for thing in forms.things if thing.split()[-1] not in named)


def _part(
    forms: FactForms, things: Sequence[str], about: Sequence[str], mark: str, dice: Dice
) -> str:
    """Return a clause that is true and leaves the rest out.

    Discretion keeps clauses short, and a half-truth leaves out the weightier half.
    """
    longest = 8 if mark == "t" else 18
    most = len(forms.stems) * _HALF_TRUTH
    clauses = [
        clause
        for clause in forms.clauses
        if len(clause.split()) <= longest and len(content_words(clause)) <= most
    ]
    if clauses and (not things or dice.chance(15 if mark == "t" else 35)):
        return dice.pick(clauses)
    if things:
        named = {"np": (dice.pick(things),), "A": about}
        return fill(dice.pick(listed("asides", "parts")), named, dice)
    return fill(dice.pick(listed("asides", "knows")), {"A": (forms.about,)}, dice)


def _lie(scene: Scene, about: Sequence[str], dice: Dice) -> str:
    """Return a clause that cannot be true: what is to be believed, the fact denied, or its being known."""
    if scene.covers and dice.chance(60):
        return dice.pick(scene.covers)
    if scene.forms.denials and dice.chance(50):
        return dice.pick(scene.forms.denials)
    return fill(dice.pick(listed("asides", "lies")), {"A": about}, dice)


def speak(scene: Scene, tactic: Tactic, dice: Dice) -> str:
    """Realise a tactic in one or two sentences nobody has said before in the conversation."""
    text = ""
    for attempt in range(_TRIES):
        text, core = _realised(scene, tactic, dice)
        if scene.manner.pace == "brisk":
            text, core = min((text, core), _realised(scene, tactic, dice), key=_length)
        repeated = repeats(text, scene.said) or any(core in said.lower() for said in scene.said)
        if text not in scene.said and (attempt > _TRIES // 2 or not repeated):
            return text
    return _reworded(text, scene)


def _length(realised: tuple[str, str]) -> int:
    return len(realised[0])


def _realised(scene: Scene, tactic: Tactic, dice: Dice) -> tuple[str, str]:
    """Return one realisation, and its core alone in lower case, without a way in."""
    slots = slots_for(scene, tactic, dice)
    core = realise(choices("cores", tactic.veracity, tactic.act, tactic.mark), slots, dice)
    closer = realise(choices("closers", tactic.intention, tactic.act, tactic.mark), slots, dice)
    if tactic.intention == "Inform" and tactic.act == "Representatives" and dice.chance(30):
        closer = ""  # a bare statement informs by itself
    register, spoken = scene.manner.register, scene.contracts
    text = joined((_opened(core, slots, dice, tactic, scene.manner), closer))
    bare = adapted(core, register, spoken=spoken).lower().rstrip("?")
    return adapted(text, register, spoken=spoken), bare


def _reworded(text: str, scene: Scene) -> str:
    """Put one more way in before a text, when a very long conversation has used up the others."""
    while text in scene.said:
        text = f"Again, {text[:1].lower()}{text[1:]}"
    return text


def _opened(core: str, slots: Slots, dice: Dice, tactic: Tactic, manner: Manner) -> str:
    """Put a way in before the core, now and then one that takes up the question."""
    if len(core.split()) > _LONG or core.startswith(_OWN_WAY_IN):
        return core
    kind = manner.pace or "plain"
    if tactic.veracity != "Relevance" and dice.chance(35):
        stating = tactic.act in ("Representatives", "Commissives") and dice.chance(40)
        kind = "stating" if stating else "question"
    usable = available(listed("asides", "openers", kind), slots)
    opener = fill(dice.pick(usable), slots, dice) if usable else ""
    return f"{opener} {core}" if opener else core


def rationale(scene: Scene, tactic: Tactic, dimension: str, label: str, dice: Dice) -> str:
    """Say in one sentence how an utterance carries a label."""
    slots = {
        "A": (scene.forms.about,),
        "topic": scene.topics[:1],
        "other": (scene.hearer,),
        "label": (tidy(label),),
    }
    rationales = listed("asides", "rationales", dimension, label)
    return sentence(realise(rationales or listed("asides", "rationales", "other"), slots, dice))
