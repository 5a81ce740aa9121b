"""The self-judgement: the generator labels its own words again, without the declared labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pipeline.asking import Asker
from pipeline.client import AnswerUnusable
from prompts.judges import JudgePrompts, judge_view
from quality.judges.protocol import JudgeExtension, JudgeIdentity, Questions
from scenarios.arms import Parameters
from scenarios.dialogue import Dialogue, TacticLabel, Turn
from scenarios.schemes.model import Dimension, LabelValue, Scheme
from scenarios.spec import Scenario
from scenarios.verdicts import Judgement

TOLERANCE: Final = 0.1
"""Share of an interval dimension's range within which two numbers agree, where it has no points."""
_ROUNDING = 1e-9


def tolerance_of(dimension: Dimension) -> float:
    """Return by how much two numbers on an interval dimension may differ and still agree.

    That is one step between its points where it has points, else a tenth of its range.
    """
    if dimension.range is None:
        return 0.0
    lowest, highest = dimension.range
    if dimension.points is not None:
        return (highest - lowest) / (dimension.points - 1)
    return TOLERANCE * (highest - lowest)


def agrees(dimension: Dimension, one: LabelValue, other: LabelValue) -> bool:
    """Whether two labels of a dimension say the same; numbers within :func:`tolerance_of`."""
    if isinstance(one, float | int) and isinstance(other, float | int):
        return abs(one - other) <= tolerance_of(dimension) + _ROUNDING
    if isinstance(one, tuple) and isinstance(other, tuple):
        return set(one) == set(other)
    return one == other


@dataclass(frozen=True, slots=True)
class SelfJudge:
    """Asks the generator's model for the labels anew: per answer, and the goal once.

    Source: HIPO, internal self-judgement.
    """

    scheme: Scheme
    prompts: JudgePrompts
    asker: Asker
    seat: JudgeIdentity

    async def judge(self, dialogue: Dialogue, scenario: Scenario, epoch: int) -> list[Judgement]:
        """Return one judgement per answer and utterance dimension, and one on the goal."""
        view = judge_view(scenario, dialogue.case)
        questions = Questions(self.asker, self.seat, dialogue, epoch)
        judgements: list[Judgement] = []
        for turn in dialogue.answers():
            history = dialogue.history(turn.index)
            labels = await questions.put(
                self.prompts.self_turn(view, history, turn.text),
                turn.index,
                "self-turn",
            )
            judgements += self._on_turn(questions, turn, labels)
        goal = await questions.put(
            self.prompts.self_goal(view, dialogue.history()),
            len(dialogue.turns),
            "self-goal",
        )
        return [*judgements, self._on_goal(questions, goal)]

    def _on_turn(
        self, questions: Questions, turn: Turn, labels: tuple[TacticLabel, ...] | AnswerUnusable
    ) -> list[Judgement]:
        declared = {label.dimension: label.value for label in turn.tactic}
        if isinstance(labels, AnswerUnusable):
            return [
                questions.note(turn.index, dimension.id, None, None, labels.reason)
                for dimension in self.scheme.utterance_dimensions
            ]
        judgements = []
        for label in labels:
            known = declared.get(label.dimension)
            dimension = self.scheme.dimension(label.dimension)
            carried = None if known is None else agrees(dimension, known, label.value)
            judgements.append(
                questions.note(turn.index, label.dimension, label.value, carried, label.rationale)
            )
        return judgements

    def _on_goal(
        self, questions: Questions, labels: tuple[TacticLabel, ...] | AnswerUnusable
    ) -> Judgement:
        """Compare the goal with the one assigned; an imported dialogue may have none."""
        goal = self.scheme.goal
        if isinstance(labels, AnswerUnusable):
            return questions.note(None, goal.id, None, None, labels.reason)
        (label,) = labels
        assigned = questions.dialogue.case.goal
        carried = agrees(goal, assigned, label.value) if assigned else None
        return questions.note(None, goal.id, label.value, carried, label.rationale)


JUDGE = JudgeExtension(
    "self", SelfJudge, source="self", parameters=Parameters(temperature=0.0, max_tokens=1024)
)
