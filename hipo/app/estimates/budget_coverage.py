"""What share of a plan a budget covers, before a request is sent."""

from __future__ import annotations

from dataclasses import dataclass

from hipo.app.estimates.judging_estimate import JudgingEstimate
from hipo.app.estimates.playing import BYTES_PER_TOKEN, Estimate, total_cost
from hipo.app.preparation.prepared import Prepared


@dataclass(frozen=True, slots=True)
class Coverage:
    """How far a budget reaches; one of the two limits is set at least."""

    budget_usd: float | None
    budget_tokens: int | None
    spent_usd: float
    """What of it is used up already."""
    spent_tokens: int
    share: float
    """Of what is still to be paid for; 1: all of it."""
    dialogues: int
    """About how many of those to be played that is; of an evaluation, of the answers to be given."""
    before_usd: float = 0.0
    """What those of a study that play before will probably take."""
    before_tokens: int = 0


def coverage(
    prepared: Prepared,
    generation: Estimate,
    judging: JudgingEstimate | None,
    spent: tuple[float, int],
    before: tuple[float, int] = (0.0, 0),
) -> Coverage | None:
    """Return how far the budget of a run reaches; None without a budget, or where nothing costs.

    A run ends when the next request at its worst would not fit any more, so that much of the budget
    is left unused.

    Args:
        prepared: what is to be played.
        generation: what is still to be played of it.
        judging: what is still to be judged; None: nothing is.
        spent: US dollars and tokens that count against the budget already.
        before: those that others will probably take who play before.
    """
    recipe = prepared.recipe
    usd, tokens = spent[0] + prepared.spent_elsewhere[0], spent[1] + prepared.spent_elsewhere[1]
    worst_usd, worst_tokens = _worst_request(prepared, generation, judging)
    needed_usd, needed_tokens = expected_spending(generation, judging)
    shares = []
    if recipe.budget_usd is not None and needed_usd:
        shares.append(covered_share(recipe.budget_usd - usd - before[0], worst_usd, needed_usd))
    if recipe.budget_tokens is not None and needed_tokens:
        left = recipe.budget_tokens - tokens - before[1]
        shares.append(covered_share(left, worst_tokens, needed_tokens))
    if not shares:
        return None
    share = min(shares)
    return Coverage(
        recipe.budget_usd,
        recipe.budget_tokens,
        usd,
        tokens,
        share,
        int(share * generation.dialogues),
        *before,
    )


def expected_spending(
    generation: Estimate, judging: JudgingEstimate | None
) -> tuple[float | None, int]:
    """Return US dollars (None: a price is not known) and tokens that playing and judging take."""
    tokens = sum(m.prompt_tokens + m.completion_tokens for m in generation.models)
    usd = generation.cost_usd
    if judging is not None:
        tokens += sum(j.prompt_tokens + j.completion_tokens for j in judging.judges)
        usd = total_cost((usd, judging.cost_usd))
    return usd, tokens


def covered_share(left: float, worst: float, needed: float) -> float:
    """Return how much of what is needed can be paid; its last request is held back at its worst."""
    if left >= needed + worst:
        return 1.0
    return min(1.0, max(0.0, left - worst) / needed)


def _worst_request(
    prepared: Prepared, generation: Estimate, judging: JudgingEstimate | None
) -> tuple[float, int]:
    """Return US dollars and tokens that the largest request of actors and judges holds back."""
    usd, tokens = 0.0, 0
    for judge in () if judging is None else judging.judges:
        usd, tokens = max(usd, judge.worst_usd), max(tokens, judge.worst_tokens)
    for arm in generation.arms:
        for calls in arm.calls:
            use = prepared.uses[arm.arm.id, calls.role]
            prompt, n = round(calls.prompt_tokens * BYTES_PER_TOKEN), calls.in_one(calls.model)
            most = 0 if use.spec.parameters is None else use.spec.parameters.max_tokens
            tokens = max(tokens, prompt + n * most)
            if use.price is not None:
                usd = max(usd, use.price.worst(prompt, most, n))
    return usd, tokens
