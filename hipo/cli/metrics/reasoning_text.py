"""Figures about reasonings as text for people, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from hipo.cli.terminal.console import columns
from quality.reasoning.error_types import ERROR_TYPES
from quality.reasoning.figures import ALL_GAMES, ReasoningFigures
from quality.reasoning.form import STAGES
from quality.tables.oddities import Oddity, kinds
from scenarios.plural import plural

_SHOWN = 10
"""Oddities of each kind in the text; JSON has all."""


def reasoning_as_json(figures: ReasoningFigures, oddities: Sequence[Oddity]) -> dict[str, Any]:
    """Return figures and oddities as plain data."""
    listed = [
        {
            "file": oddity.place.file,
            "row": oddity.place.row,
            "line": oddity.place.line,
            "column": oddity.place.column or None,
            "code": oddity.code,
            "found": oddity.found,
            "done": oddity.done,
            "left_out": oddity.left_out,
        }
        for oddity in oddities
    ]
    return {**figures.plain(), "oddities": listed}


def reasoning_as_text(figures: ReasoningFigures, oddities: Sequence[Oddity]) -> str:
    """Return figures and oddities in words and tables."""
    parts = [
        _claims(figures),
        _matrices(figures),
        _rates(figures),
        _failed_claims(figures),
        _error_types(figures),
        _agreement(figures),
        _oddities(oddities),
    ]
    return "\n\n".join(part for part in parts if part)


def _claims(figures: ReasoningFigures) -> str:
    claims = figures.claims
    attempts = ", ".join(f"{n}: {count}" for n, count in sorted(figures.attempts.items()))
    other = plural(claims.differing_attempts, "attempt")
    return (
        f"{plural(figures.logs, 'log')}; logs by number of attempts: {attempts}\n"
        f"{plural(claims.well_formed, 'claim')} solved, {claims.failing:,} failed, "
        f"{claims.malformed:,} malformed; {other} with another verdict than the log has"
    )


def _matrices(figures: ReasoningFigures) -> str:
    if not figures.matrices:
        return ""
    header = ["game", "attempt", "TP", "FP", "TN", "FN"]
    names = ["accuracy", "precision", "recall", "specificity", "f1"]
    rows = [
        [
            _game(game),
            stage,
            *(str(n) for n in (matrix.tp, matrix.fp, matrix.tn, matrix.fn)),
            *(_number(getattr(matrix, name)) for name in names),
        ]
        for (game, stage), matrix in figures.matrices.items()
    ]
    left = sum(figures.not_counted.values())
    note = (
        ""
        if not left
        else (
            "\nwithout gold or verdict, and not counted: "
            + ", ".join(f"{stage} {n}" for stage, n in figures.not_counted.items())
        )
    )
    title = "Solver against gold (positive: the reasoning is right; gold: all raters say so)"
    return f"{title}\n{columns([*header, *names[:-1], 'F1'], rows)}{note}"


def _rates(figures: ReasoningFigures) -> str:
    games = list(dict.fromkeys(rate.game for rate in figures.error_rates))
    judges = list(dict.fromkeys(rate.judge for rate in figures.error_rates))
    by_place = {(r.judge, r.game, r.stage): r for r in figures.error_rates}
    rows = []
    for game, stage in product(games, STAGES):
        cells = [by_place[judge, game, stage] for judge in judges]
        shares = (f"{_number(c.rate)} ({c.wrong}/{c.total})" for c in cells)
        rows.append([_game(game), stage, *shares])
    header = ["game", "attempt", *judges]
    return f"Share of reasonings that are not right\n{columns(header, rows)}"


def _failed_claims(figures: ReasoningFigures) -> str:
    if not figures.failed_claims:
        return ""
    counts = {(c.game, c.kind, c.stage): c.count for c in figures.failed_claims}
    rows = [
        [_game(game), kind, *(f"{counts[game, kind, stage]:,}" for stage in STAGES)]
        for game, kind in dict.fromkeys((c.game, c.kind) for c in figures.failed_claims)
    ]
    return f"Claims that failed, by kind of mistake\n{columns(['game', 'kind', *STAGES], rows)}"


def _error_types(figures: ReasoningFigures) -> str:
    if not figures.error_types:
        return ""
    counts = {(c.game, c.error_type, c.rater): c for c in figures.error_types}
    games = list(dict.fromkeys(c.game for c in figures.error_types))
    rows = [
        [_game(game), label, *(str(counts[game, label, rater].count) for rater in figures.raters)]
        for game in games
        for label in ERROR_TYPES.values()
    ]
    title = "Kinds of mistakes: logs in which a rater found one"
    return f"{title}\n{columns(['game', 'kind', *figures.raters], rows)}"


def _agreement(figures: ReasoningFigures) -> str:
    if not figures.agreement:
        return ""
    rows = [
        [
            row.dimension,
            row.statistic,
            _number(row.value),
            "" if row.interval is None else f"[{row.interval.low:.3f}, {row.interval.high:.3f}]",
            str(row.items),
            str(row.annotators),
            row.note,
        ]
        for row in figures.agreement
    ]
    header = ["column", "statistic", "value", "95 % interval", "logs", "raters", ""]
    return f"Agreement of raters\n{columns(header, rows)}"


def _oddities(oddities: Sequence[Oddity]) -> str:
    if not oddities:
        return ""
    lines = [f"{plural(len(oddities), 'thing')} odd in the files"]
    for code, count in kinds(oddities).items():
        lines.append(f"{code} ({count:,})")
        those = [oddity for oddity in oddities if oddity.code == code]
        lines += [f"  {oddity}" for oddity in those[:_SHOWN]]
        if count > _SHOWN:
            lines.append(f"  and {count - _SHOWN:,} more: see --json")
    return "\n".join(lines)


def _game(game: str) -> str:
    return "all" if game == ALL_GAMES else game


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
