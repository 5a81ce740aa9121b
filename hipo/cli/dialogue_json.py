"""A dialogue as plain data, for programs."""

from __future__ import annotations

from collections.abc import Mapping

from scenarios.dialogue import Attempt, Candidate, Dialogue, Draft, TacticLabel, Trace, Turn


def dialogue_as_json(
    dialogue: Dialogue, arm: Mapping[str, object], *, trace: bool
) -> dict[str, object]:
    """Return what ``hipo show RUN ID --format json`` prints.

    ``id``; ``case``: an object with ``id``, ``scheme``, ``scenario``, ``fact``, ``goal``, ``turns``,
    ``language``, ``variation``, ``repetition``, ``seed``; ``arm``: an object with ``id``,
    ``strategy``, ``models``, ``settings``; ``turns``: a list of objects with ``index``, ``role``,
    ``kind``, ``text``, ``wanted``, ``declared_goal``, ``tactic`` (objects with ``dimension``,
    ``value``, ``rationale``, ``raw``) and, with ``trace``, ``trace`` (None, or an object with
    ``strategy``, ``chosen``, ``candidates``, ``attempts``).
    """
    case = dialogue.case
    return {
        "id": f"{case.id}/{dialogue.arm}",
        "case": {
            "id": case.id,
            "scheme": case.scheme,
            "scenario": case.scenario,
            "fact": case.fact,
            "goal": case.goal,
            "turns": case.turns,
            "language": case.language,
            "variation": dict(case.variation),
            "repetition": case.repetition,
            "seed": case.seed,
        },
        "arm": {"id": dialogue.arm, **arm},
        "turns": [_turn(turn, trace=trace) for turn in dialogue.turns],
    }


def _turn(turn: Turn, *, trace: bool) -> dict[str, object]:
    plain: dict[str, object] = {
        "index": turn.index,
        "role": turn.role,
        "kind": turn.kind,
        "text": turn.text,
        "wanted": dict(turn.wanted),
        "declared_goal": turn.declared_goal,
        "tactic": [_label(label) for label in turn.tactic],
    }
    if trace:
        plain["trace"] = None if turn.trace is None else _trace(turn.trace)
    return plain


def _label(label: TacticLabel) -> dict[str, object]:
    return {
        "dimension": label.dimension,
        "value": label.value,
        "rationale": label.rationale,
        "raw": label.raw,
    }


def _trace(trace: Trace) -> dict[str, object]:
    return {
        "strategy": trace.strategy,
        "chosen": trace.chosen,
        "candidates": [_candidate(candidate) for candidate in trace.candidates],
        "attempts": [_attempt(attempt) for attempt in trace.attempts],
    }


def _candidate(candidate: Candidate) -> dict[str, object]:
    return {
        "sample": candidate.sample,
        "score": candidate.score,
        "error": candidate.error,
        "draft": None if candidate.draft is None else _draft(candidate.draft),
    }


def _attempt(attempt: Attempt) -> dict[str, object]:
    return {
        "draft": _draft(attempt.draft),
        "critiques": [
            {"dimension": c.dimension, "carried": c.carried, "reason": c.reason}
            for c in attempt.critiques
        ],
    }


def _draft(draft: Draft) -> dict[str, object]:
    return {
        "text": draft.text,
        "goal": draft.goal,
        "tactic": [_label(label) for label in draft.tactic],
    }
