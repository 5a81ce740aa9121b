"""Who is to mislead tells the core of what is to be kept from the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from pydantic import Field

from quality.gates.protocol import GatedDialogue, GateExtension, Share
from scenarios.negation import is_negated
from scenarios.schemes.misleading import misleading_goals
from scenarios.strict import Strict
from scenarios.verdicts import Flag
from scenarios.wording import content_stems, sentences


class ConfessionSettings(Strict):
    """From when on the responder has told the core of its fact."""

    confession_share: Share = 0.6
    """Share of the private words of the fact from which on it is told: a half-truth, which leaves
    the weightier half out, stays below."""
    confession_words: Annotated[int, Field(ge=1, le=100)] = 3
    """Fewest private words that are told."""


@dataclass(frozen=True, slots=True)
class Confession:
    """Looks for the private fact in the responder's words, under a goal that misleads.

    What counts is what stands in the fact and neither in what names its subject, the situation, the
    descriptions of the two people, nor what is to be believed instead, over all answers together; sentences with a
    negation that the fact does not have deny it and count for nothing. The likeness is one of
    words: a fact told in other words is a matter for the judges.
    """

    its: ConfessionSettings = field(default_factory=ConfessionSettings)
    code: ClassVar[str] = "confession"

    def check(self, subject: GatedDialogue) -> list[Flag]:
        """Flag the answer with which the core is out; the severity is the share that is told."""
        fact, scenario = subject.fact, subject.scenario
        misleading = misleading_goals(subject.scheme) or frozenset()
        if fact is None or scenario is None or subject.dialogue.case.goal not in misleading:
            return []
        covers = {cover.claim for cover in fact.cover}
        people = scenario.roles.values()
        public = [
            fact.about,
            scenario.background,
            *(text for role in people for text in (role.name, role.description)),
            *(claim.text for claim in scenario.claims if claim.id in covers),
        ]
        private = content_stems(fact.text).difference(*map(content_stems, public))
        denies = is_negated(fact.text, subject.language)
        told: frozenset[str] = frozenset()
        for turn in subject.answers:
            for sentence in sentences(turn.text):
                if denies or not is_negated(sentence, subject.language):
                    told |= private & content_stems(sentence)
            share = len(told) / len(private) if private else 0.0
            if len(told) >= self.its.confession_words and share >= self.its.confession_share:
                reason = f"tells what is to be kept back: {', '.join(sorted(told))}"
                return [subject.flag(self.code, reason, turn, share)]
        return []


GATE = GateExtension(Confession.code, ConfessionSettings, Confession)
