"""The records of quality: judgements, flags and decisions, as the store of a run keeps them."""

from __future__ import annotations

from pipeline.store.judgement_records import (
    VERDICTS,
    Assessment,
    Decision,
    Flag,
    Judgement,
    JudgeRun,
    Source,
    Verdict,
    VerdictCounts,
)

__all__ = [
    "VERDICTS",
    "Assessment",
    "Decision",
    "Flag",
    "JudgeRun",
    "Judgement",
    "Source",
    "Verdict",
    "VerdictCounts",
]
