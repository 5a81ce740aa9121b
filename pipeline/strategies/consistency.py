"""Consistency-guided voting: sample several candidates, say the most consistent one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from pipeline.calls.asking import Asker, TurnTask
from pipeline.calls.client import AnswerUnusable
from pipeline.expected_calls import ArmParts, answer_calls
from pipeline.strategies.protocol import Spoken
from pipeline.strategies.registry import StrategyExtension
from pipeline.voting import Encoder, vote
from prompts.actors import ActorPrompts
from scenarios.dialogue import Candidate, Draft, Trace
from scenarios.errors import UsageError
from scenarios.strict import Strict
from scenarios.terms import LabelValue

VoteBy = Literal["text", "modal-labels"]


class ConsistencySettings(Strict):
    """Voting: how many candidates, and how freely they are sampled.

    Source: HIPO, section 4.4.1 (3).
    """

    k: Annotated[int, Field(ge=2, le=64)] = 4
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.6
    top_p: Annotated[float, Field(gt=0, le=1)] | None = 1.0
    """Of the candidates; None is that of the responder's model. Below 1 they come out nearly alike,
    and the paper names 0.6 for its corpus at temperature 0.2 only."""
    vote: VoteBy = "text"
    """Who votes by likeness: all candidates (``text``, as in the paper), or those that declare the
    labels that most of them declare (``modal-labels``), so that words do not elect a tactic."""


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
    vote: VoteBy = "text"

    async def utter(self, task: TurnTask) -> Spoken:
        """Sample, embed and elect."""
        question = self.prompts.responder(task.view, task.history, task.wanted)
        answers = await self.asker.ask_many(question, task.context("responder"), k=self.k)
        drafts = [answer if isinstance(answer, Draft) else None for answer in answers]
        objected = [i for i, draft in enumerate(drafts) if draft and question.objections(draft)]
        taking_part = self._taking_part(drafts, objected)
        result = await vote(
            [draft.text if draft and i in taking_part else None for i, draft in enumerate(drafts)],
            self.encoder,
            objected,
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
            notes=(*self._notes(drafts, taking_part), *map(_passed_over, passed_over)),
        )
        return Spoken(winner, trace)

    def _taking_part(
        self, drafts: Sequence[Draft | None], objected: Collection[int]
    ) -> frozenset[int]:
        """Return which candidates vote: under ``modal-labels`` those with the commonest labels.

        Where several sets of labels are the commonest, all of their candidates do; those that are
        objected to count only if there are no others.
        """
        readable = [i for i, draft in enumerate(drafts) if draft is not None]
        if self.vote == "text":
            return frozenset(readable)
        sound = [i for i in readable if i not in objected] or readable
        labels = {i: _labels(draft) for i in sound if (draft := drafts[i])}
        counts = Counter(labels.values())
        modal = [i for i in sound if counts[labels[i]] == max(counts.values())]
        # One candidate alone has nothing to be like: then everybody votes.
        return frozenset(modal if len(modal) > 1 else readable)

    def _notes(self, drafts: Sequence[Draft | None], taking_part: Collection[int]) -> list[str]:
        """Return who did not vote because of its labels, and how the vote was taken."""
        if self.vote == "text":
            return []
        others = [i for i, draft in enumerate(drafts) if draft and i not in taking_part]
        said = ", ".join(map(str, others)) or "none"
        return [f"voted by modal-labels; candidates with other labels, without a vote: {said}"]


def _labels(draft: Draft) -> tuple[LabelValue, ...]:
    return tuple(label.value for label in draft.tactic)


def _passed_over(candidate: int) -> str:
    return f"candidate {candidate} was passed over: it repeats words or speaks as a machine"


def _build(parts: ArmParts, settings: ConsistencySettings) -> Consistency:
    if parts.encoder is None:
        raise UsageError(
            "the strategy 'consistency' needs an encoder, and there is none",
            'install it with: pip install "hipo[embeddings]"',
        )
    return Consistency(parts.prompts, parts.asker, parts.encoder, k=settings.k, vote=settings.vote)


def _identity(settings: ConsistencySettings) -> Mapping[str, object]:
    """Leave the vote by text out: arms had no vote to name when it was the only one."""
    return {"k": settings.k} | ({} if settings.vote == "text" else {"vote": settings.vote})


STRATEGY = StrategyExtension(
    "consistency",
    "samples several answers and says the one most like the others",
    ConsistencySettings,
    build=_build,
    calls=lambda settings: [answer_calls(settings.k)],
    identity=_identity,
    temperature=lambda settings: settings.temperature,
    top_p=lambda settings: settings.top_p,
    unsaid={"top_p": None},
    embeds=True,
)
