"""Judges that commit in one call: they label all utterances of a dialogue at once."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pipeline.calls.asking import Asker
from pipeline.calls.client import AnswerUnusable
from prompts.judges import JudgePrompts, judge_view
from quality.judges.blind_judge import EXTERNAL as EXTERNAL_BY_TURN
from quality.judges.blind_judge import SELF as SELF_BY_TURN
from quality.judges.blind_judge import BlindJudge, noted
from quality.judges.protocol import JudgeIdentity, Questions
from scenarios.arms import Parameters
from scenarios.dialogue import Dialogue
from scenarios.schemes.model import Scheme
from scenarios.spec import Scenario
from scenarios.verdicts import Judgement


@dataclass(frozen=True, slots=True)
class DialogueJudge:
    """Asks one model once for the labels of every answer, and of the dialogue as a whole.

    It asks for what :class:`~quality.judges.blind_judge.BlindJudge` asks for, and shows no more of
    what was declared; but an utterance is labelled by somebody who has read what came after it. An
    answer that lacks an utterance cannot be read, and is asked for again like any other.
    """

    scheme: Scheme
    prompts: JudgePrompts
    asker: Asker
    seat: JudgeIdentity

    async def judge(self, dialogue: Dialogue, scenario: Scenario, epoch: int) -> list[Judgement]:
        """Return one judgement per answer and dimension, and those on the whole dialogue."""
        readers = self.seat.source == "external"
        asked = [
            (turn, self.prompts.asked("utterance", readers=readers, role=turn.role))
            for turn in dialogue.answers()
        ]
        asked = [(turn, dimensions) for turn, dimensions in asked if dimensions]
        if not asked:  # at most the dialogue as a whole is left, which is one call, too
            by_turn = BlindJudge(self.scheme, self.prompts, self.asker, self.seat)
            return await by_turn.judge(dialogue, scenario, epoch)
        questions = Questions(self.asker, self.seat, dialogue, epoch)
        question = self.prompts.whole(readers=readers).question(
            judge_view(scenario, dialogue.case),
            dialogue.history(),
            [turn.index for turn, _ in asked],
        )
        purpose = f"{self.seat.source}-whole"
        found = await questions.put(question, len(dialogue.turns), purpose)
        judgements: list[Judgement] = []
        for turn, dimensions in asked:
            labels = found if isinstance(found, AnswerUnusable) else found.turns[turn.index]
            judgements += noted(self.scheme, questions, turn, dimensions, labels)
        dimensions = self.prompts.asked("dialogue", readers=readers)
        labels = found if isinstance(found, AnswerUnusable) else found.dialogue
        return [*judgements, *noted(self.scheme, questions, None, dimensions, labels)]


SELF = replace(
    SELF_BY_TURN,
    name="self-dialogue",
    build=DialogueJudge,
    parameters=Parameters(temperature=0.0, max_tokens=4096),
    whole=True,
)
EXTERNAL = replace(
    EXTERNAL_BY_TURN,
    name="external-dialogue",
    build=DialogueJudge,
    parameters=Parameters(temperature=0.0, max_tokens=8192),
    whole=True,
)
"""Longer answers than those of judges that are asked turn by turn: some 450 tokens an utterance."""
