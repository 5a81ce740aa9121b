"""Labels and traces as plain values that a table can hold, and back again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from scenarios.dialogue import Attempt, Candidate, Critique, Draft, TacticLabel, Trace
from scenarios.schemes.model import LabelValue

Stored = str | float | bytes


def stored_label(value: LabelValue) -> Stored:
    """Return a label for a column: text as it is, a number as REAL, several labels as a blob."""
    if isinstance(value, tuple):
        return orjson.dumps(value)
    return value if isinstance(value, str) else float(value)


def label_from(stored: Stored) -> LabelValue:
    """Return the label that :func:`stored_label` was given."""
    if isinstance(stored, bytes):
        return tuple(orjson.loads(stored))
    return stored


def trace_json(trace: Trace) -> str:
    """Serialise how an utterance came to be."""
    plain = [
        trace.strategy,
        [
            [c.sample, None if c.draft is None else _plain_draft(c.draft), c.score, c.error]
            for c in trace.candidates
        ],
        [
            [_plain_draft(a.draft), [[c.dimension, c.carried, c.reason] for c in a.critiques]]
            for a in trace.attempts
        ],
        trace.chosen,
        *([trace.notes] if trace.notes else []),
    ]
    return orjson.dumps(plain).decode()


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
            Attempt(_draft(draft), tuple(Critique(*critique) for critique in critiques))
            for draft, critiques in attempts
        ),
        chosen=chosen,
        notes=tuple(notes[0]) if notes else (),
    )


def _plain_draft(draft: Draft) -> list[object]:
    labels = [[t.dimension, t.value, t.rationale, t.raw] for t in draft.tactic]
    return [draft.text, draft.goal, labels]


def _draft(plain: Sequence[Any]) -> Draft:
    text, goal, labels = plain
    return Draft(
        text=text,
        goal=_label(goal),
        tactic=tuple(
            TacticLabel(dimension, _label(value), rationale, raw)
            for dimension, value, rationale, raw in labels
        ),
    )


def _label(plain: str | float | list[str]) -> LabelValue:
    return tuple(plain) if isinstance(plain, list) else plain
