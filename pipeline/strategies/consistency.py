"""Consistency-guided voting: sample several candidates, say the most consistent one."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.client import AnswerUnusable
from pipeline.strategies.protocol import Asker, Spoken, TurnTask
from pipeline.voting import Encoder, vote
from prompts.actors import ActorPrompts
from scenarios.dialogue import Candidate, Draft, Trace


@dataclass(frozen=True, slots=True)
class Consistency:
    """``k`` candidates per utterance; the one most like the others is said.

    Candidates that could not be read stay in the trace with their error and have no vote.

    Source: HIPO, section 4.4.1 (3).
    """

    prompts: ActorPrompts
    asker: Asker
    encoder: Encoder
    k: int = 4

    async def utter(self, task: TurnTask) -> Spoken:
        """Sample, embed and elect."""
        answers = await self.asker.ask_many(
            self.prompts.responder(task.view, task.history, task.wanted),
            task.context("responder"),
            k=self.k,
        )
        drafts = [answer if isinstance(answer, Draft) else None for answer in answers]
        result = await vote([draft.text if draft else None for draft in drafts], self.encoder)
        winner = drafts[result.winner]
        if winner is None:
            raise ValueError(f"the vote elected candidate {result.winner}, which has no text")
        candidates = tuple(
            Candidate(
                sample=sample,
                draft=draft,
                score=score,
                error=_why(answer) if isinstance(answer, AnswerUnusable) else None,
            )
            for sample, (answer, draft, score) in enumerate(
                zip(answers, drafts, result.scores, strict=True)
            )
        )
        trace = Trace(strategy="consistency", candidates=candidates, chosen=result.winner)
        return Spoken(winner, trace)


def _why(error: AnswerUnusable) -> str:
    return f"{error.code}: {error.reason}"
