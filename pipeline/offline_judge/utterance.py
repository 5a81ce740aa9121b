"""Label one utterance: from memory, by the steps of the scheme, or by likeness to stage lines.

A reader without memory does it by the steps alone.

A stage line is labelled from memory where it was written for the fact and the question of the
prompt. With another fact, what it claims is held against what the prompt calls false; to another
question it is read like any other line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Self

from pipeline.offline_judge.acts import ACTS, COMMISSIVES, act_of
from pipeline.offline_judge.aims import AIMS, CALL, aim_of
from pipeline.offline_judge.cues import plain
from pipeline.offline_judge.likeness import stage_likeness, tokens_of
from pipeline.offline_judge.memory import (
    Remembered,
    is_public_answer,
    opening_claims,
    recalled,
    spoken,
    told_detail,
)
from pipeline.offline_judge.reading import JudgeRequest
from pipeline.offline_judge.refusals import refusal
from pipeline.offline_judge.truth import (
    MANIPULATIONS,
    NONE,
    QUALITY,
    QUANTITY,
    RELEVANCE,
    Matter,
    Treatment,
    open_treatment,
    treatment_of,
    without_lies,
)
from scenarios.quick_records import quickly_made
from scenarios.wording import sentences, words

INTENTION, VERACITY, ACT = "intention", "veracity", "illocutionary"
BY_HEART = "a line known by heart"
LINES: Final = 4096
"""Lines of which readings are kept: two judges of a dialogue read the same ones one after the other."""


@quickly_made
@dataclass(frozen=True, slots=True)
class JudgedLine:
    """An utterance with the question it answers, in its scene."""

    text: str
    matter: Matter
    """What its words are held against."""
    remembers: bool
    """Whether the reader knows the stage lines by heart."""

    @classmethod
    def of(cls, text: str, question: str, asked: JudgeRequest) -> Self:
        """Return a line of a prompt; equal lines are equal, whichever prompt they stand in."""
        matter = Matter(
            asked.fact, asked.about, question, asked.situation, asked.false_claims, asked.people
        )
        return cls(text, matter, asked.remembers)

    @property
    def stage_line(self) -> Remembered | None:
        """The stage line it is; None where it is none, or the reader knows none."""
        return recalled(self.text, self.matter.known) if self.remembers else None

    @property
    def begun_by_heart(self) -> Self:
        """The stage line that it begins with, where one sentence more was said; else itself."""
        *before, last = sentences(self.text) or [""]
        told = replace(self, text=" ".join(before)) if before and last else self
        return self if told.stage_line is None or self.stage_line is not None else told

    def fits(self, known: Remembered) -> bool:
        """Whether a stage line was written for the question of the prompt, if one is shown."""
        return not self.matter.question or known.answers(self.matter.question)


Found = tuple[str, str]
"""A label, and why."""


@lru_cache(maxsize=LINES)
def utterance_label(line: JudgedLine, labels: tuple[str, ...]) -> Found | None:
    """Return the label of a line, and why; None where no rules are known for these labels."""
    options = set(labels)
    rules: tuple[tuple[Sequence[str], Callable[[JudgedLine], Found]], ...] = (
        (ACTS, _act),
        (AIMS, _aim),
        (MANIPULATIONS, _veracity),
    )
    return next((rule(line) for known, rule in rules if options <= set(known)), None)


def _act(line: JudgedLine) -> Found:
    begun = line.begun_by_heart
    answers = begun is line or line_treatment(begun).label == QUANTITY
    if answers and (known := _from_memory(begun, ACT)):
        return known
    head = replace(line, text=head_sentence(line.text, answers=line_answers(line)))
    act, words = act_of(head.text)
    if words:
        return act, f'reads as {act}: "{words}"'
    return _alike(head, ACT, ACTS, act) or (act, "nothing marks another act")


def _aim(line: JudgedLine) -> Found:
    if known := _from_memory(line, INTENTION):
        return known
    aim, words = aim_of(line.text)
    if words:
        return aim, f'is after {aim}: "{words}"'
    return _alike(line, INTENTION, AIMS, aim) or (aim, "nothing shows another intention")


def _veracity(line: JudgedLine) -> Found:
    found = line_treatment(line)
    alike = None if found.sure else _alike(line, VERACITY, MANIPULATIONS)
    return alike or (found.label, found.reason)


def _from_memory(line: JudgedLine, dimension: str) -> Found | None:
    """Return the remembered label of a dimension that the fact has no part in."""
    known = line.stage_line
    if known is None or not line.fits(known) or dimension not in known.labels:
        return None
    return known.labels[dimension], BY_HEART


@lru_cache(maxsize=LINES)
def line_treatment(line: JudgedLine) -> Treatment:
    """Return how a line treats the fact: a stage line by its claims, another one by its words."""
    begun = line.begun_by_heart
    if begun is not line and line_treatment(begun).label == QUANTITY:
        added = treatment_of(line.text[len(begun.text) :].strip(), line.matter)
        return added if added.label == QUALITY else line_treatment(begun)
    known = line.stage_line
    if known is None:
        return _by_detail(line) or treatment_of(line.text, line.matter)
    false = [one for one in line.matter.false_claims if spoken(one) in known.claims]
    if false:
        return Treatment(
            QUALITY, f'{BY_HEART}, which claims what the fact makes false: "{false[0]}"'
        )
    if not line.fits(known):
        return _without_lies(line)
    label = known.labels.get(VERACITY, "")
    if not line.matter.fact or (known.fits_fact(line.matter.fact) and label != QUALITY):
        return Treatment(label, BY_HEART)
    return _with_another_fact(line, label, refuses=known.labels.get(ACT) == COMMISSIVES)


def _by_detail(line: JudgedLine) -> Treatment | None:
    """Return how a line treats the fact that tells a detail written for its scene; None for any other."""
    detail = told_detail(line.text, line.matter.known) if line.remembers else ""
    return Treatment(QUANTITY, f'tells a detail known by heart: "{detail}"') if detail else None


def _with_another_fact(line: JudgedLine, label: str, *, refuses: bool) -> Treatment:
    """Return how a remembered line treats a fact that makes nothing false of what it claims."""
    if label == QUALITY:
        return Treatment(NONE, f"{BY_HEART}, and the fact makes false nothing that it claims")
    if label != NONE or refuses:
        return Treatment(label, f"{BY_HEART}, which does so whatever the fact is")
    return _without_lies(line)


def _without_lies(line: JudgedLine) -> Treatment:
    return open_treatment(line.text, line.matter) or without_lies(line.text, line.matter)


@lru_cache(maxsize=LINES)
def misleads(line: JudgedLine) -> str:
    """Return how a line leaves the hearer with a false belief; nothing where it does not.

    What is left out, vague or beside the point misleads only together with something false: words
    alone do not tell discretion from deceit. Of a stage line the goal is known that it was written
    for.
    """
    if line.remembers and is_public_answer(line.text, line.matter.known):
        return ""
    stated = opening_claims(line.text, line.matter.known) if line.remembers else frozenset()
    if stated:
        false = [one for one in line.matter.false_claims if spoken(one) in stated]
        return f'{BY_HEART}, which claims what the fact makes false: "{false[0]}"' if false else ""
    known = line.stage_line
    found = line_treatment(line)
    if found.label == QUALITY:
        return found.reason
    deceives = known is not None and known.goal.casefold().startswith(("decep", "deceiv"))
    fact = line.matter.fact
    fitting = known is not None and (not fact or known.fits_fact(fact))
    if deceives and fitting and found.label != NONE:
        return f"{BY_HEART}, written to deceive"
    return ""


def line_answers(line: JudgedLine) -> bool:
    """Whether some part of a line answers the standing question, as far as the reader can tell."""
    return line_treatment(line).label != RELEVANCE


def head_sentence(text: str, *, answers: bool = True) -> str:
    """Return the sentence that refuses to answer, else the first that is more than a call.

    Where none answers it is the last one.
    """
    parts = sentences(text)
    for part in parts:
        if refusal(plain(part)):
            return part
    whole = [part for part in parts if len(words(part)) > CALL]
    return (whole or parts or [""])[0 if answers else -1]


def _alike(
    line: JudgedLine, dimension: str, labels: Sequence[str], usual: str = ""
) -> Found | None:
    """Return the label of the stage lines that a line is most like, and why."""
    if not line.remembers:
        return None
    matter = line.matter
    tokens = tokens_of(line.text, matter.question, matter.fact, matter.false_claims)
    found = stage_likeness(dimension).best(tokens, labels, usual)
    if found is None:
        return None
    label, speaking = found
    return label, f"no step decides; most like lines that are {label}: {', '.join(speaking)}"
