"""Report section: strategic metrics of labelled answers, and jurors beside the other annotators."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from outputs.report.page import Block, Grid, Plot, Remark, ReportSection, Table
from outputs.report.wording import NOTHING, count, percent
from outputs.strategic_plots import along_plot, labels_plot
from quality.strategic.comparison import LabelLikeness
from quality.strategic.discourses import Discourse
from quality.strategic.distributions import Distribution
from quality.strategic.moves import COMMITMENTS, MAXIMS
from quality.strategic.outcome_model import OutcomeModel

PLOTTED = 4
"""Dialogues whose course is drawn."""
_LEAD = (
    "What answers gain (BaT) and cost (PaT) whoever gives them, by labels of commitment, maxims and "
    "consistency; NRBaT is how far gain is ahead along a dialogue, NRA answers won less answers lost."
)


def strategic_section(
    discourses: Sequence[Discourse],
    distributions: Sequence[Distribution],
    likeness: Sequence[LabelLikeness],
    outcome: Sequence[OutcomeModel],
    run: str,
    *,
    titles: Mapping[str, str],
) -> ReportSection:
    """Return what annotators, jurors among them, say of the answers of a run.

    Args:
        discourses: the labels of every annotator, with the metrics.
        distributions: the same, counted, in the same order.
        likeness: of the annotators with each other, and of the reference with the others.
        outcome: models of who wins an answer.
        run: what the run is called on the command line.
        titles: of the scenarios of the dialogues that are drawn, the first few.
    """
    blocks: list[Block] = [_annotators(distributions)]
    drawn = list(dict.fromkeys(discourse.dialogue for discourse in discourses))[:PLOTTED]
    blocks.append(Grid(tuple(_course(discourses, dialogue, titles) for dialogue in drawn)))
    if len(distributions) <= PLOTTED:
        blocks.append(
            Grid((Plot("Commitments and violations, by annotator", labels_plot(distributions)),))
        )
    if likeness:
        blocks.append(_likeness(likeness))
    blocks.append(_outcome(outcome))
    blocks.append(Remark("Every answer and every pair:", f"hipo metrics strategic {run} --json -"))
    return ReportSection("strategic", "Strategic answers", _LEAD, tuple(blocks))


def _annotators(distributions: Iterable[Distribution]) -> Table:
    """Return the labels and the mean metrics of each annotator, all dialogues together."""
    by_annotator: defaultdict[str, list[Distribution]] = defaultdict(list)
    for one in distributions:
        by_annotator[one.annotator].append(one)
    rows = []
    for annotator, own in by_annotator.items():
        answers = sum(one.answers for one in own)
        rows.append(
            (
                annotator,
                count(len(own)),
                count(answers),
                *(percent(sum(o.commitments[c] for o in own) / answers) for c in COMMITMENTS),
                *(percent(_mean((o.violations[m], o.answers) for o in own)) for m in MAXIMS),
                percent(sum(one.inconsistent for one in own) / answers),
                percent(_mean((one.won, one.answers) for one in own)),
                _figure(_mean((one.bat.mean, one.answers) for one in own)),
                _figure(_mean((one.pat.mean, one.answers) for one in own)),
            )
        )
    header = (
        "annotator", "dialogues", "answers", *COMMITMENTS, *MAXIMS, "inconsistent", "won", "BaT",
        "PaT",
    )  # fmt: skip
    caption = (
        "Shares of answers by commitment, by violated maxim, contradicting and won; mean metrics"
    )
    return Table(caption, header, tuple(rows))


def _course(discourses: Sequence[Discourse], dialogue: str, titles: Mapping[str, str]) -> Plot:
    own = [discourse for discourse in discourses if discourse.dialogue == dialogue]
    title = f"NRBaT along “{titles[dialogue]}” ({dialogue[:8]})"
    return Plot(title, along_plot(own, "NRBaT"))


def _likeness(rows: Iterable[LabelLikeness]) -> Table:
    table = tuple(tuple(row) for row in _pairs(rows))
    caption = "How far annotators agree, pair by pair"
    return Table(caption, ("of", "statistic", "first", "second", "value", "answers"), table)


def _pairs(rows: Iterable[LabelLikeness]) -> Iterator[tuple[str, ...]]:
    for row in rows:
        for pair in row.pairs:
            yield (
                row.quantity, row.statistic, pair.first, pair.second, _figure(pair.value),
                count(pair.answers),
            )  # fmt: skip


def _outcome(models: Iterable[OutcomeModel]) -> Table:
    rows, reasons = [], {}
    for number, model in enumerate(m for m in models if not m.condition.startswith("dialogue ")):
        if model.note:
            reasons[number, 3] = model.note
        rows.append((
            model.condition, count(model.answers), count(model.won), _figure(model.auc),
            _figure(model.tjur), _figure(model.aic), percent(model.correct),
        ))  # fmt: skip
    header = ("answers that count", "answers", "won", "AUC", "Tjur R²", "AIC", "correct")
    caption = "Who wins an answer, by BaT and PaT (logistic regression)"
    return Table(caption, header, tuple(rows), reasons=reasons)


def _mean(values: Iterable[tuple[float | None, int]]) -> float | None:
    """Return the mean of what is known, weighted by the answers."""
    known = [(value, answers) for value, answers in values if value is not None]
    total = sum(answers for _, answers in known)
    return sum(value * answers for value, answers in known) / total if total else None


def _figure(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.2f}"
