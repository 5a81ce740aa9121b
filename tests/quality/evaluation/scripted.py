"""Answers whose right scores are known by hand."""

from __future__ import annotations

from collections.abc import Sequence

from quality.evaluation.answers import ScoredAnswer
from quality.evaluation.scoring import ScoreKey
from quality.statistics.bootstrap import Resampling

LABELS = ("a", "b", "c")
KEY = ScoreKey("declared", "task", "zero-shot", "m/one", "d")
QUICK = Resampling(resamples=200)


def answered(
    pairs: Sequence[tuple[str, str | None]],
    *,
    per_case: int = 1,
    per_scenario: int = 1,
    **fields: object,
) -> list[ScoredAnswer]:
    """One answer per (right label, given label); None: unreadable, ``!x``: that fault."""
    found = []
    for number, (right, given) in enumerate(pairs):
        case = number // per_case
        fault = "unreadable" if given is None else given[1:] if given.startswith("!") else ""
        values = {
            "item": f"i{number:05}",
            "case": f"c{case:05}",
            "scenario": f"s{case // per_scenario:05}",
            "dimension": "d",
            "reference": right,
            "answer": None if fault else given,
            "fault": fault,
        }
        found.append(ScoredAnswer(**{**values, **fields}))  # type: ignore[arg-type]
    return found
