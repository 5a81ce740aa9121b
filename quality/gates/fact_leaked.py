"""Somebody says what only another can know, before it was told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, ClassVar

from pydantic import Field

from quality.gates.protocol import GatedDialogue, GateExtension, Share
from scenarios.plural import enumerated
from scenarios.spec import Fact, Scenario
from scenarios.strict import Strict
from scenarios.terms import RoleKey
from scenarios.verdicts import Flag
from scenarios.wording import content_stems, shingles, union


class LeakSettings(Strict):
    """From when on somebody tells a fact that only others know."""

    leak_share: Share = 0.5
    """Share of the private words of the fact from which on a turn tells it."""
    leak_words: Annotated[int, Field(ge=1, le=100)] = 3
    """Fewest private words that such a turn must hold."""
    leak_run: Annotated[int, Field(ge=3, le=50)] = 5
    """Length of a run of words that only the fact can have supplied."""


@dataclass(frozen=True, slots=True)
class FactLeaked:
    """Looks for a private fact in the words of those who do not know it.

    What counts is what stands in the fact and nowhere the speaker could have it from: not in the
    situation, the descriptions of the people, what the speaker was told, or anything said before.
    The likeness is one of words; a fact told in other words is a matter for the judges.
    """

    its: LeakSettings = field(default_factory=LeakSettings)
    code: ClassVar[str] = "fact_leaked"

    def check(self, subject: GatedDialogue) -> list[Flag]:
        """Flag every improvised turn that tells a fact which its speaker cannot know.

        The severity is the share of the fact's private words, as far as untold, that it holds.
        """
        scenario = subject.scenario
        if scenario is None:
            return []
        return [
            flag
            for fact in subject.private
            for role in dict.fromkeys(turn.role for turn in subject.improvised)
            if role not in fact.knowers and role in scenario.roles
            for flag in self._told(subject, scenario, fact, role)
        ]

    def _told(
        self, subject: GatedDialogue, scenario: Scenario, fact: Fact, role: RoleKey
    ) -> Iterator[Flag]:
        """Yield the flags of the turns of one role that tell one fact."""
        run = self.its.leak_run
        untold, private_runs = _private(fact.text, _known_to(role, scenario), run)
        for turn in subject.dialogue.turns:
            stems = content_stems(turn.text)
            runs = shingles(turn.text, run)
            if turn.role == role and turn.kind == "improvised":
                told = untold & stems
                share = len(told) / len(untold) if untold else 0.0
                enough = len(told) >= self.its.leak_words and share >= self.its.leak_share
                if enough or (private_runs & runs and told):
                    shown = ", ".join(sorted(told))
                    reason = f"knows what only {_knowing(fact)} of {fact.about}: {shown}"
                    yield subject.flag(self.code, reason, turn, share)
            untold -= stems
            private_runs -= runs


def _knowing(fact: Fact) -> str:
    names = enumerated([f"the {role}" for role in fact.knowers])
    return f"{names} {'know' if fact.also_known_by else 'knows'}"


@lru_cache(maxsize=1024)
def _private(
    fact: str, public: tuple[str, ...], run: int
) -> tuple[frozenset[str], frozenset[tuple[str, ...]]]:
    """Return the content stems and the runs of words that stand in the fact alone."""
    known = frozenset().union(*(shingles(text, run) for text in public))
    return content_stems(fact) - union(public), shingles(fact, run) - known


def _known_to(role: RoleKey, scenario: Scenario) -> tuple[str, ...]:
    """Return every text that one role is given."""
    roles = scenario.roles
    phases = [phase for phase in scenario.flow if role in phase.who]
    return (
        scenario.background,
        roles[role].aim,
        *(text for one in roles.values() for text in (one.name, one.description)),
        *(phase.brief for phase in phases if phase.brief),
        *(text for phase in phases for text in phase.strategies.get(role, ())),
        *(fact.text for fact in scenario.private(role) if scenario.flow),
    )


GATE = GateExtension(FactLeaked.code, LeakSettings, FactLeaked)
