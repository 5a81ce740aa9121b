"""Consistency-guided voting: sample several candidates, say the most consistent one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from pipeline.asking import Asker, TurnTask
from pipeline.client import AnswerUnusable
from pipeline.expected_calls import ArmParts, answer_calls
from pipeline.strategies.protocol import Spoken
from pipeline.strategies.registry import StrategyExtension
from pipeline.voting import Encoder, vote
from prompts.actors import ActorPrompts
from scenarios.dialogue import Candidate, Draft, Trace
from scenarios.errors import UsageError
from scenarios.strict import Strict


class ConsistencySettings(Strict):
    """Voting: how many candidates, and how freely they are sampled.

    Source: HIPO, section 4.4.1 (3).
    """

    k: Annotated[int, Field(ge=2, le=64)] = 4
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.6


@dataclass(frozen=True, slots=True)
class Consistency:
    """``k`` candidates per utterance; the one most like the others is said.

    Candidates that could not be read stay in the trace with their error and have no vote. Those
    that say again what was said vote, but are elected only if all do: asking for each of them once
    more would cost up to ``k`` calls, and one that is new is enough.

    Source: HIPO, section 4.4.1 (3).
    """

    prompts: ActorPrompts
    asker: Asker
    encoder: Encoder
    k: int = 4

    async def utter(self, task: TurnTask) -> Spoken:
        """Sample, embed and elect."""
        question = self.prompts.responder(task.view, task.history, task.wanted)
        answers = await self.asker.ask_many(question, task.context("responder"), k=self.k)
        drafts = [answer if isinstance(answer, Draft) else None for answer in answers]
        objected = [i for i, draft in enumerate(drafts) if draft and question.objections(draft)]
        result = await vote(
            [draft.text if draft else None for draft in drafts], self.encoder, objected
        )
        winner = drafts[result.winner]
        if winner is None:
            raise ValueError(f"the vote elected candidate {result.winner}, which has no text")
        candidates = tuple(
            Candidate(
                sample=sample,
                draft=draft,
                score=score,
                error=f"{answer.code}: {answer.reason}"
                if isinstance(answer, AnswerUnusable)
                else None,
            )
            for sample, (answer, draft, score) in enumerate(
                zip(answers, drafts, result.scores, strict=True)
            )
        )
        passed_over = () if result.winner in objected else tuple(objected)
        trace = Trace(
            strategy="consistency",
            candidates=candidates,
            chosen=result.winner,
            notes=tuple(f"candidate {i} was passed over: it repeats words" for i in passed_over),
        )
        return Spoken(winner, trace)


def _build(parts: ArmParts, settings: ConsistencySettings) -> Consistency:
    if parts.encoder is None:
        raise UsageError(
            "the strategy 'consistency' needs an encoder, and there is none",
            'install it with: pip install "hipo[embeddings]"',
        )
    return Consistency(parts.prompts, parts.asker, parts.encoder, k=settings.k)


STRATEGY = StrategyExtension(
    "consistency",
    "samples several answers and says the one most like the others",
    ConsistencySettings,
    build=_build,
    calls=lambda settings: [answer_calls(settings.k)],
    identity=lambda settings: {"k": settings.k},
    temperature=lambda settings: settings.temperature,
    embeds=True,
)
