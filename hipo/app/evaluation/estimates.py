"""Estimate an evaluation before a request is sent: calls, tokens and dollars by task and model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from hipo.app.estimates.batches import BatchEstimate, labelling_batches
from hipo.app.estimates.budget_coverage import Coverage, covered_share
from hipo.app.estimates.playing import BYTES_PER_TOKEN, total_cost
from hipo.app.evaluation.carried import carried_answers
from hipo.app.evaluation.identity import check_folder
from hipo.app.evaluation.plan import ReadyEvaluation
from hipo.app.options.values import Resume
from pipeline.providers.protocol import Usage
from pipeline.providers.registry import PROVIDERS
from pipeline.store.answers import AnswerLog, EvaluationSeat
from pipeline.store.evaluation_store import EvaluationStore, Identity
from prompts.question import Question
from prompts.tasks.modes import Mode
from quality.evaluation.item import EvaluationItem
from quality.evaluation.plan import TaskPlan

_LABEL_TOKENS: Final = 15
"""Usual length of one label in an answer, with its key."""
_REASON_TOKENS: Final[Mapping[Mode, int]] = {"zero-shot": 0, "icl": 0, "cot": 45, "two-phase": 0}
"""Usual length of the reason before one label."""
_EXPLANATION_TOKENS: Final = 120
NOTE: Final = (
    f"tokens of prompts are estimated at {BYTES_PER_TOKEN} bytes each, and answers at their usual"
    " length; a model that reasons at length takes more; equal prompts are one call"
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
    at_providers: int = 0
    """Requests of an earlier start in batches that are not used yet; they are counted once more here."""
    budget: Coverage | None = None
    """How far the budget reaches; None without one, or where nothing costs."""
    batches: BatchEstimate | None = None
    """How often batches are waited for; None where nothing travels in batches."""

    @property
    def calls(self) -> int:
        """Calls of all together."""
        return sum(line.calls for line in self.lines)

    @property
    def answers(self) -> int:
        """Answers still to be given, all together."""
        return sum(line.answers for line in self.lines)

    @property
    def cost_usd(self) -> float | None:
        """Dollars for everything; None if any price is not known."""
        return total_cost(line.cost_usd for line in self.lines if line.calls)


def estimate_evaluation(
    ready: ReadyEvaluation, folder: Path, *, resume: Resume = "if-possible"
) -> EvaluationEstimate:
    """Count what every model has still to be asked, and estimate what that costs.

    Raises:
        UsageError: the folder holds something else, or an evaluation that cannot be gone on with.
    """
    before = check_folder(folder, ready, resume)
    opened = EvaluationStore.open(folder) if before is not None else nullcontext()
    with opened as store:
        answers = None if store is None else _Answered.found(store.answers, before, ready)
        at_providers = 0 if store is None else store.calls.batches.left()
        charges = None if store is None else store.charges()
        spent = (0.0, 0) if charges is None else (charges.charged_usd, charges.charged_tokens)
        lines, longest = [], 0
        for task in ready.plan.tasks:
            rounds = _rounds(task)
            longest = max(longest, _longest(rounds))
            lines += [_line(ready, task, rounds, model, answers) for model in ready.plan.models]
    found = EvaluationEstimate(len(ready.items.items), tuple(lines), at_providers)
    return replace(
        found, budget=_coverage(ready, found, longest, spent), batches=_batches(ready, found)
    )


def _batches(ready: ReadyEvaluation, found: EvaluationEstimate) -> BatchEstimate | None:
    """Return how long it takes in batches: whatever needs no other answer is asked at once."""
    if not ready.settings.limits.batch:
        return None
    left: Counter[str] = Counter()
    for line in found.lines:
        if PROVIDERS.get(ready.uses[line.model].spec.provider).batches:
            left[line.model] += line.answers
    asked = {line.mode for line in found.lines if left[line.model] and line.answers}
    if not asked:
        return None
    return labelling_batches(2 if "two-phase" in asked else 1, max(left.values()))


def _longest(rounds: Sequence[_AskingRound]) -> int:
    """Return the tokens of the longest prompt."""
    asked = (one for turn in rounds for requests in turn.requests.values() for one in requests)
    return max((one.usage.prompt for one in asked), default=0)


def _coverage(
    ready: ReadyEvaluation, found: EvaluationEstimate, longest: int, spent: tuple[float, int]
) -> Coverage | None:
    """Return how far the budget reaches; the longest prompt is held back with the longest answer."""
    settings, shares = ready.settings, list[float]()
    usd, tokens = 0.0, 0
    for model in {line.model for line in found.lines if line.calls}:
        use = ready.uses[model]
        most = 0 if use.spec.parameters is None else use.spec.parameters.max_tokens
        tokens = max(tokens, longest * BYTES_PER_TOKEN + most)
        if use.price is not None:
            usd = max(usd, use.price.worst(longest * BYTES_PER_TOKEN, most, 1))
    needed = sum(line.prompt_tokens + line.completion_tokens for line in found.lines)
    if settings.budget_usd is not None and found.cost_usd:
        shares.append(covered_share(settings.budget_usd - spent[0], usd, found.cost_usd))
    if settings.budget_tokens is not None and needed:
        shares.append(covered_share(settings.budget_tokens - spent[1], tokens, needed))
    if not shares:
        return None
    limits = (settings.budget_usd, settings.budget_tokens)
    return Coverage(*limits, *spent, min(shares), int(min(shares) * found.answers))


@dataclass(frozen=True, slots=True)
class _Answered:
    """What is answered already."""

    log: AnswerLog
    carried: Set[tuple[EvaluationSeat, str]]
    """Seats and items of which an answer stands that was given under a lower limit of tokens."""

    @classmethod
    def found(cls, log: AnswerLog, before: Identity | None, ready: ReadyEvaluation) -> _Answered:
        """Find out what stands."""
        return cls(log, {(s, one.item) for s, one in carried_answers(log, before, ready)})

    def pending(
        self, seat: EvaluationSeat, items: Sequence[str], *, retry_failed: bool
    ) -> Set[str]:
        """Return the items that a seat has still to be asked about."""
        left = self.log.pending(seat, items, retry_failed=retry_failed)
        return {item for item, _ in left if (seat, item) not in self.carried}


@dataclass(frozen=True, slots=True)
class _Request:
    """What one question takes; two that say the same are equal, and are paid for once."""

    key: int
    usage: Usage


@dataclass(frozen=True, slots=True)
class _AskingRound:
    """One time that a model is asked about items."""

    draw: int
    repeat: int
    requests: Mapping[str, tuple[_Request, ...]]
    """By item."""


def _rounds(task: TaskPlan) -> list[_AskingRound]:
    """Render whatever a task asks."""
    return [
        _AskingRound(draw, repeat, {item.id: tuple(_requests(task, item, draw)) for item in items})
        for draw, repeat, items in task.rounds()
    ]


def _requests(task: TaskPlan, item: EvaluationItem, draw: int) -> Iterator[_Request]:
    """Yield everything that is asked about an item."""
    prompts = task.prompts
    explanations = prompts.explain(item.asked)
    explained = [" " * _EXPLANATION_TOKENS * BYTES_PER_TOKEN] * len(explanations)
    for one in explanations:
        yield _request(one.question, _EXPLANATION_TOKENS)
    label = _LABEL_TOKENS + _REASON_TOKENS[prompts.mode]
    for asked in prompts.questions(item.asked, draw=draw, explained=explained):
        yield _request(asked.question, label * len(asked.dimensions))


def _request(question: Question[object], answer: int) -> _Request:
    prompt = round(question.size / BYTES_PER_TOKEN)
    return _Request(hash(question.messages), Usage(prompt=prompt, completion=answer))


def _line(
    ready: ReadyEvaluation,
    task: TaskPlan,
    rounds: Sequence[_AskingRound],
    model: str,
    answers: _Answered | None,
) -> TaskEstimate:
    """Count what one model has still to be asked for one task."""
    left, sent = 0, list[Usage]()
    for one in rounds:
        pending = _pending(ready, task, one, model, answers)
        there = {
            request
            for item, requests in one.requests.items()
            if item not in pending
            for request in requests
        }
        asked = {request for item in pending for request in one.requests[item]}
        left += len(pending)
        sent += [request.usage for request in asked - there]
    usage = Usage(
        prompt=sum(one.prompt for one in sent), completion=sum(one.completion for one in sent)
    )
    price = ready.uses[model].price
    return TaskEstimate(
        model=model,
        task=task.prompts.task.id,
        mode=task.prompts.mode,
        answers=left,
        present=task.asked - left,
        calls=len(sent),
        prompt_tokens=usage.prompt,
        completion_tokens=usage.completion,
        cost_usd=None if price is None else sum(price.cost_of_alike(one, 1) for one in sent),
    )


def _pending(
    ready: ReadyEvaluation, task: TaskPlan, one: _AskingRound, model: str, answers: _Answered | None
) -> Set[str]:
    """Return the items of a round that a model has still to answer."""
    if answers is None:
        return one.requests.keys()
    seat = ready.plan.seat(task, one.draw, one.repeat, model)
    return answers.pending(seat, list(one.requests), retry_failed=ready.settings.retry_failed)
