"""Judges that commit: they label words again, and never see the labels that were declared."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from pipeline.calls.asking import Asker, each
from pipeline.calls.client import AnswerUnusable
from prompts.judges import JudgePrompts, judge_view
from prompts.tasks.answers import BlindLabel
from quality.judges.comparison import agrees, expected
from quality.judges.protocol import JudgeExtension, JudgeIdentity, Questions
from scenarios.arms import Parameters
from scenarios.dialogue import Dialogue, Turn
from scenarios.schemes.model import Dimension, Scheme
from scenarios.spec import Scenario
from scenarios.verdicts import Judgement


@dataclass(frozen=True, slots=True)
class BlindJudge:
    """Asks one model for the labels of every answer, and of the whole dialogue.

    As the self-judge it is the generator, reading its own words again. As an external judge it is
    another model, and is also asked about the dimensions that only readers label.

    Source: HIPO, internal self-judgement; external evaluation, without showing the labels.
    """

    scheme: Scheme
    prompts: JudgePrompts
    asker: Asker
    seat: JudgeIdentity

    async def judge(self, dialogue: Dialogue, scenario: Scenario, epoch: int) -> list[Judgement]:
        """Return one judgement per answer and dimension, and those on the whole dialogue."""
        view = judge_view(scenario, dialogue.case)
        questions = Questions(self.asker, self.seat, dialogue, epoch)
        readers = self.seat.source == "external"
        about: list[tuple[Turn | None, tuple[Dimension, ...]]] = []
        calls = []
        for turn in dialogue.answers():
            asked = self.prompts.asked("utterance", readers=readers, role=turn.role)
            if not asked:
                continue
            question = self.prompts.turn(
                view, dialogue.history(turn.index), turn.text, readers=readers, role=turn.role
            )
            about.append((turn, asked))
            purpose = f"{self.seat.source}-turn"
            calls.append(partial(questions.put, question, turn.index, purpose))
        if asked := self.prompts.asked("dialogue", readers=readers):
            question = self.prompts.dialogue(view, dialogue.history(), readers=readers)
            about.append((None, asked))
            purpose = f"{self.seat.source}-dialogue"
            calls.append(partial(questions.put, question, len(dialogue.turns), purpose))
        return [
            judgement
            for (turn, asked), found in zip(
                about, await each(calls, together=self.asker.gathers), strict=True
            )
            for judgement in noted(self.scheme, questions, turn, asked, found)
        ]


def noted(
    scheme: Scheme,
    questions: Questions,
    turn: Turn | None,
    asked: tuple[Dimension, ...],
    found: tuple[BlindLabel, ...] | AnswerUnusable,
) -> list[Judgement]:
    """Return the judgements that follow from what a judge found: agreement is computed here.

    There is none on what is asked only beside labels that the judge did not find.
    """
    index = None if turn is None else turn.index
    if isinstance(found, AnswerUnusable):
        return [questions.note(index, d.id, None, None, found.reason) for d in asked]
    judgements = []
    by_id = {dimension.id: dimension for dimension in asked}
    for reading in found:
        dimension = by_id[reading.dimension]
        known = expected(scheme, questions.dialogue, turn, dimension)
        carried = None if known is None else agrees(dimension, known, reading.value)
        judgements.append(
            questions.note(
                index, dimension.id, reading.value, carried, reading.reason, second=reading.second
            )
        )
    return judgements


SELF = JudgeExtension(
    "self", BlindJudge, source="self", parameters=Parameters(temperature=0.0, max_tokens=1024)
)
EXTERNAL = JudgeExtension("external", BlindJudge)
