"""Realise a tactic by the grammar, where no authored line can be said."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from pipeline.offline.authored import BELIEVED, free_to_change, true_details
from pipeline.offline.dice import Dice
from pipeline.offline.grammar import Slots, around_slots, available, choices, fill, listed
from pipeline.offline.hearing import FORMS, REFUSED, TOLD, UNTOLD, claims_heard, hear, unclaimed
from pipeline.offline.hearing import VAGUE as VAGUE_ANSWER
from pipeline.offline.lexicon import words
from pipeline.offline.manner import Manner, read_manner
from pipeline.offline.person import spoken_clauses
from pipeline.offline.phrases import content_words, definite, noun_phrases, tokens
from pipeline.offline.question_form import question_form
from pipeline.offline.reading import ActorRequest
from pipeline.offline.staging import Cast
from pipeline.offline.tactics import AFFECT, Tactic
from pipeline.offline.wording import adapted, joined, repeats
from scenarios.lines.model import StageLine
from scenarios.wording import content_stems

_DRAWS = 20
"""Ways to say a line that are drawn at most, of which one is said."""
_NEAR = 10
"""How far a line may be from the length aimed at; see :func:`_off`."""
_TAKING_UP = 3
"""By how much more of them are drawn where one is looked for that names what the question is about."""
_SHORTEST, _SPREAD = 64, 21
"""Characters of the shortest line that is aimed at, and by how much two draws add to it."""
_WORD = 5
"""Characters of a word with the space after it."""
_BESIDE = 50
"""Percent of lines that inform in two sentences: most others are, and length is to tell no label."""
_ALONE = 50
"""Percent of lines of feeling in one sentence."""
_LED, _LED_ON = 40, 60
"""Percent of lines with a way in, the first and those that go on from an earlier answer."""
_COMPLETE = re.compile(
    r"\beverything\b|\ball (?:along|there is)\b|\bkept nothing\b|\bhid(?:e|den|ing)\b|\bno more to it\b|"
    r"\bnothing left\b|\bleft nothing\b|\bleaving something out\b|\bsecret\b|\bweren't to know\b|\byou don't know\b"
)
"""What claims that nothing was left unsaid."""
_TELLING = re.compile(
    r"\bI(?:'ve| hadn't) told you\b|\bas I have all along\b|\b(?:been|as) open with you\b"
)
"""What claims that something was told."""
_INTRODUCED = re.compile(r".+\{(?:detail|lie|vague)\}")
"""A template with a way of its own into what it tells: "As for that, what I can tell you is that ..."."""
INFORM, CHANGE = "Inform", "Relevance"
CORES, CLOSED, FEELINGS, VAGUE = "cores", "closers", "feelings", "vague"
"""Books of lines, of second sentences, of lines that are all feeling, and of answers too vague to check."""
_WEAKER = {"Convince": ("Inform",), "Motivate": ("Inform", "Convince")}
"""By intention, those of lines that a second sentence gives it to: the first step that holds decides."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What the one who answers has to work with."""

    topics: tuple[str, ...]
    issues: tuple[str, ...]
    """What the standing question is about, as both call it; mostly known where it was written by hand."""
    asks_for: str
    """The form of the standing question."""
    details: tuple[str, ...]
    """Clauses that are true, can be checked and answer a part of the standing question, and bring something
    new; mostly none."""
    lines: tuple[StageLine, ...]
    """Authored lines that tell a part of the truth, and were not said."""
    covers: tuple[str, ...]
    """Clauses that are to be believed instead of the fact, only where the goal misleads; none that
    speaks of a person as nobody would who knows them (the former partner)."""
    manner: Manner
    said: frozenset[str]
    """Everything said before, draft included, which must not be said again."""
    answered: tuple[str, ...] = ()
    """How the speaker's own earlier answers sounded, those of which anybody could tell."""
    claimed: bool = False
    """Whether the speaker has claimed something that was written for the scene."""
    keeps_to: bool = False
    """Whether the speaker has lied already about what the standing question asks for."""
    takes_up: bool = False
    """Whether a line is to name what the question is about: a critic found that the draft named nothing."""

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
            "lie": lies
            or self.tenable(listed("asides", "lies", TOLD if self.has_told else UNTOLD)),
            "topic": self.topics,
            "issue": self.issues,
            "vague": self._vague(),
        }

    @property
    def has_told(self) -> bool:
        """Whether something was told before, be it true or not."""
        return self.claimed or TOLD in self.answered

    def tenable(self, lines: Sequence[str]) -> list[str]:
        """Return the lines that can be said now.

        Who left something unanswered has not told everything, and who told nothing has told nothing.
        """
        if set(self.answered) & {VAGUE_ANSWER, REFUSED}:
            lines = [line for line in lines if not _COMPLETE.search(line)]
        return [line for line in lines if self.has_told or not _TELLING.search(line)]

    def _vague(self) -> list[str]:
        clauses = listed(VAGUE, self.asks_for)
        plain = [clause for clause in clauses if "{issue}" not in clause]
        named = [clause for clause in clauses if "{issue}" in clause]
        return plain + [c.replace("{issue}", issue) for c in named for issue in self.issues]


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
    known = content_stems(" ".join(said))
    question = asked.last("INITIATOR")
    details = cast.details(question) if cast else ()
    staged = cast.scene if cast else None
    claimed = claims_heard(asked.said_by("RESPONDER"), staged, speaker, hearer) if staged else set()
    heard = (hear(text, staged, speaker, hearer).form for text in asked.said_by("RESPONDER"))
    topics = (cast.scene.lines.topics if cast else ()) or _topics(
        asked.section("Situation"), private, speaker, hearer
    )
    return Scene(
        topics=tuple(topic for topic in topics if topic.lower() not in spoken) or topics,
        issues=cast.at_issue(question) if cast else (),
        asks_for=question_form(question),
        details=tuple(detail for detail in details if not content_stems(detail) <= known),
        lines=true_details(asked, cast) if cast else (),
        covers=_covers(asked, cast, spoken),
        manner=read_manner(asked.sections.get("Way of speaking", "")),
        said=said,
        answered=tuple(filter(None, heard)),
        claimed=bool(claimed),
        keeps_to=cast is not None and bool(cast.claims_asked(question) & claimed),
        takes_up=free_to_change(asked),
    )


def _covers(asked: ActorRequest, cast: Cast | None, spoken: str) -> tuple[str, ...]:
    """Return what is to be believed as the speaker says it, of what was not claimed before.

    What was asked about goes first; where all of that was claimed, nothing else is.

    Args:
        asked: the prompt, read.
        cast: the lines for its fact and goal, where some were written.
        spoken: everything said before, in lower case.
    """
    speaker = asked.line("You", "Role")
    hearer = asked.line("The other person", "Role")

    def said_as(claims: str) -> tuple[str, ...]:
        return (cast.in_own_words(claims) if cast else ()) or tuple(
            clause
            for clause in spoken_clauses(claims, speaker, hearer)
            if not words("people") & set(clause.lower().split())
        )

    believed = asked.said_of("Where you stand", BELIEVED)
    about = ""
    if cast:
        told = asked.said_by("RESPONDER"), cast.scene, speaker, hearer
        asked_about = cast.asked_about(believed, asked.last("INITIATOR"))
        about, believed = unclaimed(asked_about, *told).strip(), unclaimed(believed, *told)
        if asked_about and not about:
            return ()
    covers = said_as(about) or said_as(believed)
    return tuple(cover for cover in covers if cover.lower() not in spoken)


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


def phrasings(tactic: Tactic, scene: Scene) -> list[tuple[str, tuple[str, ...]]]:
    """Return the templates that can carry a tactic, and with each the second sentences it needs.

    One that has the intention by itself needs none; a feeling goes with one more, where there is any.
    """
    slots = scene.slots(tactic.intention)
    closers = second_sentences(tactic, scene)
    if tactic.intention == AFFECT:
        felt = scene.tenable(choices(FEELINGS, tactic.veracity, tactic.act, tactic.mark))
        return [(template, closers) for template in available(felt, slots)]
    weaker = _WEAKER.get(tactic.intention, ()) if closers else ()
    return [
        (template, closers if why in weaker else ())
        for why in (tactic.intention, *weaker)
        for template in available(
            choices(CORES, tactic.veracity, tactic.act, tactic.mark, why), slots
        )
    ]


def second_sentences(tactic: Tactic, scene: Scene) -> tuple[str, ...]:
    """Return the templates of second sentences that have an intention and go on from such an act."""
    cell = (CLOSED, tactic.intention, tactic.veracity)
    if tactic.act in listed(*cell, "alone"):
        return ()
    closers = listed(*cell, tactic.act) or listed(*cell, "any")
    return tuple(available(closers, scene.slots(tactic.intention)))


def speak(scene: Scene, tactic: Tactic, dice: Dice) -> str:
    """Realise a tactic in one or two sentences nobody has said before in the conversation.

    How long they are is drawn whatever they are to do: the first way to say it that comes near that length
    is said, so that length tells little of a label. The very nearest would be the same few phrases again
    and again, whose lengths tell what they do.
    """
    length = _SHORTEST + dice.below(_SPREAD) + dice.below(_SPREAD)
    fresh: list[str] = []
    unsaid: list[str] = []
    for _ in range(_DRAWS * (_TAKING_UP if scene.takes_up else 1)):
        text, parts = _realised(scene, tactic, dice)
        if text in scene.said or _named_twice(scene.issues, text):
            continue
        unsaid.append(text)
        if not _repeated(text, parts, scene.said):
            fresh.append(text)
            named = not scene.takes_up or names_any(scene.issues, text)
            if named and _off(text, length) <= _NEAR:
                return text
    options = fresh or unsaid
    if scene.takes_up:
        options = [text for text in options if names_any(scene.issues, text)] or options
    if options:
        return min(options, key=lambda text: _off(text, length))
    while text in scene.said:  # a very long conversation has used up the others
        text = f"Again, {text[:1].lower()}{text[1:]}"
    return text


def _off(text: str, length: int) -> int:
    """Return how far a text is from a length in characters, and its words from being as long as most are."""
    return abs(len(text) - length) + 2 * abs(_WORD * len(text.split()) - len(text))


def names_any(issues: Sequence[str], text: str) -> bool:
    """Whether a text names one of the things that a question is about."""
    return any(issue.lower() in text.lower() for issue in issues)


def _named_twice(issues: Sequence[str], text: str) -> bool:
    """Whether a line names a thing again that it is about: "As for those pictures, the pictures ..."."""
    spoken = tokens(text.lower())
    return any(spoken.count(issue.lower().split()[-1]) > 1 for issue in issues)


def _repeated(text: str, parts: Sequence[str], said: frozenset[str]) -> bool:
    """Whether a sentence of a line was said before, or what its template puts around its slots."""
    return repeats(text, said) or any(part in before.lower() for before in said for part in parts)


def speak_on(line: str, scene: Scene, tactic: Tactic, dice: Dice) -> str:
    """Say an authored line and a second sentence, which gives it the intention of the tactic."""
    closer = fill(dice.pick(second_sentences(tactic, scene)), scene.slots(tactic.intention), dice)
    return f"{line} {adapted(joined((closer,)), scene.manner.register)}"


def _realised(scene: Scene, tactic: Tactic, dice: Dice) -> tuple[str, tuple[str, ...]]:
    """Return one realisation, and in lower case its core without a way in and what stands around slots.

    What goes with a change of subject comes before it: there the last sentence is the head sentence. No
    word that carries meaning stands in both sentences, where there is another second one.
    """
    template, closers = dice.pick(phrasings(tactic, scene) or [("", ())])
    slots = scene.slots(tactic.intention)
    core = fill(template, slots, dice)
    if tactic.intention == AFFECT and dice.chance(_ALONE):
        closers = ()
    if tactic.intention == INFORM and dice.chance(_BESIDE):
        closers = second_sentences(tactic, scene)
    said = content_stems(core)
    closers = tuple(one for one in closers if not said & content_stems(one)) or closers
    closer = fill(dice.pick(closers), slots, dice) if closers else ""
    register = scene.manner.register
    if tactic.veracity == CHANGE and closer:
        text = joined((closer, core))
    else:
        form = "" if tactic.intention == AFFECT else FORMS[tactic.veracity]
        led = core if _INTRODUCED.match(template) else _led(core, dice, scene, form)
        text = joined((led, closer))
    parts = (core, *around_slots(template))
    told = tuple(adapted(part, register).lower().rstrip("?") for part in parts)
    return adapted(text, register), told


def _led(core: str, dice: Dice, scene: Scene, form: str) -> str:
    """Put a way in before the core now and then: on from the answer before, or in this person's manner."""
    manner = scene.manner
    before = scene.answered[-1] if scene.answered else ""
    leads = listed("asides", "onwards", before, form)
    share = _LED_ON if leads else _LED
    if not leads or dice.chance(30):
        leads = listed("asides", "leads", manner.pace or manner.register or "plain")
    begins = [word.lower().rstrip(",") for word in core.split(maxsplit=3)[:3]]
    if not leads or not dice.chance(share) or begins[0] not in words("plainstarts"):
        return core
    lead = dice.pick(leads)
    return core if set(begins) & set(lead.rstrip(",").split()) - {"i"} else f"{lead} {core}"
