"""Strategic metrics for the terminal, and as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace

from hipo.app.metrics.strategic import StrategicMetrics
from hipo.cli.reports.label_agreement import bounds
from hipo.cli.terminal.console import columns, number, plain
from quality.strategic.comparison import LabelLikeness, LikenessInDialogue
from quality.strategic.discourses import Discourse
from quality.strategic.distributions import Distribution
from quality.strategic.histograms import Histogram
from quality.strategic.model_pairs import QUANTITIES, PairedDifference
from quality.strategic.moves import COMMITMENTS, MAXIMS
from quality.strategic.outcome_model import OutcomeModel
from quality.strategic.shared_reasons import SharedReasons
from scenarios.plural import plural

_ODD = 10
"""Odd cells that are printed; the JSON has all."""
_MOST_DISCOURSES = 30
"""Dialogues and annotators that are printed apart."""
_BY_DIALOGUE = (*QUANTITIES, "inconsistent")
"""What is printed of those who are compared in each dialogue; the JSON has all."""
_ID = re.compile(r"\b([0-9a-f]{8})[0-9a-f]{8,}/([0-9a-f]{8})[0-9a-f]*$")


def strategic_as_text(found: StrategicMetrics) -> str:
    """Return what ``hipo metrics strategic`` prints."""
    return "\n\n".join(_sections(found))


def _sections(found: StrategicMetrics) -> Iterator[str]:
    formula, weights = found.formula, found.formula.weights
    dialogues = {discourse.dialogue for discourse in found.discourses}
    annotators = {discourse.annotator for discourse in found.discourses}
    yield (
        f"{plural(len(dialogues), 'dialogue')}, {plural(len(annotators), 'annotator')}; "
        f"{formula.variant.replace('_', ' ')}, weights relevance {weights.relevance:g}, "
        f"manner {weights.manner:g}, quality {weights.quality:g}, "
        f"consistency {weights.consistency:g}; violated from {formula.threshold} on"
    )
    if found.by:
        yield f"Answers by {' and '.join(found.by)}\n" + _answers_by(found)
        yield from _grouped(found)
    printed = found.distributions[:_MOST_DISCOURSES]
    left = len(found.distributions) - len(printed)
    note = f"\n(and {number(left)} more, see --json)" if left else ""
    yield "Labels: commitments, shares of answers that violate a maxim\n" + _labels(printed) + note
    yield "Metrics: mean of an answer, then where the witness stands at the end\n" + _ends(printed)
    net = [one for one in found.histograms if one.metric == "net benefit"]
    if len(net) > 1:
        title = "Net benefit of an answer: z-score of BaT less that of PaT, over all answers"
        yield f"{title}\n{_net(net[:_MOST_DISCOURSES])}"
    if found.agreement:
        yield "Agreement: mean over pairs of annotators\n" + _agreement(found.agreement)
    if found.reasons is not None:
        yield _reasons(found.reasons)
    if found.against:
        names = sorted({pair.second for row in found.against for pair in row.pairs})
        for name in names:
            yield f"Against {name}: mean over the others\n" + _agreement(
                [_only(row, name) for row in found.against]
            )
    if found.against_by_dialogue:
        title = "Against the others, by dialogue (* p < .05 of every pair)"
        yield f"{title}\n{_by_dialogue(found.against_by_dialogue)}"
    if found.pairs:
        title = "Pairs: how much nearer to the others the first is than the second, by dialogue"
        yield f"{title}\n{_pairs(found.pairs)}"
    yield "Who wins an answer, by benefit and penalty (logistic regression)\n" + _models(
        found.outcome
    )
    fitted = [model for model in found.outcome if model.coefficients]
    if fitted:
        yield "Coefficients, in log-odds of the witness winning\n" + _coefficients(fitted)
    if found.oddities:
        shown = [str(odd) for odd in found.oddities[:_ODD]]
        rest = len(found.oddities) - len(shown)
        more = [f"and {number(rest)} more, see --json"] if rest else []
        yield "\n".join(["Odd in the files:", *shown, *more])


def _only(row: LabelLikeness, name: str) -> LabelLikeness:
    return replace(row, pairs=tuple(pair for pair in row.pairs if pair.second == name))


def _labels(distributions: Iterable[Distribution], what: str = "dialogue") -> str:
    rows = [
        [
            _short(one.dialogue),
            one.annotator,
            number(one.answers),
            *(number(one.commitments[label]) for label in COMMITMENTS),
            *(_percent(one.violations[maxim]) for maxim in MAXIMS),
            number(one.inconsistent),
            _percent(one.won),
        ]
        for one in distributions
    ]
    header = [what, "annotator", "answers", *COMMITMENTS, *MAXIMS, "inconsistent", "won"]
    return columns(header, rows)


def _grouped(found: StrategicMetrics) -> Iterator[str]:
    """Yield the tables of the groups that --by makes."""
    what, rows = ", ".join(found.by), found.grouped.distributions[:_MOST_DISCOURSES]
    left = len(found.grouped.distributions) - len(rows)
    note = f"\n(and {number(left)} more, see --json)" if left else ""
    yield f"Labels by {what}\n{_labels(rows, what)}{note}"
    net = [one for one in found.grouped.histograms if one.metric == "net benefit"]
    if len(net) > 1:
        title = f"Net benefit of an answer by {what}: z-scores over all answers"
        yield f"{title}\n{_net(net[:_MOST_DISCOURSES], what)}"


def _ends(distributions: Iterable[Distribution]) -> str:
    rows = []
    for one in distributions:
        last = one.last
        rows.append([
            _short(one.dialogue), one.annotator, _figure(one.bat.mean), _figure(one.pat.mean),
            *(
                ["", "", "", ""] if last is None
                else map(_figure, (last.bat_sum, last.pat_sum, last.nrbat, last.nra))
            ),
        ])  # fmt: skip
    header = ["dialogue", "annotator", "BaT", "PaT", "sum BaT", "sum PaT", "NRBaT", "NRA"]
    return columns(header, rows)


def _net(rows: Iterable[Histogram], what: str = "dialogue") -> str:
    table = [
        [
            _short(one.dialogue), number(one.answers),
            *map(_figure, (one.mean, one.sd, one.low, one.median, one.high)),
        ]
        for one in rows
    ]  # fmt: skip
    return columns([what, "answers", "mean", "SD", "25%", "median", "75%"], table)


def _agreement(rows: Iterable[LabelLikeness]) -> str:
    table = []
    for row in rows:
        defined = [pair for pair in row.pairs if pair.value is not None]
        answers = [pair.answers for pair in defined] or [0]
        few, many = min(answers), max(answers)
        table.append([
            row.quantity, row.statistic, _figure(row.value), _p(row.p), number(len(defined)),
            number(few) if few == many else f"{few:,}-{many:,}",
        ])  # fmt: skip
    return columns(["of", "statistic", "value", "largest p", "pairs", "answers"], table)


def _by_dialogue(rows: Sequence[LikenessInDialogue]) -> str:
    """Return the table of who is compared in which dialogue, a column for each quantity."""
    wanted = [row.quantity for row in rows[0].rows if row.quantity in _BY_DIALOGUE]
    table = []
    for one in rows:
        of = {row.quantity: row for row in one.rows}
        cells = [f"{_figure(of[name].value)}{_star(of[name])}" for name in wanted]
        table.append([_short(one.dialogue), one.annotator, *cells])
    return columns(["dialogue", "who", *wanted], table)


def _star(row: LabelLikeness) -> str:
    return "*" if row.value is not None and row.p is not None and row.p < 0.05 else ""


def _reasons(found: SharedReasons) -> str:
    decided = f"{number(found.alike)} of {plural(found.decided, 'answer')}"
    said = f"All annotators decide {decided} alike"
    if not found.alike:
        return said
    return (
        f"{said}. Of the reasons that anybody names for these, all name {_percent(found.jaccard)} on "
        f"average (Jaccard); {_percent(found.identical)} of these have the same reasons from all"
    )


def _pairs(rows: Iterable[PairedDifference]) -> str:
    table = [
        [
            row.quantity, row.statistic, number(row.wins), number(row.losses), number(row.ties),
            _figure(row.mean), _figure(row.median), _figure(row.sd), bounds(row.interval),
            _p(row.p), _p(row.p_bonferroni),
        ]
        for row in rows
    ]  # fmt: skip
    header = [
        "of", "statistic", "wins", "losses", "ties", "mean", "median", "SD", "95%", "p",
        "p (Bonferroni)",
    ]  # fmt: skip
    return columns(header, table)


def _models(models: Iterable[OutcomeModel]) -> str:
    rows = []
    for model in models:
        near = model.auc_interval
        rows.append([
            _short(model.condition), number(model.answers), number(model.won), number(model.left_out),
            _figure(model.auc), "" if near is None else f"{near.low:.3f}-{near.high:.3f}",
            _figure(model.tjur), _figure(model.aic, 1), _figure(model.null_aic, 1),
            _percent(model.correct), _figure(model.others_auc), _p(model.others_p), model.note,
        ])  # fmt: skip
    header = [
        "answers that count", "n", "won", "left out", "AUC", "95%", "Tjur R2", "AIC",
        "AIC of none", "correct", "AUC of others", "p", "",
    ]  # fmt: skip
    return columns(header, rows)


def _coefficients(models: Iterable[OutcomeModel]) -> str:
    rows = [
        [
            _short(model.condition), term.term, _figure(term.beta), _figure(term.se),
            _figure(term.odds_ratio), f"{term.interval.low:.2f}-{term.interval.high:.2f}",
            _p(term.p),
        ]
        for model in models
        for term in model.coefficients
    ]  # fmt: skip
    return columns(["answers that count", "term", "beta", "SE", "odds ratio", "95%", "p"], rows)


def _short(dialogue: str) -> str:
    """Return the id of a dialogue of a run by the beginnings of its parts."""
    return _ID.sub(r"\1/\2", dialogue)


def _figure(value: float | None, digits: int = 3) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _percent(value: float | None) -> str:
    return "" if value is None else f"{value:.1%}"


def _p(value: float | None) -> str:
    if value is None:
        return ""
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def _answers_by(found: StrategicMetrics) -> str:
    """Return a row for each value of the first column; of two, with the share of each of the second."""
    first, *rest = found.by
    if not rest:
        return columns([first, "answers"], [[g, number(n)] for (g,), n in found.answers_by.items()])
    across = sorted({group[1] for group in found.answers_by})
    rows = []
    for name in dict.fromkeys(group[0] for group in found.answers_by):
        counts = [found.answers_by.get((name, other), 0) for other in across]
        total = sum(counts)
        shares = [f"{n / total:.1%}" for n in counts]
        rows.append([name, *map(number, counts), number(total), *shares])
    head = [first, *across, "total", *(f"{other} %" for other in across)]
    return columns(head, rows)


def strategic_as_json(found: StrategicMetrics) -> dict[str, object]:
    """Return what ``hipo metrics strategic --json`` writes.

    ``formula``; ``distributions``, one per dialogue and annotator; ``histograms``, one per metric and
    dialogue; ``agreement`` of the reference
    annotators with every pair, and ``against`` of them with the others, ``against_by_dialogue`` apart; ``reasons`` of three or more
    of them; ``pairs`` of models; ``outcome`` models; ``answers_by``: how many answers there are by the
    columns of --by; ``distributions_by`` and ``histograms_by``, whose ``dialogue`` is such a group;
    ``answers``, one per dialogue, annotator and turn, with its labels and
    where the witness then stands; ``odd``: what was odd in the files.
    """
    return {
        "formula": asdict(found.formula),
        "distributions": [_distribution(one) for one in found.distributions],
        "histograms": [asdict(one) for one in found.histograms],
        "agreement": list(map(_likeness, found.agreement)),
        "against": list(map(_likeness, found.against)),
        "against_by_dialogue": [
            {
                **plain(one, "dialogue annotator"),
                "statistics": [plain(row, "quantity statistic value p") for row in one.rows],
            }
            for one in found.against_by_dialogue
        ],
        "reasons": None if found.reasons is None else asdict(found.reasons),
        "pairs": [asdict(row) for row in found.pairs],
        "outcome": [asdict(model) for model in found.outcome],
        "answers_by": [
            {"by": dict(zip(found.by, group, strict=True)), "answers": n}
            for group, n in found.answers_by.items()
        ],
        "distributions_by": [_distribution(one) for one in found.grouped.distributions],
        "histograms_by": [asdict(one) for one in found.grouped.histograms],
        "answers": [row for one in found.discourses for row in _answers(one)],
        "odd": [
            {**plain(o, "code found done left_out"), **asdict(o.place)} for o in found.oddities
        ],
    }


def _likeness(row: LabelLikeness) -> dict[str, object]:
    return plain(row, "quantity statistic value p", pairs=[asdict(pair) for pair in row.pairs])


def _distribution(one: Distribution) -> dict[str, object]:
    ratings = {
        maxim: {str(rating): count for rating, count in counts.items()}
        for maxim, counts in one.ratings.items()
    }
    return {**asdict(one), "ratings": ratings}


def _answers(one: Discourse) -> Iterator[dict[str, object]]:
    for answer in one.answers:
        move = answer.move
        reasons = None if move.reasons is None else sorted(move.reasons)
        yield {
            **plain(one, "dialogue annotator"),
            "turn": answer.turn,
            **plain(move, "commitment relevance manner quality inconsistent winner"),
            "reasons": reasons,
            **asdict(answer.metrics),
        }
