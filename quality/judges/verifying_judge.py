"""The judge that is shown the declared labels, and says whether the words carry them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from pipeline.calls.asking import Asker, each
from pipeline.calls.client import AnswerUnusable
from prompts.judges import JudgePrompts, TurnVerdict, judge_view
from quality.judges.blind_judge import noted
from quality.judges.protocol import JudgeExtension, JudgeIdentity, Questions
from scenarios.dialogue import Dialogue, TacticLabel, Turn
from scenarios.schemes.model import Dimension, Scheme
from scenarios.spec import Scenario
from scenarios.verdicts import Judgement


@dataclass(frozen=True, slots=True)
class VerifyingJudge:
    """Asks one model about each answer's declared labels; what no speaker declares it labels blind.

    Source: HIPO, external evaluation.
    """

    scheme: Scheme
    prompts: JudgePrompts
    asker: Asker
    seat: JudgeIdentity

    async def judge(self, dialogue: Dialogue, scenario: Scenario, epoch: int) -> list[Judgement]:
        """Return a judgement per answer and declared dimension, and those readers alone give."""
        view = judge_view(scenario, dialogue.case)
        questions = Questions(self.asker, self.seat, dialogue, epoch)

        async def on_turn(turn: Turn, declared: tuple[TacticLabel, ...]) -> list[Judgement]:
            verdict = await self.verify(dialogue, scenario, turn, declared, epoch=epoch)
            return self._on_turn(questions, turn, declared, verdict)

        async def on_whole(asked: tuple[Dimension, ...]) -> list[Judgement]:
            whole = self.prompts.dialogue(view, dialogue.history(), readers=True)
            found = await questions.put(whole, len(dialogue.turns), "external-dialogue")
            return noted(self.scheme, questions, None, asked, found)

        calls: list[Callable[[], Awaitable[list[Judgement]]]] = [
            partial(on_turn, turn, declared)
            for turn in dialogue.answers()
            if (declared := self.declared(turn)) or self.prompts.read_of(turn.role)
        ]
        if asked := self.prompts.asked("dialogue", readers=True):
            calls.append(partial(on_whole, asked))
        parts = await each(calls, together=self.asker.gathers)
        return [judgement for part in parts for judgement in part]

    async def verify(
        self,
        dialogue: Dialogue,
        scenario: Scenario,
        turn: Turn,
        shown: tuple[TacticLabel, ...],
        *,
        epoch: int = 0,
        purpose: str = "external-verify",
    ) -> TurnVerdict | AnswerUnusable:
        """Return whether one answer carries the labels that are shown."""
        question = self.prompts.verify_turn(
            judge_view(scenario, dialogue.case),
            dialogue.history(turn.index),
            turn.text,
            shown,
            role=turn.role,
        )
        questions = Questions(self.asker, self.seat, dialogue, epoch)
        return await questions.put(question, turn.index, purpose)

    def declared(self, turn: Turn) -> tuple[TacticLabel, ...]:
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
        read = self.prompts.read_of(turn.role)
        if isinstance(verdict, AnswerUnusable):
            asked = [*(label.dimension for label in declared), *(d.id for d in read)]
            return [questions.note(turn.index, d, None, None, verdict.reason) for d in asked]
        return [
            *(
                questions.note(turn.index, c.dimension, None, c.carried, c.reason)
                for c in verdict.critiques
            ),
            *noted(self.scheme, questions, turn, read, verdict.readings),
        ]


JUDGE = JudgeExtension("verifier", VerifyingJudge)
