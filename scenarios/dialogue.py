"""Dialogues: labelled turns, each with the trace of how it was chosen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Literal

from scenarios.case import Case
from scenarios.quick_records import quickly_made
from scenarios.terms import RESPONDER, LabelValue, RoleKey

TurnKind = Literal["opening", "improvised"]
"""Whether words are fixed or somebody makes them up."""
History = tuple[tuple[RoleKey, str], ...]
"""(role, text) of utterances, the oldest first."""
Wanted = tuple[tuple[str, str], ...]
"""(dimension, label) pairs that a speaker is asked for; empty where it chooses freely."""
FIT: Final = "fit"
"""In place of a dimension: whether a line serves its goal, is coherent and sounds natural."""


@quickly_made
@dataclass(frozen=True, slots=True)
class TacticLabel:
    """The label one dimension got, and why."""

    dimension: str
    value: LabelValue
    rationale: str = ""
    raw: str | None = None
    """What the model wrote, where an alias had to be resolved to ``value``."""


@quickly_made
@dataclass(frozen=True, slots=True)
class Draft:
    """One utterance as its speaker produced it, with the labels it declares."""

    text: str
    goal: LabelValue
    """The label of the assigned dimension that the actor itself declared; "" without such one."""
    tactic: tuple[TacticLabel, ...]
    """One label per utterance dimension that concerns the role, in the scheme's order."""


@quickly_made
@dataclass(frozen=True, slots=True)
class Candidate:
    """One of the K sampled utterances of a vote; ``draft`` is None where it could not be read."""

    sample: int
    draft: Draft | None
    score: float | None
    """Mean cosine similarity to the other candidates, in [-1, 1]."""
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Critique:
    """Whether an utterance carries the label it declares for one dimension, or can be said at all."""

    dimension: str
    """A dimension of the scheme, what a critic that is a program looks at, or ``FIT``."""
    carried: bool
    """False asks for a revision."""
    reason: str


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """Something that an utterance claims, and whether a program found it to hold."""

    kind: str
    notation: str
    """The claim in the notation of the verifier."""
    holds: bool
    reason: str
    """The claim in words; where it does not hold, with what holds instead."""
    quote: str = ""
    """The words that make the claim, as far as they are known."""


@dataclass(frozen=True, slots=True)
class CheckedUtterance:
    """What a program found of an utterance: the claims in it, and labels that follow from them."""

    verifier: str
    claims: tuple[CheckedClaim, ...]
    labels: tuple[TacticLabel, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether none of the claims failed."""
        return all(claim.holds for claim in self.claims)


@quickly_made
@dataclass(frozen=True, slots=True)
class Attempt:
    """One version of an utterance and what was said about it (by reflection nothing for the last)."""

    draft: Draft
    critiques: tuple[Critique, ...] = ()
    verification: CheckedUtterance | None = None
    """What a program found, where one was asked."""


@quickly_made
@dataclass(frozen=True, slots=True)
class Trace:
    """How an utterance came to be: what a strategy drew, tried and noted on the way."""

    strategy: str
    candidates: tuple[Candidate, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    chosen: int = 0
    """Index into ``candidates`` or ``attempts`` of the one that was said."""
    notes: tuple[str, ...] = ()
    """What else a strategy has to tell people who read the trace, one line each."""


@quickly_made
@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance of a dialogue."""

    index: int
    """From 0. Without a flow 0 is the fixed question, 1 its fixed answer, and so on in turn."""
    role: RoleKey
    text: str
    kind: TurnKind
    wanted: Wanted = ()
    declared_goal: LabelValue | None = None
    tactic: tuple[TacticLabel, ...] = ()
    trace: Trace | None = None
    labelled: bool | None = None
    """Whether its role is one whose words are labelled; None: the responder is that role."""

    def __str__(self) -> str:
        """Return who says what, and the labels it declares."""
        labels = " · ".join(str(label.value) for label in self.tactic)
        return f"{self.role}: {self.text}" + (f" [{labels}]" if labels else "")

    @property
    def is_of_labelled_role(self) -> bool:
        """Whether somebody says it whose words are labelled."""
        return self.role == RESPONDER if self.labelled is None else self.labelled

    @property
    def is_answer(self) -> bool:
        """Whether somebody whose words are labelled improvised it: such turns are judged.

        Source: HIPO, section 4.2 (there it is the responder).
        """
        return self.is_of_labelled_role and self.kind == "improvised"


@quickly_made
@dataclass(frozen=True, slots=True)
class Dialogue:
    """A finished dialogue of one case played by one arm."""

    case: Case
    arm: str
    """The id of the arm: strategy x models x parameters."""
    turns: tuple[Turn, ...]
    config_epoch: int = field(default=0, compare=False, repr=False)
    """The number of the configuration of the run under which it was made; 0: it is not stored yet."""

    @property
    def key(self) -> tuple[str, str]:
        """What it is looked up by: the ids of case and arm."""
        return self.case.id, self.arm

    @property
    def id(self) -> str:
        """The same in one word."""
        return f"{self.case.id}/{self.arm}"

    def __str__(self) -> str:
        """Return the dialogue as people read it: a line an utterance, labels behind it."""
        return "\n".join(map(str, self.turns))

    def answers(self) -> tuple[Turn, ...]:
        """Return the improvised turns of the roles whose words are labelled."""
        return tuple(turn for turn in self.turns if turn.is_answer)

    def history(self, until: int | None = None) -> History:
        """Return the utterances before the turn with index ``until``; all of them without one."""
        return history_of(turn for turn in self.turns if until is None or turn.index < until)


def history_of(turns: Iterable[Turn]) -> History:
    """Return turns as the history that prompts are made from."""
    return tuple((turn.role, turn.text) for turn in turns)
