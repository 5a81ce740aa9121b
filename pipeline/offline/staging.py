"""Find the lines that were written for a scene, by the texts that a prompt shows of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Set
from dataclasses import dataclass
from functools import cache

from pipeline.offline.question_form import question_form
from pipeline.offline.reading import ActorRequest
from scenarios.catalogue import Catalogue, CatalogueEntry
from scenarios.lines.library import spoken_flow_lines, spoken_stage_lines
from scenarios.lines.model import (
    ANGLE,
    ANY_FACT,
    ANY_QUESTION,
    HARD_QUESTION,
    PRESSED,
    FlowLines,
    StageLine,
    StageLines,
)
from scenarios.nested_texts import spaced
from scenarios.pack import FAMILIES

_EXACT = ("who", "when", "where", "amount")
"""Forms of questions that ask for one thing by name or number."""


@dataclass(frozen=True, slots=True)
class StagedScene:
    """The authored lines of one scenario, and the texts by which a prompt is recognised."""

    lines: StageLines
    facts: Mapping[str, str]
    """Ids of facts by their text."""
    angles: Mapping[str, str]
    """Questions that put a fact in play, by the fact's id."""
    hard_questions: Set[str]
    claims: Mapping[str, str]
    """Texts of claims by id."""
    made_false: Mapping[str, Set[str]]
    """Ids of the claims that a fact makes false, by the fact's id."""
    covers: Mapping[str, Set[str]]
    """Ids of the claims that are to be believed instead of a fact, by the fact's id."""

    def claims_in_answer(self, question: str) -> Set[str]:
        """Return the ids of what somebody or other claims in answer to a question that tells what it asks.

        That is one that puts a fact in play, or one that asks the hard question once more.
        """
        lines = self.lines.responder
        if self.asks_again(question):
            return {c for line in lines if line.answers == HARD_QUESTION for c in line.claims}
        facts = {fact for fact, angle in self.angles.items() if says(question, angle)}
        written = [line for line in lines if line.answers == ANGLE and line.fact in facts]
        return {claim for line in written for claim in line.claims}

    def asks_again(self, question: str) -> bool:
        """Whether a question asks the hard one once more, in other words."""
        return any(line.again and says(question, line.text) for line in self.lines.initiator)


@cache
def _entries() -> Mapping[str, CatalogueEntry]:
    """Return the shipped scenarios by their background, as prompts show it under fictional names.

    With real names the background reads differently: nobody who exists says an authored line.
    """
    entries = Catalogue.load([FAMILIES], environment={}).entries.values()
    return {spaced(entry.scenario.background): entry for entry in entries}


@cache
def _staged(background: str) -> StagedScene | None:
    entry = _entries()[background]
    lines = spoken_stage_lines(entry.template)
    if lines is None:
        return None
    scenario = entry.scenario
    shared = scenario.opening.shared
    return StagedScene(
        lines=lines,
        facts={spaced(fact.text): fact.id for fact in scenario.facts},
        angles={fact.id: fact.angle for fact in scenario.facts if fact.angle},
        hard_questions=frozenset(shared.hard_question if shared else ()),
        claims={claim.id: claim.text for claim in scenario.claims},
        made_false={fact.id: frozenset(fact.makes_false) for fact in scenario.facts},
        covers={fact.id: frozenset(c.claim for c in fact.cover) for fact in scenario.facts},
    )


def staged_scene(asked: ActorRequest) -> StagedScene | None:
    """Return the scene that a prompt is about; None where no lines were written for it.

    Raises:
        PromptNotUnderstood: the prompt shows no situation.
    """
    background = spaced(asked.section("Situation"))
    return _staged(background) if background in _entries() else None


def flow_lines_of(asked: ActorRequest) -> FlowLines | None:
    """Return what was written for the scenario with a flow that a prompt is about, if anything was.

    Raises:
        PromptNotUnderstood: the prompt shows no situation.
    """
    entry = _entries().get(spaced(asked.section("Situation")))
    return None if entry is None else spoken_flow_lines(entry.template)


@dataclass(frozen=True, slots=True)
class Cast:
    """The authored lines for one fact and goal."""

    scene: StagedScene
    fact: str
    goal: str

    def answers(self, question: str) -> tuple[tuple[StageLine, ...], tuple[StageLine, ...]]:
        """Return the lines that answer a question: those of the fact, and those for any fact.

        Both are empty where nothing was written for this question. What leaves any question leaves
        this one, too, and comes last. No line for any question is vague about a person, a time, a place
        or a number: that "it goes up and down" answers no "who".
        """
        kinds = self._kinds(question)
        lines = [line for line in self.scene.lines.responder if line.is_for(self.goal)]
        fitting = [line for kind in kinds for line in lines if line.answers == kind]
        if kinds and PRESSED not in kinds:
            fitting += [line for line in lines if line.leaves_any_question]
        if question_form(question) in _EXACT:
            fitting = [line for line in fitting if not line.is_vague_anywhere]
        return (
            tuple(line for line in fitting if line.fact == self.fact),
            tuple(line for line in fitting if line.fact == ANY_FACT),
        )

    def first_lines(self, question: str) -> tuple[StageLine, ...]:
        """Return for each fact the line that was written first for this kind of question."""
        kinds = self._kinds(question)
        firsts: dict[str, StageLine] = {}
        for line in self.scene.lines.responder:
            if line.answers in kinds and line.is_for(self.goal) and line.fact != ANY_FACT:
                firsts.setdefault(line.fact, line)
        return tuple(firsts.values())

    def needs_no_fact(self, line: StageLine) -> bool:
        """Whether a line answers the hard question, which can be answered in full without its fact."""
        return line.answers == HARD_QUESTION and line.fact in self.scene.lines.needless

    def needs_the_fact(self, question: str) -> bool:
        """Whether a full answer to a question needs the fact, as far as was written of the hard one."""
        return not (self.asks_outright(question) and self.fact in self.scene.lines.needless)

    def _kinds(self, question: str) -> tuple[str, ...]:
        if any(says(question, hard) for hard in self.scene.hard_questions):
            return (HARD_QUESTION,)
        if (angle := self.scene.angles.get(self.fact)) and says(question, angle):
            return (ANGLE, ANY_QUESTION)
        own = [line.id for line in self.scene.lines.initiator if says(question, line.text)]
        return (*own, PRESSED, ANY_QUESTION) if own else ()

    def details(self, question: str) -> tuple[str, ...]:
        """Return the clauses that answer a part of a question truly; none where none were written."""
        kinds = self._kinds(question)
        return tuple(
            detail.text
            for detail in self.scene.lines.details
            if self.fact in detail.facts or not detail.facts
            if self.goal in detail.goal or not detail.goal
            if set(kinds) & set(detail.answers)
        )

    def at_issue(self, question: str) -> tuple[str, ...]:
        """Return what a question is about, as both call it; nothing of a fact's own or an unknown one."""
        kinds = self._kinds(question)
        return self.scene.lines.at_issue if kinds and ANGLE not in kinds else ()

    def in_own_words(self, claims: str) -> tuple[str, ...]:
        """Return what is to be believed as it was written for the speaker, of claims that a prompt shows."""
        written = self.scene.lines.in_own_words
        return tuple(said for claim, said in written.items() if self.scene.claims[claim] in claims)

    def asks_outright(self, question: str) -> bool:
        """Whether a question is the hard one, or asks it once more."""
        return HARD_QUESTION in self._kinds(question) or self.scene.asks_again(question)

    @property
    def asked_outright(self) -> Set[str]:
        """Ids of the false claims that the hard question asks about.

        What lines of several facts say in answer to it is what was asked. What those of one fact say
        tells another thing: "Did he win clean?" "The team has given the federation no money."
        """
        made = {
            (claim, line.fact)
            for line in self.scene.lines.responder
            if line.answers == HARD_QUESTION and line.is_for(self.goal)
            for claim in line.claims
        }
        facts = Counter(claim for claim, _ in made)
        return {id_ for id_ in self.scene.made_false.get(self.fact, ()) if facts[id_] > 1}

    def asked_about(self, claims: str, question: str) -> str:
        """Return, of claims that a prompt shows, those that lines written for a question make.

        The hard question is answered by what it asks about, whether a prompt shows that or not.
        """
        outright = self.asked_outright if self.asks_outright(question) else frozenset()
        if outright:
            return " ".join(text for id_, text in self.scene.claims.items() if id_ in outright)
        kinds = self._kinds(question)
        made = {
            claim
            for line in self.scene.lines.responder
            if line.answers in kinds and line.is_for(self.goal)
            if line.fact in (self.fact, ANY_FACT)
            for claim in line.claims
        }
        return " ".join(
            text for id_, text in self.scene.claims.items() if id_ in made and text in claims
        )

    def claims_asked(self, question: str) -> Set[str]:
        """Return the ids of the false claims that somebody might answer a question with.

        Where the lines for a fact's own question make none, they are those that cover the fact.
        """
        false = self.scene.made_false.get(self.fact, frozenset())
        own = ANGLE in self._kinds(question)
        covers = self.scene.covers.get(self.fact, frozenset()) if own else frozenset()
        return self.scene.claims_in_answer(question) & false or covers & false

    def falsehood(self, line: StageLine) -> str:
        """Return what a line claims that the fact makes false; nothing where it lies about nothing."""
        false = self.scene.made_false.get(self.fact, frozenset())
        return next((self.scene.claims[claim] for claim in line.claims if claim in false), "")

    def line_of(self, text: str) -> StageLine | None:
        """Return the line that a text says, perhaps after a way in; None where it says none."""
        spoken = (
            line
            for line in self.scene.lines.responder
            if line.is_for(self.goal) and line.fact in (self.fact, ANY_FACT)
        )
        return next((line for line in spoken if says(text, line.text)), None)


def says(text: str, line: str) -> bool:
    """Whether a text is an authored line, perhaps with a way in or a reaction before it."""
    return text == line or text.endswith((f" {line[:1].lower()}{line[1:]}", f" {line}"))


def cast_of(asked: ActorRequest, goal: str) -> Cast | None:
    """Return the lines for the fact and goal of a prompt; None where none were written.

    Raises:
        PromptNotUnderstood: the prompt shows no situation or no fact.
    """
    scene = staged_scene(asked)
    if scene is None:
        return None
    fact = scene.facts.get(spaced(asked.section("What only you know").partition("Fact:")[2]))
    return None if fact is None else Cast(scene, fact, goal)
