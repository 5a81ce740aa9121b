"""Realise a tactic by the grammar, where no authored line can be said."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from pipeline.offline.authored import true_details
from pipeline.offline.dice import Dice
from pipeline.offline.grammar import Slots, available, choices, fill, listed
from pipeline.offline.lexicon import words
from pipeline.offline.manner import Manner, read_manner
from pipeline.offline.person import in_person
from pipeline.offline.phrases import content_words, definite, lowered, noun_phrases, tidy
from pipeline.offline.reading import ActorRequest
from pipeline.offline.staging import Cast
from pipeline.offline.tactics import Tactic
from pipeline.offline.wording import adapted, joined, repeats, sentences
from scenarios.lines.model import StageLine

_DRAWS = 12
"""Ways to say a line that are drawn, of which one is said."""
_SHORTEST, _SPREAD = 62, 33
"""Characters of the shortest line that is aimed at, and by how much two draws add to it."""
_BESIDE = 90
"""Percent of lines that inform in two sentences: most others do, and length is to tell no label."""
_ALONE = 15
"""Percent of lines of feeling in one sentence."""
_LONG = 14
"""Words of a clause that is put into a sentence of the grammar."""
INFORM, AFFECT, CHANGE = "Inform", "Affect", "Relevance"
CORES, CLOSED, FEELINGS = "cores", "closers", "feelings"
"""Books of lines, of second sentences, and of lines that are all feeling."""
_WEAKER = {"Convince": ("Inform",), "Motivate": ("Inform", "Convince")}
"""By intention, those of lines that a second sentence gives it to: the first step that holds decides."""
_BELIEVED = "You want it believed that"


@dataclass(frozen=True, slots=True)
class Scene:
    """What the one who answers has to work with."""

    topics: tuple[str, ...]
    details: tuple[str, ...]
    """Clauses that are true, can be checked and answer a part of the standing question; mostly none."""
    lines: tuple[StageLine, ...]
    """Authored lines that tell a part of the truth, and were not said."""
    covers: tuple[str, ...]
    """Clauses that are to be believed instead of the fact, only where the goal misleads; none that
    speaks of a person as nobody would who knows them (the former partner)."""
    manner: Manner
    said: frozenset[str]
    """Everything said before, draft included, which must not be said again."""

    @property
    def detailed(self) -> bool:
        """Whether there is a true detail to tell."""
        return bool(self.details or self.lines)

    def slots(self, intention: str) -> Slots:
        """Return what the slots of the phrase books can be filled with.

        A lie that strengthens works against doubt, and so does not only inform.
        """
        plain = intention == INFORM
        lies = [c for c in self.covers if not (plain and words("strong") & set(c.lower().split()))]
        return {
            "detail": self.details,
            "lie": lies or listed("asides", "lies"),
            "topic": self.topics,
        }


def read_scene(asked: ActorRequest, cast: Cast | None) -> Scene:
    """Gather what the prompt gives the one who answers.

    Args:
        asked: the prompt, read.
        cast: the lines for its fact and goal, where some were written.

    Raises:
        PromptNotUnderstood: a section the rules need is missing.
    """
    speaker = asked.line("You", "Role")
    hearer = asked.line("The other person", "Role")
    about = asked.line("What only you know", "It concerns")
    fact = asked.section("What only you know").partition("Fact:")[2].strip()
    if not fact:
        asked.line("What only you know", "Fact")
    private = content_words(about) | content_words(fact)
    said = frozenset((*(text for _, text in asked.spoken), asked.draft))
    spoken = " ".join(said).lower()
    details = cast.details(asked.last("INITIATOR")) if cast else ()
    return Scene(
        topics=(cast.scene.lines.topics if cast else ())
        or _topics(asked.section("Situation"), private, speaker, hearer),
        details=tuple(detail for detail in details if detail.lower() not in spoken),
        lines=true_details(asked, cast) if cast else (),
        covers=tuple(
            cover
            for cover in _clauses(asked.said_of("Where you stand", _BELIEVED), speaker, hearer)
            if not words("people") & set(cover.lower().split())
        ),
        manner=read_manner(asked.sections.get("Way of speaking", "")),
        said=said,
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


def phrasings(tactic: Tactic, scene: Scene) -> list[tuple[str, tuple[str, ...]]]:
    """Return the templates that can carry a tactic, and with each the second sentences it needs.

    One that has the intention by itself needs none; a feeling goes with one more, where there is any.
    """
    slots = scene.slots(tactic.intention)
    closers = listed(CLOSED, tactic.intention, tactic.veracity)
    if tactic.intention == AFFECT:
        felt = choices(FEELINGS, tactic.veracity, tactic.act, tactic.mark)
        return [(template, closers) for template in available(felt, slots)]
    weaker = _WEAKER.get(tactic.intention, ()) if closers else ()
    return [
        (template, closers if why in weaker else ())
        for why in (tactic.intention, *weaker)
        for template in available(
            choices(CORES, tactic.veracity, tactic.act, tactic.mark, why), slots
        )
    ]


def speak(scene: Scene, tactic: Tactic, dice: Dice) -> str:
    """Realise a tactic in one or two sentences nobody has said before in the conversation.

    How long they are is drawn whatever they are to do: of some ways to say it the nearest to that length
    is said, so that length tells little of a label.
    """
    length = _SHORTEST + dice.below(_SPREAD) + dice.below(_SPREAD)
    realised = [_realised(scene, tactic, dice) for _ in range(_DRAWS)]
    unsaid = [(text, core) for text, core in realised if text not in scene.said]
    fresh = [text for text, core in unsaid if not _repeated(text, core, scene.said)]
    options = fresh or [text for text, _ in unsaid]
    if options:
        return min(options, key=lambda text: abs(len(text) - length))
    text = realised[0][0]
    while text in scene.said:  # a very long conversation has used up the others
        text = f"Again, {text[:1].lower()}{text[1:]}"
    return text


def _repeated(text: str, core: str, said: frozenset[str]) -> bool:
    return repeats(text, said) or any(core in before.lower() for before in said)


def speak_on(line: str, scene: Scene, tactic: Tactic, dice: Dice) -> str:
    """Say an authored line and a second sentence, which gives it the intention of the tactic."""
    closer = dice.pick(listed(CLOSED, tactic.intention, tactic.veracity))
    return f"{line} {adapted(joined((closer,)), scene.manner.register)}"


def _realised(scene: Scene, tactic: Tactic, dice: Dice) -> tuple[str, str]:
    """Return one realisation, and its core alone in lower case, without a way in.

    What goes with a change of subject comes before it: there the last sentence is the head sentence.
    """
    template, closers = dice.pick(phrasings(tactic, scene) or [("", ())])
    core = fill(template, scene.slots(tactic.intention), dice)
    if tactic.intention == AFFECT and dice.chance(_ALONE):
        closers = ()
    if tactic.intention == INFORM and dice.chance(_BESIDE):
        closers = listed(CLOSED, INFORM, tactic.veracity)
    closer = dice.pick(closers) if closers else ""
    register = scene.manner.register
    parts = (_led(core, dice, scene.manner), closer)
    text = joined(parts[::-1] if tactic.veracity == CHANGE else parts)
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
