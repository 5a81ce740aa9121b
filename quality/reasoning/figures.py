"""The figures about a set of reasonings: solver against raters, raters against each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quality.agreement.agreement import AgreementRow, dimension_agreement
from quality.agreement.annotations import Answer
from quality.reasoning.binary_matrix import BinaryMatrix, binary_matrix
from quality.reasoning.error_types import ERROR_TYPES
from quality.reasoning.form import CORRECT, ERR_TYPE, STAGES, RaterForm, Stage
from quality.reasoning.gold import RaterGold, gold, rater_forms
from quality.reasoning.samples import ReasoningSample
from scenarios.schemes.model import Dimension, Label

ALL_GAMES = ""
"""Stands for all games together."""


@dataclass(frozen=True, slots=True)
class ClaimCounts:
    """How many claims the logs have, and whether solving them again says what the logs say."""

    well_formed: int
    malformed: int
    failing: int
    differing_attempts: int


@dataclass(frozen=True, slots=True)
class ErrorRate:
    """How many reasonings are not right, by whom: gold, the solver, or a rater."""

    game: str
    judge: str
    stage: Stage
    wrong: int
    total: int

    @property
    def rate(self) -> float | None:
        """The share of them."""
        return self.wrong / self.total if self.total else None


@dataclass(frozen=True, slots=True)
class ErrorTypeCount:
    """How often a rater found a kind of mistake, in so many logs of a game."""

    game: str
    error_type: str
    rater: str
    count: int
    logs: int


@dataclass(frozen=True, slots=True)
class FailedClaimCount:
    """How many claims of a kind of mistake do not hold in first or in last attempts of a game."""

    game: str
    kind: str
    """A label of ``err_type``, as raters give them."""
    stage: Stage
    count: int


@dataclass(frozen=True, slots=True)
class ReasoningFigures:
    """Everything that is counted."""

    logs: int
    raters: tuple[str, ...]
    attempts: Mapping[int, int]
    """How many logs have so many attempts."""
    claims: ClaimCounts
    matrices: Mapping[tuple[str, Stage], BinaryMatrix]
    """By game, all games first, and attempt: the solver's verdicts against gold."""
    not_counted: Mapping[Stage, int]
    """Logs without gold or without a verdict of the solver."""
    error_rates: tuple[ErrorRate, ...]
    failed_claims: tuple[FailedClaimCount, ...]
    """Empty where no claim failed in a first or a last attempt."""
    error_types: tuple[ErrorTypeCount, ...]
    agreement: tuple[AgreementRow, ...]

    def plain(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        return {
            "logs": self.logs,
            "raters": list(self.raters),
            "attempts": {str(n): count for n, count in sorted(self.attempts.items())},
            "claims": _fields(self.claims),
            "confusion": [
                {"game": game or None, "attempt": stage, **matrix.plain()}
                for (game, stage), matrix in self.matrices.items()
            ],
            "not_counted": dict(self.not_counted),
            "error_rates": [
                {**_fields(rate), "game": rate.game or None, "rate": rate.rate}
                for rate in self.error_rates
            ],
            "failed_claims": [
                {**_fields(count), "game": count.game or None} for count in self.failed_claims
            ],
            "error_types": [
                {**_fields(count), "game": count.game or None} for count in self.error_types
            ],
            "agreement": [
                {
                    "dimension": row.dimension,
                    "statistic": row.statistic,
                    "value": row.value,
                    "low": None if row.interval is None else row.interval.low,
                    "high": None if row.interval is None else row.interval.high,
                    "items": row.items,
                    "raters": row.annotators,
                    "note": row.note,
                }
                for row in self.agreement
            ],
        }


def reasoning_figures(
    samples: Sequence[ReasoningSample], forms: Sequence[RaterForm]
) -> ReasoningFigures:
    """Count everything there is to count about logs, and about forms where there are any.

    Args:
        samples: logs with what the solver says.
        forms: of raters, or a merged one.

    Raises:
        UsageError: agreement needs packages that are not installed.
    """
    truth = gold(forms)
    raters = rater_forms(forms)
    return ReasoningFigures(
        logs=len(samples),
        raters=tuple(form.name for form in raters),
        attempts=Counter(len(sample.verdicts) for sample in samples),
        claims=_claims(samples),
        matrices=_matrices(samples, truth) if forms else {},
        not_counted={
            stage: sum(_case(sample, truth, stage) is None for sample in samples)
            for stage in STAGES
        }
        if forms
        else {},
        error_rates=tuple(_error_rates(samples, raters, truth)),
        failed_claims=tuple(_failed_claims(samples)),
        error_types=tuple(_error_types(samples, raters)),
        agreement=_agreement(raters) if len(raters) > 1 else (),
    )


def games_of_samples(samples: Sequence[ReasoningSample]) -> list[str]:
    """Return the games there are, all of them together first."""
    named = sorted({sample.game_id for sample in samples if sample.game_id})
    return [ALL_GAMES, *named] if len(named) > 1 else [ALL_GAMES]


def _fields(record: Any) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__slots__}


def _claims(samples: Sequence[ReasoningSample]) -> ClaimCounts:
    verdicts = [verdict for sample in samples for verdict in sample.verdicts]
    return ClaimCounts(
        well_formed=sum(verdict.checked for verdict in verdicts),
        malformed=sum(verdict.malformed for verdict in verdicts),
        failing=sum(len(verdict.failing) for verdict in verdicts),
        differing_attempts=sum(verdict.differs for verdict in verdicts),
    )


def _case(sample: ReasoningSample, truth: RaterGold, stage: Stage) -> tuple[bool, bool] | None:
    """Return (predicted, true) of a log, or None where either is not known."""
    predicted = sample.predicted(stage)
    row = truth.get(sample.key)
    true = None if row is None else row[stage]
    return None if predicted is None or true is None else (predicted, true)


def _matrices(
    samples: Sequence[ReasoningSample], truth: RaterGold
) -> dict[tuple[str, Stage], BinaryMatrix]:
    matrices: dict[tuple[str, Stage], BinaryMatrix] = {}
    for game in games_of_samples(samples):
        for stage in STAGES:
            cases = [_case(s, truth, stage) for s in _of_game(samples, game)]
            matrices[game, stage] = binary_matrix(case for case in cases if case is not None)
    return matrices


def _of_game(samples: Sequence[ReasoningSample], game: str) -> list[ReasoningSample]:
    return [sample for sample in samples if game in (ALL_GAMES, sample.game_id)]


def _error_rates(
    samples: Sequence[ReasoningSample],
    raters: Sequence[RaterForm],
    truth: RaterGold,
) -> list[ErrorRate]:
    rates = []
    for game in games_of_samples(samples):
        chosen = _of_game(samples, game)
        for stage in STAGES:
            judges = {"solver": [sample.predicted(stage) for sample in chosen]}
            if truth:
                rows = [truth[s.key] for s in chosen if s.key in truth]
                judges["gold"] = [row[stage] for row in rows]
            for form in raters:
                own = [form.rows[s.key] for s in chosen if s.key in form.rows]
                judges[form.name] = [row.correct[stage] for row in own]
            for judge, answers in judges.items():
                known = [answer for answer in answers if answer is not None]
                rates.append(ErrorRate(game, judge, stage, known.count(False), len(known)))
    return rates


def _failed_claims(samples: Sequence[ReasoningSample]) -> list[FailedClaimCount]:
    counts = []
    for game in games_of_samples(samples):
        found = Counter(
            (kind, stage)
            for sample in _of_game(samples, game)
            for stage in STAGES
            for kind in sample.failed_kinds(stage)
        )
        for kind in ERROR_TYPES.values():
            if any(found[kind, stage] for stage in STAGES):
                counts += [FailedClaimCount(game, kind, s, found[kind, s]) for s in STAGES]
    return counts


def _error_types(
    samples: Sequence[ReasoningSample], raters: Sequence[RaterForm]
) -> list[ErrorTypeCount]:
    counts = []
    for game in games_of_samples(samples):
        keys = {sample.key for sample in _of_game(samples, game)}
        for form in raters:
            rows = [row for name, row in form.rows.items() if name in keys]
            for label in ERROR_TYPES.values():
                found = sum(label in row.error_types for row in rows)
                counts.append(ErrorTypeCount(game, label, form.name, found, len(rows)))
    return counts


def _labels(names: Sequence[str]) -> tuple[Label, ...]:
    return tuple(Label(id=name, definition=f"The answer {name}.") for name in names)


def _agreement(forms: Sequence[RaterForm]) -> tuple[AgreementRow, ...]:
    rows: list[AgreementRow] = []
    for stage, column in CORRECT.items():
        answers = [
            Answer(name, column, form.name, str(int(said)))
            for form in forms
            for name, row in form.rows.items()
            if (said := row.correct[stage]) is not None
        ]
        asked = Dimension(
            id=column,
            level="utterance",
            question="Is everything that is said of payoffs right?",
            labels=_labels(("0", "1")),
        )
        rows += dimension_agreement(asked, answers)
    answers = [
        Answer(name, ERR_TYPE, form.name, row.error_types)
        for form in forms
        for name, row in form.rows.items()
        if row.error_types or row.correct["original"]
    ]
    kinds = Dimension(
        id=ERR_TYPE,
        level="utterance",
        measurement="multi",
        question="Which kinds of mistakes are there?",
        labels=_labels(tuple(ERROR_TYPES.values())),
    )
    return (*rows, *dimension_agreement(kinds, answers))
