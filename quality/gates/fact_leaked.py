"""The initiator says what only the responder can know, before the responder has told it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, ClassVar

from pydantic import Field

from quality.gates.protocol import GatedDialogue, GateExtension, Share
from scenarios.spec import Scenario
from scenarios.strict import Strict
from scenarios.verdicts import Flag
from scenarios.wording import content_stems, shingles, union


class LeakSettings(Strict):
    """From when on the initiator tells the fact."""

    leak_share: Share = 0.5
    """Share of the private words of the fact from which on an initiator's turn tells it."""
    leak_words: Annotated[int, Field(ge=1, le=100)] = 3
    """Fewest private words that such a turn must hold."""
    leak_run: Annotated[int, Field(ge=3, le=50)] = 5
    """Length of a run of words that only the fact can have supplied."""


@dataclass(frozen=True, slots=True)
class FactLeaked:
    """Looks for the private fact in the initiator's words.

    What counts is what stands in the fact and nowhere the initiator could have it from: not in
    the situation, the descriptions of the two roles, or anything said before. The likeness is one
    of words; a fact told in other words is a matter for the judges.
    """

    share: float = 0.5
    fewest: int = 3
    run: int = 5
    code: ClassVar[str] = "fact_leaked"

    def check(self, subject: GatedDialogue) -> list[Flag]:
        """Flag every improvised turn of the initiator that tells the fact.

        The severity is the share of the fact's private words, as far as untold, that it holds.
        """
        fact, scenario = subject.fact, subject.scenario
        if fact is None or scenario is None or fact.owner != "responder":
            return []
        untold, private_runs = _private(fact.text, _public(scenario), self.run)
        found = []
        for turn in subject.dialogue.turns:
            stems = content_stems(turn.text)
            runs = shingles(turn.text, self.run)
            if turn.role == "initiator" and turn.kind == "improvised":
                told = untold & stems
                share = len(told) / len(untold) if untold else 0.0
                enough = len(told) >= self.fewest and share >= self.share
                if enough or (private_runs & runs and told):
                    shown = ", ".join(sorted(told))
                    reason = f"knows what only the responder knows of {fact.about}: {shown}"
                    found.append(subject.flag(self.code, reason, turn, share))
            untold -= stems
            private_runs -= runs
        return found


@lru_cache(maxsize=1024)
def _private(
    fact: str, public: tuple[str, ...], run: int
) -> tuple[frozenset[str], frozenset[tuple[str, ...]]]:
    """Return the content stems and the runs of words that stand in the fact alone."""
    known = frozenset().union(*(shingles(text, run) for text in public))
    return content_stems(fact) - union(public), shingles(fact, run) - known


def _public(scenario: Scenario) -> tuple[str, ...]:
    """Return every text that the initiator is given."""
    roles = scenario.roles
    own = roles["initiator"]
    return (
        scenario.background,
        own.aim,
        *(text for role in roles.values() for text in (role.name, role.description)),
    )


GATE = GateExtension(
    FactLeaked.code,
    LeakSettings,
    lambda its: FactLeaked(its.leak_share, its.leak_words, its.leak_run),
)
