"""Answers that a lower limit of tokens did not cut off: they stand when the limit is raised."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from hipo.app.evaluation.plan import ReadyEvaluation
from pipeline.store.answers import FAILED, AnswerLog, EvaluationSeat, StoredAnswer
from pipeline.store.evaluation_store import Identity
from quality.evaluation.plan import seat_config
from quality.evaluation.replies import LIMIT, TRUNCATED

_LIMIT_OF_MODEL: Final = "max_tokens"
_EXPLAINED_FIRST: Final = "two-phase"
"""In this mode an explanation may have been cut off, which its answer does not tell."""


def carried_answers(
    answers: AnswerLog, before: Identity | None, ready: ReadyEvaluation
) -> Iterator[tuple[EvaluationSeat, StoredAnswer]]:
    """Yield what was answered under a lower limit, with the seat that it stands for now, and its limit.

    What was cut off is asked anew, and so is whatever differs in more than the limit: with the same
    messages and parameters a model writes the same, as far as a limit lets it.

    Args:
        answers: of the evaluation.
        before: what was asked when it was last begun; None: nothing.
        ready: what is asked now.
    """
    known = {} if before is None else before.get("models", {})
    plan = ready.plan
    for seat, task, _ in plan.seats():
        limit = _lower_limit(known.get(seat.model), plan.models[seat.model])
        if limit is None or seat.mode == _EXPLAINED_FIRST:
            continue
        fields = {**plan.models[seat.model], _LIMIT_OF_MODEL: limit}
        config = seat_config(plan.set_fingerprint, task.prompts.fingerprint, fields, plan.seed)
        for answer in answers.of(replace(seat, config=config)):
            if answer.status != FAILED and answer.code != TRUNCATED:
                content = {LIMIT: limit, **(answer.content or {})}
                yield seat, replace(answer, content=content)


def _lower_limit(before: Mapping[str, Any] | None, now: Mapping[str, object]) -> int | None:
    """Return the limit that a model had, where that is all that differs and it was lower."""
    if before is None:
        return None
    limit, raised = before.get(_LIMIT_OF_MODEL), now.get(_LIMIT_OF_MODEL)
    if not isinstance(limit, int) or not isinstance(raised, int) or limit >= raised:
        return None
    return limit if {**now, _LIMIT_OF_MODEL: limit} == before else None
