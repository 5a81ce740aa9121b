"""Choose the dialogues that are shown first: one of each strategy, with something to see in its trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pipeline.store.queries.report_rows import Sample
from pipeline.store.run_store import RunStore
from scenarios.dialogue import Dialogue

_LOOKED_AT = 60
"""Dialogues of each strategy that are looked at."""


def showcased(
    store: RunStore, samples: Sequence[Sample], strategies: Mapping[str, str]
) -> list[Sample]:
    """Return one dialogue of each strategy, from different scenarios and goals where that is possible.

    Accepted ones come first, then those of two exchanges, of several ways to treat the truth, with
    a revision, or with candidates that differ. The same run gives the same choice.

    Args:
        store: the run.
        samples: what to choose from.
        strategies: the strategy of each arm.
    """
    chosen: list[Sample] = []
    for strategy in dict.fromkeys(strategies.values()):
        own = [sample for sample in samples if strategies[sample.arm] == strategy][:_LOOKED_AT]
        scenarios = {sample.scenario for sample in chosen}
        goals = {sample.goal for sample in chosen[-1:]}
        ranked = sorted(
            own,
            key=lambda sample: (
                sample.scenario in scenarios,
                -_worth(sample, store.dialogue(sample.id)) - 2 * (sample.goal not in goals),
            ),
        )
        chosen += ranked[:1]
    return chosen


def _worth(sample: Sample, dialogue: Dialogue) -> int:
    answers = [turn for turn in dialogue.turns if turn.tactic]
    ways = {label.value for turn in answers for label in turn.tactic}
    worth = 8 * (sample.verdict == "accepted") + 6 * (sample.turns == 2) + min(len(ways), 5)
    traces = [turn.trace for turn in answers if turn.trace is not None]
    differing = [{c.draft.text for c in trace.candidates if c.draft} for trace in traces]
    revised = sum(len(trace.attempts) > 1 for trace in traces)
    # One revision among lines that were right at once shows best what reflection does.
    return worth + 2 * any(len(texts) > 2 for texts in differing) + (0, 9, 4)[min(revised, 2)]
