"""Pictures of strategic metrics: along a discourse, and how often what was said."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from outputs.plots.bars import Bar, BarRow, bar_chart
from outputs.plots.canvas import standalone
from outputs.plots.curves import Curve, curve_chart
from quality.strategic.discourses import Discourse
from quality.strategic.distributions import Distribution
from quality.strategic.histograms import Histogram
from quality.strategic.moves import COMMITMENTS, MAXIMS
from quality.strategic.outcome_model import OutcomeModel
from quality.strategic.trajectory import AnswerMetrics
from scenarios.atomic_files import write_text
from scenarios.fingerprint import fingerprint

_METRICS: dict[str, Callable[[AnswerMetrics], float | None]] = {
    "NRBaT": lambda metrics: metrics.nrbat,
    "NRA": lambda metrics: metrics.nra,
    "benefit so far": lambda metrics: metrics.bat_sum,
    "penalty so far": lambda metrics: metrics.pat_sum,
}
_MOST_CURVES = 8


def write_strategic_plots(
    folder: Path,
    discourses: Sequence[Discourse],
    distributions: Sequence[Distribution],
    histograms: Sequence[Histogram],
    outcome: Sequence[OutcomeModel],
) -> list[Path]:
    """Write the pictures of dialogues, labels, metrics and of who wins; return their paths.

    Args:
        folder: made if need be; pictures of the same names are replaced.
        discourses: what annotators say about dialogues.
        distributions: the same, counted.
        histograms: of their metrics.
        outcome: models of who wins an answer.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, svg in _plots(discourses, distributions, histograms, outcome):
        path = folder / f"{name}.svg"
        write_text(path, standalone(svg))
        written.append(path)
    return written


def _plots(
    discourses: Sequence[Discourse],
    distributions: Sequence[Distribution],
    histograms: Sequence[Histogram],
    outcome: Sequence[OutcomeModel],
) -> Iterator[tuple[str, str]]:
    for dialogue in dict.fromkeys(discourse.dialogue for discourse in discourses):
        own = [discourse for discourse in discourses if discourse.dialogue == dialogue]
        for metric in _METRICS:
            name = f"{_file_name(dialogue)}-{metric.replace(' ', '-').lower()}"
            yield name, along_plot(own, metric)
    yield "labels", labels_plot(distributions)
    for metric in dict.fromkeys(shape.metric for shape in histograms):
        of_metric = [shape for shape in histograms if shape.metric == metric]
        yield metric.replace(" ", "-").lower(), distribution_plot(of_metric)
    if any(model.roc for model in outcome):
        yield "roc", roc_plot(outcome)


def along_plot(discourses: Sequence[Discourse], metric: str) -> str:
    """Return an SVG of one metric along one dialogue, a line per annotator.

    Args:
        discourses: of the same dialogue.
        metric: ``NRBaT``, ``NRA``, ``benefit so far`` or ``penalty so far``.
    """
    read = _METRICS[metric]
    curves = []
    for discourse in discourses:
        after_answers = (answer.metrics for answer in discourse.answers)
        values = [(float(n), read(metrics)) for n, metrics in enumerate(after_answers, 1)]
        points = tuple((n, value) for n, value in values if value is not None)
        if points:
            curves.append(Curve(discourse.annotator, points))
    label = f"{metric} along {discourses[0].dialogue}, by annotator"
    return curve_chart(curves, label=label, axis="answer", up=metric)


def distribution_plot(shapes: Sequence[Histogram]) -> str:
    """Return an SVG of how one metric is distributed, a line per dialogue.

    Args:
        shapes: of the same metric; at most eight of them are drawn, those of the most answers.
    """
    drawn = sorted(shapes, key=lambda shape: -shape.answers)[:_MOST_CURVES]
    metric = shapes[0].metric
    label = f"Shares of answers by {metric}, by dialogue"
    if len(shapes) > len(drawn):
        label += f"; the {len(drawn)} longest of {len(shapes)}"
    curves = [Curve(shape.dialogue, shape.bins) for shape in shapes if shape in drawn]
    return curve_chart(curves, label=label, axis=metric, up="share of answers")


def roc_plot(outcome: Sequence[OutcomeModel]) -> str:
    """Return an SVG of the ROC curve of every model that could be fitted, and of guessing.

    Source: CoBRA, Figure 8.
    """
    drawn = sorted((m for m in outcome if m.roc), key=lambda m: -m.answers)[: _MOST_CURVES - 1]
    curves = [
        Curve(f"{model.condition}: {model.auc:.2f}", model.roc)
        for model in outcome
        if model in drawn
    ]
    curves.append(Curve("guessing: 0.50", ((0.0, 0.0), (1.0, 1.0))))
    label = "ROC curves of the models of who wins an answer, with their areas"
    return curve_chart(
        curves,
        label=label,
        axis="share of lost answers that are taken for won",
        up="share of won answers that are taken for won",
    )


def labels_plot(distributions: Sequence[Distribution]) -> str:
    """Return an SVG of the shares of commitments and violations, a bar per discourse."""
    series = [f"{one.dialogue}, {one.annotator}" for one in distributions]
    rows = [
        BarRow(label, tuple(_share(o.commitments[label], o.answers) for o in distributions))
        for label in COMMITMENTS
    ]
    for maxim in MAXIMS:
        shares = tuple(_bar(o.violations[maxim]) for o in distributions)
        rows.append(BarRow(f"{maxim} violated", shares))
    rows.append(
        BarRow("inconsistent", tuple(_share(o.inconsistent, o.answers) for o in distributions))
    )
    label = "Shares of answers by commitment, by violated maxim, and of inconsistent ones"
    return bar_chart(rows, label=label, series=series, top=1.0)


def _share(count: int, answers: int) -> Bar:
    return _bar(count / answers if answers else None)


def _bar(share: float | None) -> Bar:
    return Bar(None, "not known") if share is None else Bar(share, f"{share:.1%}")


def _file_name(dialogue: str) -> str:
    """Return a name for a file; names that differ in odd characters alone stay apart."""
    plain = re.sub(r"[^\w.-]+", "_", dialogue, flags=re.ASCII).strip("._")[:80]
    return plain if plain == dialogue else f"{plain or 'dialogue'}-{fingerprint(dialogue)[:6]}"
