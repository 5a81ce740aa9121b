"""What programs found in the utterances of a dialogue, as labels."""

from __future__ import annotations

from typing import Final

from pipeline.store.annotations import LabelRow, LabelSource
from scenarios.annotations import VERIFIER
from scenarios.dialogue import Attempt, Dialogue

CLAIM: Final = "claim"
"""The dimension under which a claim is said to hold or to fail."""
HOLDS: Final = "holds"
FAILS: Final = "fails"


def verified_labels(dialogue: Dialogue) -> dict[LabelSource, list[LabelRow]]:
    """Return the labels of every verifier: of what was said, of every attempt, of every claim.

    An attempt is a part of its turn, called ``attempt 0`` and so on, and so is each of its claims,
    called ``attempt 0 claim 2``. The labels of the attempt that was said are those of the turn.
    """
    labels: dict[LabelSource, list[LabelRow]] = {}
    for turn in dialogue.turns:
        if turn.trace is None:
            continue
        for number, attempt in enumerate(turn.trace.attempts):
            found = attempt.verification
            if found is None:
                continue
            rows = labels.setdefault(LabelSource(VERIFIER, found.verifier, ""), [])
            if number == turn.trace.chosen:
                rows += [LabelRow(turn.index, t.dimension, t.value) for t in found.labels]
            rows += _of_attempt(turn.index, number, attempt)
    return labels


def _of_attempt(turn: int, number: int, attempt: Attempt) -> list[LabelRow]:
    found = attempt.verification
    if found is None:
        return []
    name = f"attempt {number}"
    rows = [LabelRow(turn, label.dimension, label.value, part=name) for label in found.labels]
    for place, claim in enumerate(found.claims):
        value = HOLDS if claim.holds else FAILS
        quoted = f'"{claim.quote}": ' if claim.quote else ""
        part = f"{name} claim {place}"
        why = f"{quoted}{claim.reason}"
        rows.append(LabelRow(turn, CLAIM, value, why, raw=claim.notation, part=part))
    return rows
