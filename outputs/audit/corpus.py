"""What an audit looks at: dialogues with what is known of each, from a run or a data set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from scenarios.schemes.model import Scheme

Known = Literal["lines", "variation", "fact text"]
"""What some sources do not hold: the lines of whole dialogues, what was drawn for the people, and
the words of the private fact."""


@dataclass(frozen=True, slots=True)
class AuditedAnswer:
    """One labelled utterance."""

    turn: int
    """Its index in the dialogue."""
    text: str
    """Empty where the source holds no text of it."""
    labels: Mapping[str, str]
    """By dimension."""
    before: str = ""
    """What the initiator says before it; empty where that is not known."""
    after: str = ""
    """What the initiator says after it; empty where that is not known, or nothing follows."""


@dataclass(frozen=True, slots=True)
class AuditedDialogue:
    """One dialogue, as far as the source holds it."""

    case: str
    pair: str
    """The same for cases that differ in the goal alone; the case itself where it is not known."""
    arm: str
    scenario: str
    fact: str
    """The id of the fact."""
    goal: str
    answers: tuple[AuditedAnswer, ...]
    opening: str = ""
    """Everything that is said before the first labelled utterance."""
    asked: str = ""
    """Everything that the initiator says."""
    fact_text: str = ""
    """What the responder knows and nobody else: the fact without what both know anyway."""
    public_text: str = ""
    """What both know."""
    traits: Mapping[str, str] = field(default_factory=dict)
    """What was drawn for the case, by name, e.g. the persona of a role."""
    made_by: Mapping[str, str] = field(default_factory=dict)
    """How it was made: strategy and model."""
    left_out: Mapping[int, Mapping[str, str] | None] = field(default_factory=dict)
    """Answers that nothing is guessed about, such as those without a row: their labels, by turn; None
    where these are not known."""

    @property
    def said(self) -> Mapping[int, Mapping[str, str] | None]:
        """The labels of all answers by turn, in order; None where they are not known."""
        labels = {answer.turn: answer.labels for answer in self.answers} | dict(self.left_out)
        return dict(sorted(labels.items()))


@dataclass(frozen=True, slots=True)
class AuditCorpus:
    """The dialogues of one run or data set."""

    name: str
    goal_dimension: str
    """The dimension whose label a case assigns to the responder."""
    dimensions: tuple[str, ...]
    """The dimensions of utterances that have one label each, in order."""
    dialogues: tuple[AuditedDialogue, ...]
    known: frozenset[Known]
    of: int
    """Dialogues there are; more than ``dialogues`` where a sample was drawn."""
    scheme: Scheme | None = None
    """Where the rules between labels come from; None: the source does not tell."""
    remarks: tuple[str, ...] = ()
    """What the source does not hold, and what follows from that."""

    @property
    def scenarios(self) -> int:
        """How many scenarios the dialogues are on."""
        return len({dialogue.scenario for dialogue in self.dialogues})
