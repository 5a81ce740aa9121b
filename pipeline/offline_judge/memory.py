"""The lines that ship, which the offline judge knows by heart, with what they were written for.

Of stage lines it knows labels and claims, of the fixed lines of an opening the claims alone.

Whoever says a line to another question, or with another fact, gets no remembered veracity: what
the line claims is held against what the prompt calls false.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from scenarios.catalogue import Catalogue
from scenarios.lines.library import scenarios_with, spoken_stage_lines
from scenarios.lines.model import (
    ANGLE,
    ANY_FACT,
    ANY_QUESTION,
    HARD_QUESTION,
    StageLine,
    StageLines,
)
from scenarios.spec import Scenario
from scenarios.wording import words

Words = tuple[str, ...]
ENDING = 3
"""Words by which a line is looked up; no stage line has fewer."""
SPOKEN = 2**15
"""Texts whose words are kept: those that ship, and the latest that were read."""
LEAD = 5
"""Most words that may come before a line."""


@dataclass(frozen=True, slots=True, eq=False)
class Remembered:
    """A stage line as it is said in its scenario, names filled in."""

    scenario: str
    goal: str
    labels: Mapping[str, str]
    text: str
    facts: frozenset[Words]
    """The facts it was written for, in words."""
    questions: tuple[str, ...]
    """The questions it was written for."""
    claims: frozenset[Words]
    """What it claims, in words."""
    fact: str
    """One of the facts, as it is written, and what that makes false."""
    false_claims: tuple[str, ...]

    def fits_fact(self, fact: str) -> bool:
        """Whether it was written for this fact."""
        return spoken(fact) in self.facts

    def answers(self, question: str) -> bool:
        """Whether it was written for this question, which may stand among other words."""
        said = spoken(question)
        return any(spoken(asked) == said[-len(spoken(asked)) :] for asked in self.questions)


def recalled(text: str, situation: str) -> Remembered | None:
    """Return the stage line that a text says in this scene; None where it says none.

    A few words may lead into the line.
    """
    said, scene = spoken(text), spoken(situation)
    for background, line in _by_ending().get(said[-ENDING:], ()):
        own = spoken(line.text)
        lead = len(said) - len(own)
        if 0 <= lead <= LEAD and said[lead:] == own and scene[: len(background)] == background:
            return line
    return None


def belongs_elsewhere(text: str, situation: str) -> bool:
    """Whether a text is a stage line, and of other scenes alone."""
    said = spoken(text)
    known = any(
        said[-len(own) :] == own and len(said) <= len(own) + LEAD
        for _, line in _by_ending().get(said[-ENDING:], ())
        if (own := spoken(line.text))
    )
    return known and recalled(text, situation) is None


def told_detail(text: str, situation: str) -> str:
    """Return a true detail, written for this scene, that a text tells; nothing where it tells none."""
    said, scene = f" {' '.join(spoken(text))} ", spoken(situation)
    for start, details in _details():
        if scene[: len(start)] == start:
            return next((one for one in details if f" {' '.join(spoken(one))} " in said), "")
    return ""


def is_public_answer(text: str, situation: str) -> bool:
    """Whether a text is a fixed answer of this scene, which is true whatever the fact is."""
    scene = spoken(situation)
    return any(scene[: len(start)] == start for start in _public_answers().get(spoken(text), ()))


def opening_claims(text: str, situation: str) -> frozenset[Words]:
    """Return what a fixed statement of this scene claims, in words; nothing for any other text."""
    scene = spoken(situation)
    found = _statements().get(spoken(text), ())
    return next((claims for start, claims in found if scene[: len(start)] == start), frozenset())


def claims_ruled_out(fact: str) -> tuple[str, ...]:
    """Return what a fact of the library makes false; nothing for any other text."""
    return _ruled_out().get(spoken(fact), ())


@cache
def _ruled_out() -> Mapping[Words, tuple[str, ...]]:
    found: dict[Words, tuple[str, ...]] = {}
    for scenario in Catalogue.load(environment={}).scenarios.values():
        texts = {claim.id: claim.text for claim in scenario.claims}
        for fact in scenario.facts:
            found[spoken(fact.text)] = tuple(texts[name] for name in fact.makes_false)
    return found


@cache
def _public_answers() -> Mapping[Words, list[Words]]:
    """Return by its words where each answer of a shared opening is said."""
    found: dict[Words, list[Words]] = {}
    for scenario in Catalogue.load(environment={}).scenarios.values():
        shared = scenario.opening.shared
        for exchange in shared.exchanges if shared else ():
            found.setdefault(spoken(exchange.answer), []).append(spoken(scenario.background))
    return found


@cache
def _statements() -> Mapping[Words, list[tuple[Words, frozenset[Words]]]]:
    """Return by its words where each statement of an opening is made, and what it claims."""
    found: dict[Words, list[tuple[Words, frozenset[Words]]]] = {}
    for scenario in Catalogue.load(environment={}).scenarios.values():
        texts = {claim.id: spoken(claim.text) for claim in scenario.claims}
        start = spoken(scenario.background)
        for _, statement in scenario.opening.statements:
            claims = frozenset(texts[name] for name in statement.claims)
            found.setdefault(spoken(statement.text), []).append((start, claims))
    return found


@lru_cache(maxsize=SPOKEN)
def spoken(text: str) -> Words:
    """Return the words of a text in lower case, by which two texts count as the same."""
    return words(text)


@cache
def remembered() -> tuple[tuple[Words, Remembered], ...]:
    """Return every stage line that ships, with the words of its scene; nobody real says one."""
    entries = Catalogue.load(environment={}).entries
    return tuple(
        (
            spoken(entries[name].scenario.background),
            _remembered(entries[name].scenario, lines, line),
        )
        for name in scenarios_with("stage")
        if name in entries and (lines := spoken_stage_lines(entries[name].template)) is not None
        for line in lines.responder
    )


@cache
def _details() -> tuple[tuple[Words, tuple[str, ...]], ...]:
    """Return the details that were written for each scene, with the words of it."""
    entries = Catalogue.load(environment={}).entries
    return tuple(
        (spoken(entry.scenario.background), tuple(detail.text for detail in lines.details))
        for entry in entries.values()
        if (lines := spoken_stage_lines(entry.template)) is not None
    )


@cache
def _by_ending() -> Mapping[Words, list[tuple[Words, Remembered]]]:
    found: dict[Words, list[tuple[Words, Remembered]]] = {}
    for background, line in remembered():
        found.setdefault(spoken(line.text)[-ENDING:], []).append((background, line))
    return found


def _remembered(scenario: Scenario, lines: StageLines, line: StageLine) -> Remembered:
    facts = [fact for fact in scenario.facts if line.fact in (fact.id, ANY_FACT)]
    claims = {claim.id: claim.text for claim in scenario.claims}
    false = facts[0].makes_false if facts else ()
    return Remembered(
        scenario=scenario.id,
        goal=line.goal,
        labels=line.labels,
        text=line.text,
        facts=frozenset(spoken(fact.text) for fact in facts),
        questions=_questions(scenario, lines, line),
        claims=frozenset(spoken(claims[name]) for name in line.claims if name in claims),
        fact=facts[0].text if facts else "",
        false_claims=tuple(claims[name] for name in false if name in claims),
    )


def _questions(scenario: Scenario, lines: StageLines, line: StageLine) -> tuple[str, ...]:
    """Return what it answers: every question that presses presses on the hard one."""
    own = [fact.angle for fact in scenario.facts if line.fact in (fact.id, ANY_FACT)]
    angles = [angle for angle in own if angle]
    if line.answers == ANGLE:
        return tuple(angles)
    pressed = [asked.text for asked in lines.initiator]
    shared = scenario.opening.shared
    hard = list(shared.hard_question) if shared else []
    if line.answers == ANY_QUESTION:
        return (*pressed, *angles)
    if line.answers == HARD_QUESTION:
        return (*hard, *pressed)
    return (*pressed, *hard, *(angles if line.leaves_any_question else ()))
