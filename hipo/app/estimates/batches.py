"""How long a plan takes in batches: rounds of questions that wait for each other, and hours."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from hipo.app.preparation.executors import LIVE_JOBS
from hipo.app.preparation.prepared import Prepared
from hipo.app.preparation.remaining import Remainder
from pipeline.strategies.registry import STRATEGIES
from scenarios.arms import Arm

USUAL_HOURS = 1.0
"""A batch is usually back within this time."""
MOST_HOURS = 24.0
"""... and always within this, or what is left of it expires."""


@dataclass(frozen=True, slots=True)
class BatchEstimate:
    """How often batches are waited for."""

    rounds: float
    """Questions that a dialogue of the slowest arm, or an item, asks one after the other, on average."""
    longest_rounds: float
    """The same of the longest of the plan, for which a command waits in any case."""
    most_rounds: float
    """... where every step of its strategy is needed; repairs come on top."""
    waves: int
    """How often all places for live dialogues or items are filled."""

    @property
    def usual_hours(self) -> float:
        """Hours for everything, where a batch is back within an hour."""
        of_all = math.ceil(self.rounds) * self.waves
        return max(of_all, math.ceil(self.longest_rounds)) * USUAL_HOURS


def labelling_batches(rounds: int, count: int) -> BatchEstimate:
    """Return how long models that label take in batches.

    Args:
        rounds: questions about a dialogue or item that wait for each other; all others are asked at
            once.
        count: how many dialogues or items there are for one model.
    """
    waves = max(1, math.ceil(count / LIVE_JOBS))  # foils may be all that is left
    return BatchEstimate(rounds, rounds, rounds, waves)


def batch_estimate(
    prepared: Prepared, left: Mapping[str, Remainder], *, judged: int
) -> BatchEstimate | None:
    """Estimate the rounds of what is left to play; None where nothing travels in batches.

    Args:
        prepared: what is to be played.
        left: what is still to be played, by arm id.
        judged: what judges are asked about a dialogue in a row; 0: there are none.
    """
    dialogues = sum(of_arm.dialogues for of_arm in left.values())
    if not prepared.recipe.limits.batch or not dialogues:
        return None
    rest = [(arm, left[arm.id]) for arm in prepared.arms if left[arm.id].dialogues]
    average = [
        _rounds(prepared, arm, one.exchanges / one.dialogues, one.questions / one.dialogues)
        for arm, one in rest
    ]
    longest = [
        _rounds(prepared, arm, one.labelled, one.others)
        for one in prepared.plan.lengths
        for arm, _ in rest
    ]
    return BatchEstimate(
        max(usual for usual, _ in average) + judged,
        max(usual for usual, _ in longest) + judged,
        max(most for _, most in longest) + judged,
        math.ceil(dialogues / LIVE_JOBS),
    )


def _rounds(
    prepared: Prepared, arm: Arm, exchanges: float, questions: float
) -> tuple[float, float]:
    """Return how many questions a dialogue of an arm asks in a row, usually and at most.

    Samples of one question are drawn together, however many they are.

    Args:
        prepared: what is to be played.
        arm: whose strategy decides how often is asked for an exchange.
        exchanges: improvised turns of labelled roles in the dialogue.
        questions: improvised turns of all others.
    """
    strategy = STRATEGIES.get(arm.strategy)
    usual = most = 0.0 if strategy.knows_all else questions
    for calls in strategy.calls(prepared.recipe.strategy_settings(arm.strategy)):
        times = 1.0 if calls.per_dialogue else exchanges
        together = calls.expected == calls.most
        usual += times * (1.0 if together else calls.expected)
        most += times * (1.0 if together else calls.most)
    return usual, most
