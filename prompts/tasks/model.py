"""A task: what a model is asked for, what it is shown, and how. A YAML file."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, Literal, Self

from pydantic import Field, model_validator

from prompts.tasks.modes import Mode
from scenarios.fixed_lines import Text
from scenarios.plugins import PointName
from scenarios.schemes.model import Identifier
from scenarios.strict import Strict

DRAWS: Final = 3
"""How often worked examples are drawn anew: a score of the mode ``icl`` is a mean with its SD."""
Subject = Literal["utterance", "dialogue"]
FactShown = Literal["hidden", "shown", "claims"]

DECLARED, GOAL, READERS, LIES = "declared", "goal", "readers", "lies"
KEYWORDS: Final = (DECLARED, GOAL, READERS, LIES)
"""In place of dimensions: what speakers declare of an utterance; the goal; what readers alone label
of the subject; and the dimension that has a label which is ruled out for who is truthful."""

TaskId = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$", max_length=64)]
_Last = Annotated[int, Field(ge=1)]


class Sees(Strict):
    """What of a dialogue and of its private knowledge is shown."""

    history: Literal["none", "before", "all"] | _Last
    """``before``: all that was said before the target; ``all``: the whole dialogue; a number: as
    many utterances at most, the last ones."""
    standing_question: bool = False
    """Whether the question that the target answers is shown, also where the history is not."""
    fact: FactShown = "hidden"
    """``claims``: the fact, and the sentences that it makes false."""
    goal: bool = False


class Options(Strict):
    """Which labels are listed for an item: the right one, and others drawn by the item's id."""

    distractors: Annotated[int, Field(ge=1, le=25)]
    """How many others."""
    within: tuple[tuple[Text, ...], ...] = ()
    """Groups of labels: the others come from a group that the right label is in."""
    apart: tuple[tuple[Text, ...], ...] = ()
    """Groups of labels: none is listed beside a right label of the same group."""
    same_for: tuple[Identifier, ...] = ()
    """``role`` or dimensions: the others can be chosen for one that the right label is for, too."""
    other_for: tuple[Identifier, ...] = ()
    """``role`` or dimensions: the others can be chosen for none that the right label is for."""
    scheme_groups: bool = False
    """Whether the groups that the labels of the scheme are in are kept apart, too."""


class Task(Strict):
    """One way to ask for labels."""

    point: ClassVar[PointName] = "task"
    id: TaskId
    title: Text
    about: Text
    """What it measures, in a sentence."""
    subject: Subject
    """What is labelled."""
    asks: Annotated[tuple[Text, ...], Field(min_length=1)]
    """Keywords (see ``KEYWORDS``) and ids of dimensions, in the order in which they are asked."""
    sees: Sees
    questions: Literal["together", "per-dimension"] = "together"
    """One question for all dimensions, or one for each."""
    modes: Annotated[tuple[Mode, ...], Field(min_length=1)] = (
        "zero-shot",
        "cot",
        "icl",
        "two-phase",
    )
    """The modes it can be asked in; the first is the default."""
    examples: Annotated[int, Field(ge=1, le=50)] = 4
    """How many worked examples are shown in the mode ``icl``."""
    options: dict[Identifier, Options] = Field(default_factory=dict)
    """By dimension: which labels are listed. Of any other dimension all are."""
    shuffled: Literal["options", "definitions"] = "options"
    """What stands in an order by the item: the labels at the end of the question, while the system
    message is the same for all; or the definitions, in one of a few orders."""
    thoughts: Text | None = None
    """What a model is to think about before anything else, in the mode ``cot``."""
    runner_up: bool = False
    """Whether the label that comes next is asked for, too."""
    rules: tuple[Text, ...] = ()
    """What else a model is told, one line each."""
    definitions: bool = True
    """Whether the system message defines the labels. Without, it is a few lines, for a model that
    has learnt them; the labels stand in the question all the same."""
    template: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")] | None = None
    """The stem of its two templates; by default that of its subject."""

    @property
    def stem(self) -> str:
        """What its templates are called, before ``_system.j2`` and ``_user.j2``."""
        return self.template or f"task_{self.subject}"

    @property
    def name(self) -> str:
        """The name it is looked up by."""
        return self.id

    @property
    def shows_fact(self) -> bool:
        """Whether it shows what only the responder knows: its score is no result of a benchmark."""
        return self.sees.fact != "hidden"

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if len(set(self.asks)) < len(self.asks):
            raise ValueError("asks: something stands twice")
        if len(set(self.modes)) < len(self.modes):
            raise ValueError("modes: a mode stands twice")
        history = self.sees.history
        if self.subject == "utterance" and history == "all":
            raise ValueError(
                "sees: history: all shows what was said after the utterance; use before, or none"
            )
        if self.subject == "dialogue" and history in ("none", "before"):
            raise ValueError(f"sees: history: {history} leaves nothing of a dialogue; use all")
        if self.subject == "dialogue" and self.sees.standing_question:
            raise ValueError("sees: standing_question: a dialogue as a whole answers none")
        if self.sees.goal and GOAL in self.asks:
            raise ValueError("sees: goal: the goal is asked for and cannot be shown")
        if self.options and self.shuffled == "definitions":
            raise ValueError(
                "options: they stand at the end of the question; use shuffled: options"
            )
        return self
