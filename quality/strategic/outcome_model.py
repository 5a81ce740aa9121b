"""Logistic regression of who wins an answer on its benefit and its penalty."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from quality.statistics.bootstrap import Floats, Interval
from quality.statistics.packages import statistics_package
from quality.strategic.discourses import Discourse, LabelledAnswer

_TERMS = ("intercept", "BaT", "PaT")
_MOST_DIALOGUES = 20
"""Of more dialogues than this, none has a model of its own."""
_Z = 1.959963984540054
"""The normal quantile of 95 % confidence."""


@dataclass(frozen=True, slots=True)
class Coefficient:
    """One term of the model, in log-odds of the witness winning."""

    term: str
    beta: float
    se: float
    p: float
    odds_ratio: float
    interval: Interval
    """Of the odds ratio, 95 %, after Wald."""


@dataclass(frozen=True, slots=True)
class OutcomeModel:
    """How well benefit and penalty tell who wins an answer; None where it cannot be fitted."""

    condition: str
    """Which answers: ``all answers``, those of one dialogue, or those with one reason given."""
    answers: int
    won: int
    """Answers that went to the witness."""
    left_out: int
    """Answers with outcome, benefit or penalty unknown."""
    coefficients: tuple[Coefficient, ...] = ()
    aic: float | None = None
    null_aic: float | None = None
    """Of the model with an intercept alone."""
    tjur: float | None = None
    """Mean fitted probability of answers won, less that of answers lost."""
    auc: float | None = None
    auc_interval: Interval | None = None
    """95 %, after DeLong."""
    auc_se: float | None = None
    """The standard error behind it."""
    roc: tuple[tuple[float, float], ...] = ()
    """The curve itself: shares of the lost and of the won answers that are taken for won, from (0, 0)
    to (1, 1), one point for each probability that the model gives."""
    others_auc: float | None = None
    """Of answers with one reason: the area of a model of the answers decided without it."""
    others_p: float | None = None
    """Of the difference of both areas; two-sided, after DeLong, no answer is in both."""
    correct: float | None = None
    """Share of answers that fall on the side of 0.5 where they belong."""
    note: str = ""
    """Why there is no model."""


def outcome_models(discourses: Sequence[Discourse]) -> list[OutcomeModel]:
    """Fit the model to all answers, to those of each dialogue, and to those of each reason given.

    Answers of several annotators count each for itself.

    Raises:
        UsageError: the packages of the extra ``stats`` are missing.

    Source: CoBRA, section 5, figure 8 for the reasons.
    """
    answers = [answer for discourse in discourses for answer in discourse.answers]
    reasons = sorted({reason for answer in answers for reason in answer.move.reasons or ()})
    models = [outcome_model("all answers", answers)]
    dialogues = list(dict.fromkeys(discourse.dialogue for discourse in discourses))
    for dialogue in dialogues if 1 < len(dialogues) <= _MOST_DIALOGUES else ():
        own = [a for d in discourses if d.dialogue == dialogue for a in d.answers]
        models.append(outcome_model(f"dialogue {dialogue}", own))
    return [*models, *(_for_reason(reason, answers) for reason in reasons)]


def _for_reason(reason: str, answers: Iterable[LabelledAnswer]) -> OutcomeModel:
    """Fit the model to answers decided for a reason, and compare it with that of the other answers.

    The other answers have reasons, too, but not this one.
    """
    decided = [answer for answer in answers if answer.move.reasons]
    own = outcome_model(
        f"reason {reason}", [a for a in decided if reason in (a.move.reasons or ())]
    )
    others = outcome_model("others", [a for a in decided if reason not in (a.move.reasons or ())])
    return replace(own, others_auc=others.auc, others_p=_difference_p(own, others))


def _difference_p(first: OutcomeModel, second: OutcomeModel) -> float | None:
    """Return how likely areas as different are by chance; None where an error is not known."""
    if first.auc is None or first.auc_se is None or second.auc is None or second.auc_se is None:
        return None
    error = math.hypot(first.auc_se, second.auc_se)
    return math.erfc(abs(first.auc - second.auc) / error / math.sqrt(2)) if error else None


def outcome_model(condition: str, answers: Iterable[LabelledAnswer]) -> OutcomeModel:
    """Fit the model to some answers.

    Raises:
        UsageError: the packages of the extra ``stats`` are missing.
    """
    answers = list(answers)
    rows = [
        (answer.move.winner == "witness", answer.metrics.bat, answer.metrics.pat)
        for answer in answers
        if answer.move.winner is not None
        and answer.metrics.bat is not None
        and answer.metrics.pat is not None
    ]
    won = np.array([row[0] for row in rows], dtype=np.float64)
    predictors = np.array([row[1:] for row in rows], dtype=np.float64).reshape(-1, 2)
    counts = (len(rows), int(won.sum()), len(answers) - len(rows))
    reason = _unfit(won, predictors)
    fit = None if reason else _fitted(won, predictors)
    if fit is None:
        return OutcomeModel(condition, *counts, note=reason or _SEPARATED)
    return _described(condition, counts, fit, won)


_SEPARATED = "benefit and penalty separate won from lost answers completely: no finite estimate"


def _unfit(won: Floats, predictors: Floats) -> str:
    """Say why no model can be fitted; empty where one can."""
    if len(won) == 0:
        return "no answer has outcome, benefit and penalty"
    if won.min() == won.max():
        side = "witness" if won[0] else "questioner"
        return f"every answer went to the {side}"
    for term, column in zip(_TERMS[1:], predictors.T, strict=True):
        if column.min() == column.max():
            return f"{term} is {column[0]:g} for every answer"
    design = np.column_stack([np.ones(len(won)), predictors])
    if np.linalg.matrix_rank(design) < design.shape[1]:
        return "BaT and PaT go up and down together"
    return ""


def _fitted(won: Floats, predictors: Floats) -> Any | None:
    """Return the results of statsmodels; None where the likelihood has no maximum."""
    api = statistics_package("statsmodels.api")
    design = api.add_constant(predictors, has_constant="add")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what they say is in the results
        try:
            results = api.Logit(won, design).fit(disp=0, maxiter=100)
        except (np.linalg.LinAlgError, ArithmeticError):
            return None
    errors = np.asarray(results.bse)
    fitted = np.asarray(results.predict())
    certain = np.abs(fitted - won).max() < 1e-6
    if certain or not results.mle_retvals["converged"] or not np.isfinite(errors).all():
        return None
    return results


def _described(
    condition: str, counts: tuple[int, int, int], results: Any, won: Floats
) -> OutcomeModel:
    fitted: Floats = np.asarray(results.predict(), dtype=np.float64)
    is_won = won == 1
    area, error = roc_area(fitted[is_won], fitted[~is_won])
    betas, errors, ps = (np.asarray(x) for x in (results.params, results.bse, results.pvalues))
    return OutcomeModel(
        condition,
        *counts,
        coefficients=tuple(
            Coefficient(
                term, float(b), float(e), float(p), math.exp(b),
                Interval(math.exp(b - _Z * e), math.exp(b + _Z * e)),
            )
            for term, b, e, p in zip(_TERMS, betas, errors, ps, strict=True)
        ),
        aic=float(results.aic),
        null_aic=float(2 - 2 * results.llnull),
        tjur=float(fitted[is_won].mean() - fitted[~is_won].mean()),
        auc=area,
        auc_interval=None if error is None else _bounded(area, error),
        auc_se=error,
        roc=roc_curve(fitted[is_won], fitted[~is_won]),
        correct=float(((fitted > 0.5) == is_won).mean()),
    )  # fmt: skip


def roc_area(positive: Floats, negative: Floats) -> tuple[float, float | None]:
    """Return the area under the ROC curve and its standard error; None with one of a kind.

    Args:
        positive: scores of those that should be high, shape ``(m,)``, at least one.
        negative: scores of the others, shape ``(n,)``, at least one.

    Source: DeLong, DeLong & Clarke-Pearson 1988.
    """
    above, beside = _placements(positive, negative), _placements(negative, positive)
    area = float(above.mean())
    if len(positive) < 2 or len(negative) < 2:
        return area, None
    variance = above.var(ddof=1) / len(positive) + beside.var(ddof=1) / len(negative)
    return area, math.sqrt(variance)


def roc_curve(positive: Floats, negative: Floats) -> tuple[tuple[float, float], ...]:
    """Return the points (false positive rate, true positive rate) from the strictest threshold on.

    Args:
        positive: scores of those that should be high, at least one.
        negative: scores of the others, at least one.

    Source: CoBRA, figure 8.
    """
    thresholds = np.unique(np.concatenate([positive, negative]))[::-1]
    found = ((negative >= t, positive >= t) for t in thresholds)
    return ((0.0, 0.0), *((float(f.mean()), float(t.mean())) for f, t in found))


def _bounded(area: float, error: float) -> Interval:
    return Interval(max(0.0, area - _Z * error), min(1.0, area + _Z * error))


def _placements(scores: Floats, others: Floats) -> Floats:
    """Return for each score the share of ``others`` below it, ties counted half."""
    ranked = np.sort(others)
    below = np.searchsorted(ranked, scores, "left") + np.searchsorted(ranked, scores, "right")
    placements: Floats = below / (2 * len(others))
    return placements
