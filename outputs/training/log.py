"""The losses of a training: one JSON line a step, kept through kills, and drawn as a curve."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

import orjson

from outputs.plots.canvas import standalone
from outputs.plots.curves import Curve, curve_chart
from scenarios.atomic_files import new_file, write_text

LOG = "log.jsonl"
CURVE = "loss.svg"
_KEPT = (
    "loss", "eval_loss", "learning_rate", "grad_norm", "epoch", "mean_token_accuracy",
    "eval_mean_token_accuracy", "rewards/accuracies", "rewards/margins", "eval_rewards/accuracies",
    "eval_rewards/margins",
)  # fmt: skip
"""What of a trainer's figures is written down."""

LogRow = dict[str, float]


@dataclass(frozen=True, slots=True)
class TrainingLog:
    """The log of one folder; a row is ``step`` and the figures that are known then."""

    folder: Path

    @property
    def path(self) -> Path:
        """The file."""
        return self.folder / LOG

    def rows(self) -> list[LogRow]:
        """Return what was logged; a last line that a kill cut short is left out."""
        if not self.path.is_file():
            return []
        rows = []
        for line in self.path.read_bytes().splitlines():
            try:
                rows.append(orjson.loads(line))
            except orjson.JSONDecodeError:
                break
        return rows

    def begin_again(self, step: int) -> None:
        """Forget what was logged after a step, the one of the checkpoint that is gone on from."""
        kept = [row for row in self.rows() if row["step"] <= step] if step else []
        with new_file(self.path) as file:
            file.writelines(orjson.dumps(row) + b"\n" for row in kept)

    def add(self, step: int, figures: Mapping[str, float]) -> LogRow:
        """Append the figures of a step that are worth keeping and are numbers; returns them."""
        known = {name: float(figures[name]) for name in _KEPT if name in figures}
        row: LogRow = {"step": step, **{k: v for k, v in known.items() if isfinite(v)}}
        with self.path.open("ab") as file:
            file.write(orjson.dumps(row) + b"\n")
            file.flush()
        return row

    def draw(self) -> Path:
        """Draw the losses by step; returns the file."""
        path = self.folder / CURVE
        write_text(path, standalone(loss_curve(self.rows())))
        return path


def losses(rows: Iterable[LogRow], name: str = "loss") -> list[tuple[int, float]]:
    """Return the steps of a log with their loss: ``loss`` in training, ``eval_loss`` beside it."""
    return [(int(row["step"]), row[name]) for row in rows if name in row]


def loss_curve(rows: Iterable[LogRow]) -> str:
    """Return an SVG of the loss in training and on validation rows by step."""
    known = list(rows)
    named = (("training", "loss"), ("validation", "eval_loss"))
    curves = [Curve(name, tuple(losses(known, key))) for name, key in named]
    return curve_chart(
        [curve for curve in curves if curve.points],
        label="Loss by step, in training and on rows held out",
        axis="step",
    )
