"""Estimate an evaluation before a request is sent: calls, tokens and dollars by task and model."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hipo.app.estimates import BYTES_PER_TOKEN
from hipo.app.evaluation_identity import check_folder
from hipo.app.evaluation_plan import ReadyEvaluation
from hipo.app.resumption import Resume
from pipeline.providers.protocol import Usage
from pipeline.store.answers import AnswerLog
from pipeline.store.evaluation_store import EvaluationStore
from prompts.question import Question
from prompts.tasks.modes import Mode
from quality.evaluation.item import EvaluationItem
from quality.evaluation.plan import TaskPlan

SAMPLE: Final = 24
"""Items of each task whose prompts are rendered to estimate the length of all."""
_LABEL_TOKENS: Final = 15
"""Usual length of one label in an answer, with its key."""
_REASON_TOKENS: Final[Mapping[Mode, int]] = {"zero-shot": 0, "icl": 0, "cot": 45, "two-phase": 0}
"""Usual length of the reason before one label."""
_EXPLANATION_TOKENS: Final = 120
NOTE: Final = (
    f"tokens are estimated from the prompts of {SAMPLE} items of each task at {BYTES_PER_TOKEN} bytes"
    " each, and answers at their usual length; a model that reasons at length takes more, and equal"
    " prompts are paid for once"
)


@dataclass(frozen=True, slots=True)
class TaskEstimate:
    """What one model takes for one task in one mode."""

    model: str
    task: str
    mode: str
    answers: int
    """Still to be given."""
    present: int
    """There already."""
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None
    """None: no price is known."""


@dataclass(frozen=True, slots=True)
class EvaluationEstimate:
    """What an evaluation takes."""

    items: int
    """Of the set."""
    lines: tuple[TaskEstimate, ...]

    @property
    def calls(self) -> int:
        """Calls of all together."""
        return sum(line.calls for line in self.lines)

    @property
    def cost_usd(self) -> float | None:
        """Dollars for everything; None if any price is not known."""
        costs = [line.cost_usd for line in self.lines if line.calls]
        return None if None in costs else sum(cost for cost in costs if cost is not None)


def estimate_evaluation(
    ready: ReadyEvaluation, folder: Path, *, resume: Resume = "if-possible"
) -> EvaluationEstimate:
    """Count what every model has still to be asked, and estimate what that costs.

    Raises:
        UsageError: the folder holds something else, or an evaluation that cannot be gone on with.
    """
    begun = check_folder(folder, ready, resume) is not None
    opened = EvaluationStore.open(folder) if begun else nullcontext()
    lines = []
    with opened as store:
        answers = None if store is None else store.answers
        for task in ready.plan.tasks:
            calls_each, prompt_each, answer_each = _per_item(task)
            for model in ready.plan.models:
                left = _left(ready, task, model, answers)
                usage = Usage(
                    prompt=round(left * prompt_each), completion=round(left * answer_each)
                )
                price = ready.uses[model].price
                lines.append(
                    TaskEstimate(
                        model=model,
                        task=task.prompts.task.id,
                        mode=task.prompts.mode,
                        answers=left,
                        present=task.asked - left,
                        calls=left * calls_each,
                        prompt_tokens=usage.prompt,
                        completion_tokens=usage.completion,
                        cost_usd=None if price is None else price.cost(usage),
                    )
                )
    return EvaluationEstimate(len(ready.items.items), tuple(lines))


def _left(ready: ReadyEvaluation, task: TaskPlan, model: str, answers: AnswerLog | None) -> int:
    """Return how many answers a model has still to give."""
    if answers is None:
        return task.asked
    retry = ready.settings.retry_failed
    return sum(
        len(
            answers.pending(
                ready.plan.seat(task, draw, repeat, model),
                [item.id for item in items],
                retry_failed=retry,
            )
        )
        for draw, repeat, items in task.rounds()
    )


def _per_item(task: TaskPlan) -> tuple[int, float, float]:
    """Return calls, prompt tokens and answer tokens for one item."""
    step = max(1, len(task.items) // SAMPLE)
    sample = task.items[::step][:SAMPLE]
    questions = [_questions(task, item) for item in sample]
    calls = len(questions[0])
    sizes = [
        sum(len(message.content.encode()) for question in asked for message in question.messages)
        for asked in questions
    ]
    explaining = calls // 2 if task.prompts.mode == "two-phase" else 0
    labels = len(task.prompts.dimensions)
    answer = labels * (_LABEL_TOKENS + _REASON_TOKENS[task.prompts.mode])
    return (
        calls,
        sum(sizes) / len(sizes) / BYTES_PER_TOKEN,
        answer + explaining * _EXPLANATION_TOKENS,
    )


def _questions(task: TaskPlan, item: EvaluationItem) -> list[Question[object]]:
    """Return everything that is asked about an item."""
    explanations = task.prompts.explain(item.asked)
    explained = [" " * _EXPLANATION_TOKENS * BYTES_PER_TOKEN] * len(explanations)
    asked = task.prompts.questions(item.asked, explained=explained)
    return [*(one.question for one in explanations), *(one.question for one in asked)]
