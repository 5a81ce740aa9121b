"""What is thought of a dialogue: judgements, the flags they lead to, and decisions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from scenarios.quick_records import quickly_made
from scenarios.terms import LabelValue

Source = Literal["self", "external", "juror"]
"""Who judges: the generator, reading its own words again, another model, or a juror, who labels by
a scheme of its own and decides nothing. People review."""
Verdict = Literal["accepted", "discarded", "pending"]
VERDICTS: tuple[Verdict, ...] = ("accepted", "discarded", "pending")


@quickly_made
@dataclass(frozen=True, slots=True)
class Judgement:
    """What one judge says about one dimension of one turn, or of the whole dialogue."""

    case: str
    arm: str
    turn: int | None
    """None: the dialogue as a whole."""
    source: Source
    judge: str
    """``provider/model``."""
    dimension: str
    value: LabelValue | None
    """The label that the judge named; None: it named none, because it was shown the declared one
    or because its answer could not be read."""
    carried: bool | None
    """Whether the declared label, the goal that was assigned, or the label that is expected of a
    dimension for readers is what the judge finds. None: unreadable, or nothing to compare with."""
    reason: str = ""
    second: LabelValue | None = None
    """The label that the judge named next."""

    @property
    def readable(self) -> bool:
        """Whether the judge's answer could be read."""
        return self.value is not None or self.carried is not None


@dataclass(frozen=True, slots=True)
class Trial:
    """Whether a judge accepts a label that it was shown on trial."""

    turn: int
    dimension: str
    value: LabelValue
    foil: bool
    """Whether the label is a wrong one; False: the declared one of the same answer."""
    accepted: bool | None
    """None: the answer could not be read."""


@quickly_made
@dataclass(frozen=True, slots=True)
class Flag:
    """A reason to look at a dialogue again."""

    case: str
    arm: str
    turn: int | None
    """None: the dialogue as a whole."""
    code: str
    reason: str
    severity: float | None = None
    """The value that met a threshold, where there is one."""


@quickly_made
@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of a dialogue, who says so, and why. The newest decision counts."""

    case: str
    arm: str
    verdict: Verdict
    by: str
    """``policy:<name>``, ``review`` or ``expert``."""
    reason: str
    note: str = ""

    @property
    def by_policy(self) -> bool:
        """Whether a rule decided, and not a person."""
        return self.by.startswith("policy:")


@quickly_made
@dataclass(frozen=True, slots=True)
class JudgeRun:
    """One judge has been through one dialogue."""

    case: str
    arm: str
    source: Source
    judge: str
    config: str
    """Fingerprint of what decides the judge's answers: prompts, model, parameters."""
    epoch: int
    """How often an unreadable answer had been asked for before."""
    readable: bool
    """Whether every question was answered in a way that could be read."""


@quickly_made
@dataclass(frozen=True, slots=True)
class Assessment:
    """The flags a dialogue has got, and under which configuration; the newest counts."""

    case: str
    arm: str
    config: str
    """Fingerprint of the judges and gates that were asked."""
    flags: tuple[Flag, ...]
