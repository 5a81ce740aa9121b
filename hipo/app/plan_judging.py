"""Estimate judging what a plan will play, beside what is there and waits to be judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Literal

from hipo.app.estimates import UTTERANCE, sample_cases, stand_in_label
from hipo.app.judge_estimates import (
    QuestionLengths,
    Unjudged,
    is_whole,
    judge_estimate,
    question_lengths,
    seated,
)
from hipo.app.judges import Panels
from hipo.app.judging_estimate import JudgingEstimate
from hipo.app.preparation import Prepared
from hipo.app.remaining import Remainder
from prompts.judges import JudgePrompts
from scenarios.case import Case
from scenarios.dialogue import Dialogue, TacticLabel, Turn
from scenarios.flow import planned_turns
from scenarios.schemes.spoken import spoken_dimensions
from scenarios.spec import Scenario


def planned_lengths(prepared: Prepared, panels: Panels, prompts: JudgePrompts) -> QuestionLengths:
    """Return how long the questions to judges will be, see :func:`question_lengths`."""
    return question_lengths(prompts, _stand_ins(prepared), whole=is_whole(panels))


def estimate_planned(
    panels: Panels,
    prompts: JudgePrompts,
    left: Mapping[str, Remainder],
    waiting: Unjudged,
    lengths: QuestionLengths,
) -> JudgingEstimate:
    """Estimate judging what will be played, and what is there and waits to be judged."""
    dialogues, turns = Counter(waiting.dialogues), Counter(waiting.turns)
    longest = dict(waiting.longest)
    for arm, of_arm in left.items():
        for seat in {juror.seat(prompts) for juror in panels.by_arm[arm].jurors}:
            dialogues[seat] += of_arm.dialogues
            turns[seat] += of_arm.exchanges
            if of_arm.dialogues:
                longest[seat] = max(longest.get(seat, 0), lengths.lines)
    arms = waiting.arms.union(left)
    played = sum(of_arm.dialogues for of_arm in left.values())
    return JudgingEstimate(
        waiting.generated + played,
        tuple(
            judge_estimate(
                seat, juror, dialogues[seat], turns[seat], lengths, longest=longest.get(seat, 0)
            )
            for seat, juror in seated(panels, prompts, arms).items()
        ),
    )


def _stand_ins(prepared: Prepared) -> Iterator[tuple[Dialogue, Scenario]]:
    """Yield a few cases of the plan as dialogues in which usual things are said."""
    for case in sample_cases(prepared):
        scenario = prepared.scenarios[case.scenario]
        yield _stand_in(prepared, case, scenario), scenario


def _stand_in(prepared: Prepared, case: Case, scenario: Scenario) -> Dialogue:
    turns = []
    for index, planned in enumerate(planned_turns(scenario, case)):
        labels: tuple[TacticLabel, ...] = ()
        if planned.labelled:
            role = planned.role if planned.phase else ""
            labels = tuple(map(stand_in_label, spoken_dimensions(prepared.scheme, role)))
        labelled = planned.labelled if planned.phase else None
        kind: Literal["opening", "improvised"] = "improvised" if planned.text is None else "opening"
        text = planned.text or UTTERANCE
        turns.append(Turn(index, planned.role, text, kind, tactic=labels, labelled=labelled))
    return Dialogue(case, "", tuple(turns))
