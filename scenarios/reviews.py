"""Who reviews what, and what they answered: the records of the review page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from scenarios.errors import RunError
from scenarios.terms import LabelValue

Mode = Literal["review", "quiz", "gold"]
PersonRole = Literal["annotator", "expert"]
AssignmentState = Literal["open", "labelled", "done", "given_back"]
"""``labelled``: labels are given and locked, the declared ones have been shown (mode review)."""
RefusalCode = Literal["unknown", "taken", "locked", "closed"]


class AnswerRefused(RunError):
    """An answer was not stored: the item is not theirs (any more), or it is closed."""

    def __init__(self, code: RefusalCode, message: str) -> None:
        """Say why, for the person who answered."""
        super().__init__(message)
        self.code: RefusalCode = code


@dataclass(frozen=True, slots=True)
class ReviewStudy:
    """A round of reviewing within a run: which mode, and how many people see every item."""

    seq: int
    id: str
    mode: Mode
    per_item: int
    seed: int
    hidden: Mapping[str, tuple[str, ...]]
    """Labels that are not offered, by dimension (the quiz leaves out None)."""

    @property
    def shows_fact(self) -> bool:
        """Whether annotators are told what only the responder knows; not in a quiz."""
        return self.mode != "quiz"

    @property
    def shows_declared(self) -> bool:
        """Whether anybody is shown the labels a dialogue came with; never those of gold lines."""
        return self.mode != "gold"

    @property
    def asks_whole(self) -> bool:
        """Whether annotators label the dialogue as a whole, too; a gold line is no dialogue."""
        return self.mode != "gold"

    @property
    def asks_opinion(self) -> bool:
        """Whether annotators say, after their labels, if there is a problem with the dialogue."""
        return self.mode == "review"


@dataclass(frozen=True, slots=True)
class Item:
    """One dialogue of a study."""

    seq: int
    case: str
    arm: str
    category: str
    reasons: tuple[str, ...]
    """Codes of the flags it had when it was put into the study."""

    @property
    def id(self) -> str:
        """``case/arm``, the id of the dialogue."""
        return f"{self.case}/{self.arm}"


@dataclass(frozen=True, slots=True)
class Assignment:
    """One item in the hands of one annotator."""

    seq: int
    item: Item
    annotator: int
    state: AssignmentState
    leased_until: float
    """Unix seconds; after this the item may go to somebody else, unless it is answered."""
    opened_at: float
    done_at: float | None


@dataclass(frozen=True, slots=True)
class GivenLabel:
    """One answer in long form."""

    turn: int | None
    """None: the dialogue as a whole."""
    dimension: str
    value: LabelValue


@dataclass(frozen=True, slots=True)
class AttentionAnswer:
    """A line whose labels are known, in the hands of one annotator among the items of a study."""

    seq: int
    code: str
    """Of the annotator."""
    study: str
    line: str
    """Id of the line."""
    state: AssignmentState
    opened_at: float
    done_at: float | None
    lead_s: float | None
    labels: tuple[GivenLabel, ...]
    note: str
    right: int
    """How many of the questions that are known were answered as they should be."""
    chances: tuple[float, ...]
    """For each of these questions how often a guess is right; empty: not answered yet."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """What somebody says about a dialogue beside its labels."""

    issue: bool | None = None
    """Whether there is something wrong with it; None where that was not asked."""
    issue_reason: str = ""
    scenario_problem: str = ""
    """What is wrong with its scenario; empty if nothing is."""
    note: str = ""
    lead_s: float = 0.0
    """How long the person looked at it, in seconds."""


@dataclass(frozen=True, slots=True)
class FormDraft:
    """A form half filled in, as the page sent it."""

    content: str
    """JSON object: field -> list of values."""
    edits: int
    """Counts up with every change, so that the page knows the newer of two copies."""
    lead_s: float


@dataclass(frozen=True, slots=True)
class Sheet:
    """Everything one annotator said about one item; the newest revision of it."""

    assignment: int
    item: Item
    annotator: str
    """Code, never a name."""
    state: AssignmentState
    labels: tuple[GivenLabel, ...]
    opinion: Opinion | None
    origin: str
    """``page``, or where it was imported from."""


@dataclass(frozen=True, slots=True)
class Adjudication:
    """The last word on an item: final labels, a verdict, and a note."""

    item: int
    expert: str
    """Code of the expert."""
    verdict: Literal["accepted", "discarded"] | None
    labels: tuple[GivenLabel, ...]
    note: str
    at: float


@dataclass(frozen=True, slots=True)
class Annotator:
    """Somebody who reviews."""

    seq: int
    code: str
    role: PersonRole
    name: str | None
    """None before it was given, and after the person was erased."""
    account: bool
    """Whether they log in with a password."""
    language: str | None
    consented_at: float | None
    erased_at: float | None


@dataclass(frozen=True, slots=True)
class Visit:
    """A browser that is let in, and who sits before it as far as that is known."""

    role: PersonRole
    annotator: Annotator | None
    language: str | None
    consent: str | None
    """Fingerprint of the consent text that was agreed to."""
    category: str
    reason: str
    """What the annotator chose to see; empty is everything."""


@dataclass(frozen=True, slots=True)
class AnnotatorTally:
    """How far one annotator is in a study."""

    code: str
    role: PersonRole
    done: int
    open: int
    seconds: tuple[float, ...]
    """Lead time of every item that is done."""
    last: float | None
    """Unix time in seconds of the last answer."""
    finished: bool
