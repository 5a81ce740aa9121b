"""How large the database of a run will be, from what will be asked and answered."""

from __future__ import annotations

from hipo.app.estimates import BYTES_PER_TOKEN, Estimate
from hipo.app.judging_estimate import JudgingEstimate

OF_DIALOGUE = 600
"""Bytes of the rows that each dialogue has once: its case, how it ended, the lines of the scenario."""
OF_SAMPLE = 550
"""Bytes of the rows that each answer has: its request, its prompt and its choice, with their indexes."""
TIMES_STORED = 2
"""An answer is stored as it came, and again in what is made of it: turns, labels, later prompts."""


def disk_bytes(generation: Estimate, judging: JudgingEstimate | None) -> int:
    """Return about how many bytes the database grows by; what a run begins with is not in it.

    Prompts are stored once as far as they are alike, and so hardly count.
    """
    samples = sum(calls.expected for arm in generation.arms for calls in arm.calls)
    tokens = sum(model.completion_tokens for model in generation.models)
    if judging is not None:
        samples += judging.calls
        tokens += sum(judge.completion_tokens for judge in judging.judges)
    said = TIMES_STORED * BYTES_PER_TOKEN * tokens
    return generation.dialogues * OF_DIALOGUE + round(samples) * OF_SAMPLE + said
