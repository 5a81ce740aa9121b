"""The stage lines, which the offline judge knows by heart, with what they were written for.

Whoever says a line to another question, or with another fact, gets no remembered veracity: what
the line claims is held against what the prompt calls false.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from scenarios.catalogue import Catalogue
from scenarios.lines.library import scenarios_with, stage_lines
from scenarios.lines.model import ANGLE, ANY_FACT, HARD_QUESTION, StageLine, StageLines
from scenarios.real_names import has_real_names
from scenarios.spec import Scenario
from scenarios.wording import words

Words = tuple[str, ...]
ENDING = 3
"""Words by which a line is looked up; no stage line has fewer."""
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


@cache
def spoken(text: str) -> Words:
    """Return the words of a text in lower case, by which two texts count as the same."""
    return tuple(words(text))


@cache
def remembered(*, real_names: bool = False) -> tuple[tuple[Words, Remembered], ...]:
    """Return every stage line that ships, with the words of its scene.

    Args:
        real_names: whether the scenes are those that name real people and organisations.
    """
    entries = Catalogue.load(environment={}).entries
    known: list[tuple[Words, Remembered]] = []
    for name in scenarios_with("stage"):
        lines = stage_lines(name)
        if lines is not None and name in entries:
            known += _lines(entries[name].template, lines, real_names)
    return tuple(known)


@cache
def _by_ending() -> Mapping[Words, list[tuple[Words, Remembered]]]:
    found: dict[Words, list[tuple[Words, Remembered]]] = {}
    for background, line in (*remembered(), *remembered(real_names=True)):
        found.setdefault(spoken(line.text)[-ENDING:], []).append((background, line))
    return found


def _lines(template: Scenario, lines: StageLines, real: bool) -> Iterator[tuple[Words, Remembered]]:
    if real and not has_real_names(template):
        return
    scenario = template.named(real=real)
    names = {
        key: (known.real if real and known.real else known.alias)
        for key, known in template.placeholders.items()
    }
    background = spoken(scenario.background)
    for line in lines.responder:
        yield background, _remembered(scenario, lines, line, names)


def _remembered(
    scenario: Scenario, lines: StageLines, line: StageLine, names: Mapping[str, str]
) -> Remembered:
    facts = [fact for fact in scenario.facts if line.fact in (fact.id, ANY_FACT)]
    claims = {claim.id: claim.text for claim in scenario.claims}
    false = facts[0].makes_false if facts else ()
    return Remembered(
        scenario=scenario.id,
        goal=line.goal,
        labels=line.labels,
        text=_filled(line.text, names),
        facts=frozenset(spoken(fact.text) for fact in facts),
        questions=_questions(scenario, lines, line, names),
        claims=frozenset(spoken(claims[name]) for name in line.claims if name in claims),
        fact=facts[0].text if facts else "",
        false_claims=tuple(claims[name] for name in false if name in claims),
    )


def _questions(
    scenario: Scenario, lines: StageLines, line: StageLine, names: Mapping[str, str]
) -> tuple[str, ...]:
    """Return what it answers: every question that presses presses on the hard one."""
    if line.answers == ANGLE:
        angles = [fact.angle for fact in scenario.facts if line.fact in (fact.id, ANY_FACT)]
        return tuple(angle for angle in angles if angle)
    pressed = [_filled(asked.text, names) for asked in lines.initiator]
    shared = scenario.opening.shared
    hard = list(shared.hard_question) if shared else []
    if line.answers == HARD_QUESTION:
        return (*hard, *pressed)
    return (*pressed, *hard)


def _filled(text: str, names: Mapping[str, str]) -> str:
    for key, name in names.items():
        text = text.replace("{" + key + "}", name)
    return text
