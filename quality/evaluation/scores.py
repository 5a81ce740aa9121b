"""The figures of an evaluation as they are kept in ``scores.json``."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from quality.evaluation.answers import Grouping
from quality.evaluation.other_words import OtherWord
from quality.statistics.bootstrap import Interval
from scenarios.errors import UsageError

Weighting = Literal["whole", "balanced", "reweighted"]
"""``whole``: every item of the set was asked; ``balanced``: items drawn evenly over classes count
alike; ``reweighted``: the same items, weighted to the shares that classes have in the set."""


@dataclass(frozen=True, slots=True)
class ClusteredEstimate:
    """A figure with two 95 % intervals; None where undefined, or too little is known."""

    value: float | None
    by_case: Interval | None = None
    """Over other cases of the same scenarios: answers about one case are drawn together."""
    by_scenario: Interval | None = None
    """Over other scenarios: the one for claims about scenarios that are not in the set."""


@dataclass(frozen=True, slots=True)
class ClassScore:
    """One label: how many references have it, how often it was given, and how well."""

    label: str
    support: int
    given: int
    precision: ClusteredEstimate
    recall: ClusteredEstimate
    f1: ClusteredEstimate


@dataclass(frozen=True, slots=True)
class FloorScore:
    """What is reached without reading: by one label throughout, or by drawing among labels."""

    name: Literal["majority", "random"]
    label: str | None
    """The label that is always given; None: all are drawn alike."""
    accuracy: float | None
    macro_f1: float | None


@dataclass(frozen=True, slots=True)
class GroupScore:
    """The items of one category, turn, goal, strategy or generator."""

    by: Grouping
    group: str
    n: int
    """Answers."""
    accuracy: ClusteredEstimate
    macro_f1: ClusteredEstimate


@dataclass(frozen=True, slots=True)
class PositionShare:
    """How often what stands at one place among the options is given, and is right."""

    position: int
    """From 0."""
    answers: float | None
    references: float | None


@dataclass(frozen=True, slots=True)
class DrawScore:
    """One of several draws of examples."""

    draw: int
    n: int
    accuracy: float | None
    macro_f1: float | None


@dataclass(frozen=True, slots=True)
class AnswerTally:
    """What became of the questions. All but ``failed`` are scored; the middle three are wrong."""

    read: int
    unreadable: int
    unknown_labels: int
    refused: int
    failed: int
    harmonised: int
    """Of those read: given in other words, which the scheme declares to mean a label."""
    cut_off: int = 0
    """Of those unreadable: the answer had as many tokens as it may before it came to a label."""
    unasked: int = 0
    """Not asked for yet, as the evaluation was stopped before: missing, as those that failed."""


@dataclass(frozen=True, slots=True)
class ScoredDimension:
    """What is scored: one model on one dimension of a task in a mode, against one kind of reference."""

    reference: str
    task: str
    mode: str
    model: str
    dimension: str
    labels: tuple[str, ...]
    n: int
    """Answers that are scored: items, or items times draws of examples."""
    items: int
    cases: int
    scenarios: int
    tally: AnswerTally


@dataclass(frozen=True, slots=True)
class Scores(ScoredDimension):
    """The figures of a dimension of which one label is right."""

    accuracy: ClusteredEstimate
    macro_f1: ClusteredEstimate
    """Mean F1 of the labels that any reference has, whatever was resampled."""
    balanced_accuracy: ClusteredEstimate
    """Mean recall of the same labels."""
    above_majority: ClusteredEstimate
    """Accuracy less that of the majority floor, on the same resamples."""
    classes: tuple[ClassScore, ...]
    """In the order of ``labels``."""
    matrix: tuple[tuple[int, ...], ...]
    """``matrix[i][j]``: how often ``labels[i]`` is right and ``labels[j]`` was given."""
    unread: tuple[int, ...]
    """``unread[i]``: how often ``labels[i]`` is right and no label could be read."""
    majority: FloorScore
    random: FloorScore
    groups: tuple[GroupScore, ...] = ()
    positions: tuple[PositionShare, ...] = ()
    draws: tuple[DrawScore, ...] = ()
    """Empty where there is one draw."""
    accuracy_sd: float | None = None
    """Standard deviation over draws."""
    macro_f1_sd: float | None = None
    weighting: Weighting = "whole"
    drawn_over: str = ""
    """The dimension over whose classes the items were drawn evenly."""
    remarks: tuple[str, ...] = ()
    """What to know before reading the figures: why intervals are missing, what imbalance does."""


@dataclass(frozen=True, slots=True)
class SetFloor:
    """What is reached by giving the same set of labels throughout."""

    name: Literal["majority", "all labels"]
    labels: tuple[str, ...]
    """What is always given: the commonest set, or every label."""
    f1: float
    micro_f1: float
    macro_f1: float
    exact: float


@dataclass(frozen=True, slots=True)
class SetScores(ScoredDimension):
    """The figures of a dimension of which several labels may be right at once."""

    f1: ClusteredEstimate
    """Mean over answers of the F1 of the labels that were given and those that are right."""
    micro_f1: ClusteredEstimate
    """F1 of all pairs of answer and label together."""
    macro_f1: ClusteredEstimate
    """Mean F1 of the labels that any reference has, whatever was resampled."""
    exact: ClusteredEstimate
    """Share of the answers that give all labels that are right and no other."""
    classes: tuple[ClassScore, ...]
    floors: tuple[SetFloor, ...] = ()
    weighting: Weighting = "whole"
    drawn_over: str = ""
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelComparison:
    """Two models, or one model in two modes, on the items that both answered."""

    reference: str
    task: str
    mode: str
    dimension: str
    first: str
    second: str
    n: int
    """Items that both answered."""
    cases: int
    left_out: int
    """Items that only one of them answered."""
    accuracy: ClusteredEstimate
    """Of the first less that of the second."""
    macro_f1: ClusteredEstimate
    p: float | None
    """Two-sided, that the cases would differ as much in accuracy if the names were permuted."""
    exact: bool
    """Whether every permutation was counted, not a sample of them."""
    p_holm: float | None
    """Corrected for all pairs of models, or of modes, of this task and dimension."""
    weighting: Weighting = "whole"
    second_mode: str = ""
    """The mode that the second was asked in; empty: the same. Elsewhere it is the same model."""


@dataclass(frozen=True, slots=True)
class FlipRate:
    """How often a model changes its answer when it is asked the same again."""

    task: str
    mode: str
    model: str
    dimension: str
    items: int
    times: int
    """How often each item was asked."""
    flipped: ClusteredEstimate
    """Share of the items that got more than one answer."""


@dataclass(frozen=True, slots=True)
class SwapScore:
    """One model on lies shown with the own fact, with another one, and with none."""

    task: str
    mode: str
    model: str
    dimension: str
    lie: str
    """The label of lies: right with the own fact, wrong with another."""
    n_own: int
    n_other: int
    own: ClusteredEstimate
    other: ClusteredEstimate
    mean: ClusteredEstimate
    """Of the two: who reads the words alone, or calls everything a lie, is right in one half."""
    pairs: int
    both: ClusteredEstimate
    """Share of the lines on which the two items are both right."""
    n_none: int
    named_without_fact: ClusteredEstimate
    """Share of the items without a fact on which the label of lies is given; not scored."""
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EvaluationScores:
    """All figures of one evaluation."""

    scores: tuple[Scores, ...] = ()
    comparisons: tuple[ModelComparison, ...] = ()
    flips: tuple[FlipRate, ...] = ()
    swaps: tuple[SwapScore, ...] = ()
    sets: tuple[SetScores, ...] = ()
    """Of dimensions of which several labels may be right at once; ``scores`` has the others."""
    words: tuple[OtherWord, ...] = ()
    """Where models wrote something else than a label."""
    version: Literal[1] = 1

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold; undefined is null."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: object, *, source: str = "scores.json") -> EvaluationScores:
        """Read what :meth:`to_dict` returned.

        Args:
            data: what stood in the file.
            source: what errors call it.

        Raises:
            UsageError: it is something else.
        """
        try:
            return _reader().validate_python(data)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "the whole"
            raise UsageError(
                f"{source}: {where}: {first['msg']}",
                "give the scores.json that hipo evaluate wrote",
            ) from error


@cache
def _reader() -> TypeAdapter[EvaluationScores]:
    return TypeAdapter(EvaluationScores)
