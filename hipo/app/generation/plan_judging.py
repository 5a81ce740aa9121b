"""Estimate judging what a plan will play, beside what is there and waits to be judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hipo.app.estimates.judging import (
    QuestionLengths,
    Unjudged,
    is_whole,
    judge_estimate,
    question_lengths,
    seated,
    unjudged,
)
from hipo.app.estimates.judging_estimate import JudgingEstimate
from hipo.app.estimates.playing import UTTERANCE, sample_cases, stand_in_label
from hipo.app.judging.foils import shows_labels
from hipo.app.judging.judges import Panels
from hipo.app.preparation.prepared import Prepared
from hipo.app.preparation.remaining import Remainder, whole_plan
from pipeline.run_material import load_material
from pipeline.store.run_store import RunStore
from prompts.judges import JudgePrompts
from quality.verification.foils import foil_dimensions
from scenarios.case import Case
from scenarios.dialogue import Dialogue, TacticLabel, Turn, TurnKind
from scenarios.flow import planned_turns
from scenarios.schemes.spoken import spoken_dimensions
from scenarios.spec import Scenario

if TYPE_CHECKING:
    from hipo.app.generation.verified import VerifiedPlay


def estimate_verifying(
    prepared: Prepared, store: RunStore | None, play: VerifiedPlay, left: Mapping[str, Remainder]
) -> tuple[JudgingEstimate, JudgingEstimate]:
    """Estimate judging what is left of a plan and what waits to be judged, and judging all of the plan.

    Args:
        prepared: the plan.
        store: the run that goes on; None: it is a new one.
        play: how it is verified.
        left: what is still to be played, by arm id.

    Raises:
        UsageError: a judge or the policy is not fit.
    """
    waiting = Unjudged()
    if store is None:
        panels = play.check(prepared)
        prompts = play.prompts(prepared, prepared.prompts.templates.own or {})
    else:
        state = store.state()
        panels = play.check(prepared, state.arms)
        prompts = play.prompts(prepared, load_material(store).own_templates)
        enough = play.has_enough(store)
        waiting = Unjudged(state.generated) if enough else unjudged(store, panels, prompts)
    lengths = planned_lengths(prepared, panels, prompts)
    foils = planned_foils(prepared, panels, play)
    return (
        estimate_planned(panels, prompts, left, waiting, lengths, foils=foils),
        estimate_planned(panels, prompts, whole_plan(prepared), Unjudged(), lengths, foils=foils),
    )


@dataclass(frozen=True, slots=True)
class Foils:
    """What judges are shown wrong labels of."""

    answers: int = 0
    each: int = 0
    """Labels of an answer that are replaced, one at a time."""


def planned_foils(prepared: Prepared, panels: Panels, play: VerifiedPlay) -> Foils:
    """Return what judges will be shown wrong labels of."""
    return Foils(play.foils(prepared, panels), len(foil_dimensions(prepared.scheme)))


def planned_lengths(prepared: Prepared, panels: Panels, prompts: JudgePrompts) -> QuestionLengths:
    """Return how long the questions to judges will be, see :func:`question_lengths`."""
    jurors = [juror for panel in panels.by_arm.values() for juror in panel.external]
    return question_lengths(
        prompts,
        _stand_ins(prepared),
        verify=any(map(shows_labels, jurors)),
        whole=is_whole(panels),
    )


def estimate_planned(
    panels: Panels,
    prompts: JudgePrompts,
    left: Mapping[str, Remainder],
    waiting: Unjudged,
    lengths: QuestionLengths,
    *,
    foils: Foils,
) -> JudgingEstimate:
    """Estimate judging what will be played, and what is there and waits to be judged.

    Wrong labels are drawn from the answers of all dialogues: those that were there before have had
    their share.
    """
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
    jurors = seated(panels, prompts, arms)
    foiled = 0
    for seat, juror in jurors.items():
        if shows_labels(juror):
            new = dialogues[seat] / max(1, waiting.generated + played)
            wrong = round(min(foils.answers * new, turns[seat])) * foils.each
            turns[seat] += wrong
            foiled += wrong
    return JudgingEstimate(
        waiting.generated + played,
        tuple(
            judge_estimate(
                seat, juror, dialogues[seat], turns[seat], lengths, longest=longest.get(seat, 0)
            )
            for seat, juror in jurors.items()
        ),
        waiting.anew,
        rounds=bool(jurors) + bool(foiled),
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
        kind: TurnKind = "improvised" if planned.text is None else "opening"
        text = planned.text or UTTERANCE
        turns.append(Turn(index, planned.role, text, kind, tactic=labels, labelled=labelled))
    return Dialogue(case, "", tuple(turns))
