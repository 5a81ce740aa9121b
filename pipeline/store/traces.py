"""Labels and traces as plain values that a table can hold, and back again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from scenarios.dialogue import (
    Attempt,
    Candidate,
    CheckedClaim,
    CheckedUtterance,
    Critique,
    Draft,
    TacticLabel,
    Trace,
)
from scenarios.terms import LabelValue

Stored = str | float | bytes


def stored_label(value: LabelValue) -> Stored:
    """Return a label for a column: text as it is, a number as REAL, several labels as a blob."""
    if isinstance(value, tuple):
        return orjson.dumps(value)
    return value if isinstance(value, str) else float(value)


def label_from(stored: Stored) -> LabelValue:
    """Return the label that :func:`stored_label` was given.

    Raises:
        ValueError: it was given none.
    """
    if isinstance(stored, str | float):
        return stored
    several = orjson.loads(stored) if isinstance(stored, bytes) else None
    if not isinstance(several, list) or not all(isinstance(label, str) for label in several):
        raise ValueError(f"{stored!r} is no label")
    return tuple(several)


def trace_json(trace: Trace) -> str:
    """Serialise how an utterance came to be."""
    plain = [
        trace.strategy,
        [
            [c.sample, None if c.draft is None else _plain_draft(c.draft), c.score, c.error]
            for c in trace.candidates
        ],
        [_plain_attempt(attempt) for attempt in trace.attempts],
        trace.chosen,
        *([trace.notes] if trace.notes else []),
    ]
    return orjson.dumps(plain, option=orjson.OPT_SERIALIZE_NUMPY).decode()


def trace_from(text: str) -> Trace:
    """Return the trace that :func:`trace_json` was given."""
    strategy, candidates, attempts, chosen, *notes = orjson.loads(text)
    return Trace(
        strategy=strategy,
        candidates=tuple(
            Candidate(sample, None if draft is None else _draft(draft), score, error)
            for sample, draft, score, error in candidates
        ),
        attempts=tuple(
            Attempt(
                _draft(draft),
                tuple(Critique(*critique) for critique in critiques),
                _verification(*verified),
            )
            for draft, critiques, *verified in attempts
        ),
        chosen=chosen,
        notes=tuple(notes[0]) if notes else (),
    )


def _plain_attempt(attempt: Attempt) -> list[object]:
    critiques = [[c.dimension, c.carried, c.reason] for c in attempt.critiques]
    plain: list[object] = [_plain_draft(attempt.draft), critiques]
    found = attempt.verification
    if found is not None:
        claims = [[c.kind, c.notation, c.holds, c.reason, c.quote] for c in found.claims]
        plain.append([found.verifier, claims, _plain_labels(found.labels)])
    return plain


def _verification(plain: Sequence[Any] | None = None) -> CheckedUtterance | None:
    if plain is None:
        return None
    verifier, claims, labels = plain
    return CheckedUtterance(verifier, tuple(CheckedClaim(*c) for c in claims), _labels(labels))


def _plain_draft(draft: Draft) -> list[object]:
    return [draft.text, draft.goal, _plain_labels(draft.tactic)]


def _draft(plain: Sequence[Any]) -> Draft:
    text, goal, labels = plain
    return Draft(text=text, goal=_label(goal), tactic=_labels(labels))


def _plain_labels(labels: Sequence[TacticLabel]) -> list[list[object]]:
    return [[t.dimension, t.value, t.rationale, t.raw] for t in labels]


def _labels(plain: Sequence[Any]) -> tuple[TacticLabel, ...]:
    return tuple(
        TacticLabel(dimension, _label(value), rationale, raw)
        for dimension, value, rationale, raw in plain
    )


def _label(plain: str | float | list[str]) -> LabelValue:
    return tuple(plain) if isinstance(plain, list) else plain
