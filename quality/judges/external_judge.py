"""The external judge: another model says, after thinking, whether the labels are carried."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.asking import Asker
from pipeline.client import AnswerUnusable
from prompts.judges import COHERENCE, MISLED, JudgePrompts, TurnVerdict, judge_view
from quality.judges.protocol import JudgeExtension, JudgeIdentity, Questions
from scenarios.dialogue import Dialogue, TacticLabel, Turn
from scenarios.schemes.model import LabelValue, Scheme
from scenarios.spec import Scenario
from scenarios.verdicts import Judgement


@dataclass(frozen=True, slots=True)
class ExternalJudge:
    """Asks one model about each answer's labels and coherence, and whether the hearer is misled.

    Source: HIPO, external evaluation.
    """

    scheme: Scheme
    prompts: JudgePrompts
    asker: Asker
    seat: JudgeIdentity

    async def judge(self, dialogue: Dialogue, scenario: Scenario, epoch: int) -> list[Judgement]:
        """Return a judgement per answer and declared dimension, coherence, and one on misleading."""
        view = judge_view(scenario, dialogue.case)
        questions = Questions(self.asker, self.seat, dialogue, epoch)
        judgements: list[Judgement] = []
        for turn in dialogue.answers():
            history = dialogue.history(turn.index)
            declared = self._declared(turn)
            verdict = await questions.put(
                self.prompts.external_turn(view, history, turn.text, declared),
                turn.index,
                "external-turn",
            )
            judgements += self._on_turn(questions, turn, declared, verdict)
        misled = await questions.put(
            self.prompts.external_dialogue(view, dialogue.history()),
            len(dialogue.turns),
            "external-dialogue",
        )
        if isinstance(misled, AnswerUnusable):
            last = questions.note(None, MISLED, None, None, misled.reason)
        else:
            last = questions.note(None, MISLED, None, misled.misled, misled.reason)
        return [*judgements, last]

    def _declared(self, turn: Turn) -> tuple[TacticLabel, ...]:
        """Return the labels of a turn in the order of the scheme."""
        by_dimension = {label.dimension: label for label in turn.tactic}
        dimensions = self.scheme.utterance_dimensions
        return tuple(by_dimension[d.id] for d in dimensions if d.id in by_dimension)

    def _on_turn(
        self,
        questions: Questions,
        turn: Turn,
        declared: tuple[TacticLabel, ...],
        verdict: TurnVerdict | AnswerUnusable,
    ) -> list[Judgement]:
        asked: list[tuple[str, LabelValue | None]] = [(t.dimension, t.value) for t in declared]
        asked.append((COHERENCE, None))
        if isinstance(verdict, AnswerUnusable):
            return [
                questions.note(turn.index, dimension, value, None, verdict.reason)
                for dimension, value in asked
            ]
        said_of = {c.dimension: (c.carried, c.reason) for c in verdict.critiques}
        said_of[COHERENCE] = (verdict.coherent, verdict.coherence_reason)
        return [
            questions.note(turn.index, dimension, value, *said_of[dimension])
            for dimension, value in asked
        ]


JUDGE = JudgeExtension("external", ExternalJudge)
