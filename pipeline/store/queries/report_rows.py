"""The rows that sums over a whole run come as."""

from __future__ import annotations

from dataclasses import dataclass

from scenarios.terms import LabelValue
from scenarios.verdicts import Source, Verdict


@dataclass(frozen=True, slots=True)
class EndingCount:
    """Dialogues of one kind; ``verdict`` is None where nobody has decided."""

    arm: str
    scenario: str
    fact: str
    goal: str
    turns: int
    status: str
    """``generated`` or ``failed``."""
    verdict: Verdict | None
    by: str
    """``policy``, ``review``, ``expert``, or nothing."""
    flagged: bool
    """Whether the newest look at them raised any flag."""
    n: int


@dataclass(frozen=True, slots=True)
class UtteranceCount:
    """Improvised answers of one arm in one scenario."""

    arm: str
    scenario: str
    n: int


@dataclass(frozen=True, slots=True)
class LabelCount:
    """How often improvised answers of one arm, in dialogues of one verdict, declare one value."""

    arm: str
    verdict: Verdict | None
    dimension: str
    value: LabelValue
    n: int


@dataclass(frozen=True, slots=True)
class PairCount:
    """How often one label met another; who gave the first and the second is said by the reader."""

    by: str
    dimension: str
    first: LabelValue
    second: LabelValue
    n: int


@dataclass(frozen=True, slots=True)
class NamedCount:
    """How often a judge who does not see the declared label names one, in one scenario."""

    source: Source
    judge: str
    dimension: str
    scenario: str
    goal: str
    declared: LabelValue
    """Of an utterance; of a dialogue the goal that was assigned."""
    named: LabelValue
    second: LabelValue | None
    """The label it named next."""
    n: int


@dataclass(frozen=True, slots=True)
class TrialCount:
    """How often a judge accepts labels of one dialogue that it was shown on trial."""

    judge: str
    dimension: str
    dialogue: int
    foil: bool
    accepted: int
    shown: int


@dataclass(frozen=True, slots=True)
class VoteCount:
    """Judgements of one kind in one scenario; ``yes`` and ``judged`` leave out unreadable ones."""

    arm: str
    source: Source
    judge: str
    """``provider/model``."""
    dimension: str
    whole: bool
    """Whether it is about the dialogue as a whole."""
    scenario: str
    fact: str
    goal: str
    turns: int
    yes: int
    judged: int
    unreadable: int


@dataclass(frozen=True, slots=True)
class CaseVotes:
    """Judgements about one dialogue, by kind of judge and dimension."""

    case: str
    scenario: str
    goal: str
    source: Source
    dimension: str
    whole: bool
    """Whether it is about the dialogue as a whole."""
    yes: int
    judged: int


@dataclass(frozen=True, slots=True)
class FlaggedCount:
    """Dialogues of one verdict, scenario and goal that have a flag of this code."""

    verdict: Verdict | None
    scenario: str
    goal: str
    code: str
    n: int


@dataclass(frozen=True, slots=True)
class RequestCount:
    """Requests of one role to one model that ended alike."""

    role: str
    model: str
    code: str
    """``ok``, or why it failed."""
    n: int
    asked: int
    """Samples asked for."""
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float
    unpriced: int
    """Requests whose cost is unknown."""
    charged_usd: float
    """What all of them can have cost at most, as far as a price is known."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A dialogue that stands for others, and its verdict."""

    id: str
    """``case/arm``."""
    arm: str
    scenario: str
    goal: str
    turns: int
    verdict: Verdict | None


@dataclass(frozen=True, slots=True)
class PersonAnswer:
    """What one person answered about one dimension of one turn, or of the dialogue."""

    mode: str
    """``review``, ``quiz``, or ``imported``."""
    item: str
    person: str
    """A code; names are not read."""
    dimension: str
    value: LabelValue
    dialogue: str = ""
    """``case/arm``, whatever the study; empty: the item stands alone."""
