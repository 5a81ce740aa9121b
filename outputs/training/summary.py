"""What a training came to, as plain data: rows, lengths, losses, and what the rows were."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from pydantic import Field

from outputs.training.lengths import QUANTILES, LengthPlan
from outputs.training.log import LogRow, losses
from outputs.training.training_set import TrainingRow
from scenarios.strict import Strict

SUMMARY = "training.json"
_PART = 0.1


@dataclass
class RowTally:
    """Counts who wrote the rows and under which goal, while they are read for something else."""

    models: Counter[str] = field(default_factory=Counter)
    goals: Counter[str] = field(default_factory=Counter)

    def counting(self, rows: Iterable[TrainingRow]) -> Iterator[TrainingRow]:
        """Yield the rows and count them."""
        for row in rows:
            self.models[row.model or "unknown"] += 1
            self.goals[row.goal or "none"] += 1
            yield row


class SplitFigures(Strict):
    """The rows of one split."""

    rows: int
    used: int
    left_out: int
    """Their answer would have been cut."""
    limit: int
    """Tokens a row may have."""
    tokens: dict[str, int] = Field(default_factory=dict)
    """Lengths that a share of all rows does not exceed, by per cent; ``100`` is the longest."""


class LossFigures(Strict):
    """A loss at the beginning and at the end; None where it was not measured."""

    first: float | None = None
    last: float | None = None


class TrainingSummary(Strict):
    """The numbers of one training."""

    steps: int
    device: str
    dtype: str
    max_length: int
    seconds: float
    train: SplitFigures
    validation: SplitFigures | None = None
    validation_used: int = 0
    loss: LossFigures
    """In training: means over the first and the last tenth of the steps."""
    validation_loss: LossFigures
    """Before the first step and after the last."""
    models: dict[str, int] = Field(default_factory=dict)
    """Training rows by who wrote the words."""
    goals: dict[str, int] = Field(default_factory=dict)
    """Training rows by goal."""
    deceptive_rows: int = 0
    """Training rows whose answers may deceive, and are learnt as what to say."""

    @property
    def offline_rows(self) -> int:
        """Training rows that the built-in rules wrote."""
        return sum(n for model, n in self.models.items() if model.startswith("offline/"))


def split_figures(plan: LengthPlan) -> SplitFigures:
    """Return the figures of one split."""
    tokens = {f"{100 * share:g}": plan.quantile(share) for share in (*QUANTILES, 1.0)}
    return SplitFigures(
        rows=len(plan.lengths),
        used=len(plan.kept),
        left_out=plan.left_out,
        limit=plan.limit,
        tokens=tokens if plan.lengths else {},
    )


def training_loss(rows: Sequence[LogRow]) -> LossFigures:
    """Return the mean loss of the first and of the last tenth of the steps: one step is noise."""
    found = [loss for _, loss in losses(rows)]
    if not found:
        return LossFigures()
    some = max(1, round(len(found) * _PART))
    return LossFigures(first=fmean(found[:some]), last=fmean(found[-some:]))


def validation_loss(rows: Sequence[LogRow]) -> LossFigures:
    """Return the validation loss of the base and that of the adapter."""
    found = losses(rows, "eval_loss")
    if not found:
        return LossFigures()
    return LossFigures(first=found[0][1] if found[0][0] == 0 else None, last=found[-1][1])
