"""How far annotators agree: people with people, or people with a model."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, get_args

import numpy as np

from quality.statistics.packages import statistics_package
from quality.strategic.discourses import Discourse, LabelledAnswer
from quality.strategic.moves import MAXIMS, Maxim, Move, Winner
from quality.strategic.trajectory import is_violated

AnswerKey = tuple[str, int]
"""(dialogue, turn)."""
Shared = Sequence[tuple[LabelledAnswer, LabelledAnswer]]
"""Answers that both annotators of a pair labelled: the first one's labels, the second one's."""


@dataclass(frozen=True, slots=True)
class PairFigure:
    """One statistic of one pair of annotators; ``value`` None where undefined."""

    first: str
    second: str
    value: float | None
    answers: int
    """Answers it rests on."""
    p: float | None = None
    """Of a rank correlation: the probability of one as strong without any relation."""


@dataclass(frozen=True, slots=True)
class LabelLikeness:
    """One statistic: its mean over the pairs that have one, and every pair."""

    quantity: str
    statistic: str
    pairs: tuple[PairFigure, ...]

    @property
    def value(self) -> float | None:
        """The mean over pairs; None where no pair has the statistic."""
        values = [pair.value for pair in self.pairs if pair.value is not None]
        return math.fsum(values) / len(values) if values else None

    @property
    def p(self) -> float | None:
        """The largest p of any pair: below a level only where every pair is."""
        return max((pair.p for pair in self.pairs if pair.p is not None), default=None)


def likeness(
    people: Sequence[Discourse], others: Sequence[Discourse] | None, *, threshold: int
) -> list[LabelLikeness]:
    """Compare every two annotators, or every one of ``people`` with every one of ``others``.

    Answers are joined by dialogue and turn. A pair that shares nothing of a quantity has no figure
    of it, and does not count in its mean.

    Args:
        people: discourses of the annotators to compare; the reference, where there are others.
        others: discourses of models, say; None compares people among themselves.
        threshold: from which rating on a maxim is violated.

    Raises:
        UsageError: the packages of the extra ``stats`` are missing.

    Source: CoBRA, sections 5 and 6, tables 3 (the area under the curve of outcomes) and 4.
    """
    first = _by_annotator(people)
    second = _by_annotator(others or ())
    pairs = (
        list(combinations(first, 2)) if others is None else [(a, b) for a in first for b in second]
    )
    known = first if others is None else second
    shared = {(a, b): _shared(first[a], known[b]) for a, b in pairs}
    rows = []
    measures = _measures(threshold)
    if others is not None:
        measures.append(("outcome", "AUC", _outcome_area))
    for name, statistic, measure in measures:
        figures = []
        for (a, b), answers in shared.items():
            if others is None and name == "inconsistent":
                figures += [measure(a, b, answers), measure(b, a, [(y, x) for x, y in answers])]
            else:
                figures.append(measure(a, b, answers))
        rows.append(LabelLikeness(name, statistic, tuple(figures)))
    return rows


@dataclass(frozen=True, slots=True)
class LikenessInDialogue:
    """How near one model, or person, is to the others in one dialogue."""

    dialogue: str
    annotator: str
    rows: tuple[LabelLikeness, ...]


def likeness_by_dialogue(
    people: Iterable[Discourse], others: Iterable[Discourse], *, threshold: int
) -> Iterator[LikenessInDialogue]:
    """Compare each of ``others`` with the people who labelled the same dialogue.

    Raises:
        UsageError: the packages of the extra ``stats`` are missing.

    Source: CoBRA, table 4.
    """
    reference: dict[str, list[Discourse]] = {}
    for one in people:
        reference.setdefault(one.dialogue, []).append(one)
    for one in others:
        if (mine := reference.get(one.dialogue)) is not None:
            rows = tuple(likeness(mine, [one], threshold=threshold))
            yield LikenessInDialogue(one.dialogue, one.annotator, rows)


Measure = Callable[[str, str, Shared], PairFigure]


def _measures(threshold: int) -> list[tuple[str, str, Measure]]:
    """Return what is compared, in the order of the paper's table."""
    rows: list[tuple[str, str, Measure]] = [
        (name, "Spearman rho", _correlation(read)) for name, read in _METRICS.items()
    ]
    rows.append(("commitment", "Cohen kappa", _cohen(lambda move: move.commitment)))
    rows += [(maxim, "Randolph kappa", _randolph(_violation(maxim, threshold))) for maxim in MAXIMS]
    rows += [
        ("inconsistent", "true positive rate", _true_positives),
        ("outcome", "Cohen kappa", _cohen(lambda move: move.winner)),
        ("reasons", "Jaccard, same outcome", _jaccard),
        ("reasons", "identical, same outcome", _identical),
    ]
    return rows


_METRICS: Final[Mapping[str, Callable[[LabelledAnswer], float | None]]] = {
    "BaT": lambda answer: answer.metrics.bat,
    "PaT": lambda answer: answer.metrics.pat,
    "NRBaT": lambda answer: answer.metrics.nrbat,
    "NRA": lambda answer: answer.metrics.nra,
}


def _by_annotator(discourses: Iterable[Discourse]) -> dict[str, dict[AnswerKey, LabelledAnswer]]:
    found: dict[str, dict[AnswerKey, LabelledAnswer]] = {}
    for discourse in discourses:
        answers = found.setdefault(discourse.annotator, {})
        answers.update({(discourse.dialogue, answer.turn): answer for answer in discourse.answers})
    return {annotator: found[annotator] for annotator in sorted(found)}


def _shared(
    first: Mapping[AnswerKey, LabelledAnswer], second: Mapping[AnswerKey, LabelledAnswer]
) -> Shared:
    return [(first[key], second[key]) for key in first if key in second]


def _violation(maxim: Maxim, threshold: int) -> Callable[[Move], bool | None]:
    return lambda move: is_violated(move.rating(maxim), threshold)


def _correlation(read: Callable[[LabelledAnswer], float | None]) -> Measure:
    def measure(first: str, second: str, answers: Shared) -> PairFigure:
        known = [
            (x, y) for a, b in answers if (x := read(a)) is not None if (y := read(b)) is not None
        ]
        xs, ys = [x for x, _ in known], [y for _, y in known]
        if len(set(xs)) < 2 or len(set(ys)) < 2:
            return PairFigure(first, second, None, len(known))
        found = statistics_package("scipy.stats").spearmanr(xs, ys)
        p = float(found.pvalue)
        return PairFigure(
            first, second, float(found.statistic), len(known), p if math.isfinite(p) else None
        )

    return measure


def _labels(answers: Shared, read: Callable[[Move], object]) -> list[tuple[object, object]]:
    pairs = [(read(a.move), read(b.move)) for a, b in answers]
    return [(x, y) for x, y in pairs if x is not None and y is not None]


def _cohen(read: Callable[[Move], object]) -> Measure:
    def measure(first: str, second: str, answers: Shared) -> PairFigure:
        pairs = _labels(answers, read)
        names = sorted({str(label) for pair in pairs for label in pair})
        table = np.zeros((len(names), len(names)))
        for x, y in pairs:
            table[names.index(str(x)), names.index(str(y))] += 1
        # One and the same label throughout: agreement by chance is 1, and kappa is 0/0.
        if len(names) < 2:
            return PairFigure(first, second, None, len(pairs))
        package = statistics_package("statsmodels.stats.inter_rater")
        value = float(package.cohens_kappa(table, return_results=False))
        return PairFigure(first, second, value, len(pairs))

    return measure


def _randolph(read: Callable[[Move], bool | None]) -> Measure:
    """Measure agreement on yes or no, where half of it would be chance."""

    def measure(first: str, second: str, answers: Shared) -> PairFigure:
        pairs = _labels(answers, read)
        same = _share(x == y for x, y in pairs)
        return PairFigure(first, second, None if same is None else 2 * same - 1, len(pairs))

    return measure


def _true_positives(first: str, second: str, answers: Shared) -> PairFigure:
    """Measure which share of what the first calls inconsistent the second does, too."""
    pairs = _labels(answers, lambda move: move.inconsistent)
    found = [y for x, y in pairs if x]
    return PairFigure(first, second, _share(bool(y) for y in found), len(found))


def _outcome_area(first: str, second: str, answers: Shared) -> PairFigure:
    """Measure how well the second's outcomes tell the first's apart: the area under the ROC curve.

    Of yes or no it is the mean share found of either side; None where the first knows one side alone.
    """
    pairs = _labels(answers, lambda move: move.winner)
    found = [_share(x == y for x, y in pairs if x == side) for side in get_args(Winner)]
    known = [share for share in found if share is not None]
    value = sum(known) / 2 if len(known) == 2 else None
    return PairFigure(first, second, value, len(pairs))


def _same_outcome(answers: Shared) -> list[tuple[frozenset[str], frozenset[str]]]:
    return [
        (a.move.reasons, b.move.reasons)
        for a, b in answers
        if a.move.winner is not None and a.move.winner == b.move.winner
        if a.move.reasons and b.move.reasons
    ]


def _jaccard(first: str, second: str, answers: Shared) -> PairFigure:
    pairs = _same_outcome(answers)
    shares = [len(x & y) / len(x | y) for x, y in pairs]
    value = math.fsum(shares) / len(shares) if shares else None
    return PairFigure(first, second, value, len(pairs))


def _identical(first: str, second: str, answers: Shared) -> PairFigure:
    pairs = _same_outcome(answers)
    return PairFigure(first, second, _share(x == y for x, y in pairs), len(pairs))


def _share(flags: Iterable[bool]) -> float | None:
    found = list(flags)
    return sum(found) / len(found) if found else None
