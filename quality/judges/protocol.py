"""The protocol of a judge, and what all judges share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeVar

from pipeline.calls.asking import Asker, call_context
from pipeline.calls.client import AnswerUnusable
from pipeline.calls.records import CallContext
from prompts.judges import JudgePrompts
from prompts.question import Question
from scenarios.arms import Parameters
from scenarios.dialogue import Dialogue
from scenarios.fingerprint import fingerprint
from scenarios.plugins import PointName
from scenarios.schemes.model import Scheme
from scenarios.spec import Scenario
from scenarios.terms import LabelValue
from scenarios.verdicts import Judgement, Source

T = TypeVar("T")

EXTERNAL_PARAMETERS = Parameters(temperature=0.0, max_tokens=4096)
"""Room for a model that reasons before it answers."""
JUDGING_VERSION = 2
"""Raised whenever the code would ask judges otherwise, or compare their answers otherwise."""


@dataclass(frozen=True, slots=True)
class JudgeIdentity:
    """Who judges, in which capacity, and under which configuration."""

    source: Source
    judge: str
    """``provider/model``; for a judge of a plugin ``name=provider/model``, or its name alone."""
    config: str
    """Fingerprint of prompts, model and parameters; another one means judging anew."""

    @property
    def role(self) -> str:
        """The name under which its calls are recorded, e.g. ``external openai/o4-mini``."""
        return f"{self.source} {self.judge}"


def seat(
    source: Source, judge: str, prompts: JudgePrompts, identity: Mapping[str, object]
) -> JudgeIdentity:
    """Return the seat of a judge; ``identity`` is what decides its model's answers."""
    return JudgeIdentity(
        source, judge, fingerprint([JUDGING_VERSION, source, prompts.fingerprint, dict(identity)])
    )


class Judge(Protocol):
    """Reads a dialogue and says what it thinks of every improvised answer, and of the whole."""

    @property
    def seat(self) -> JudgeIdentity:
        """Who this is."""

    async def judge(self, dialogue: Dialogue, scenario: Scenario, epoch: int) -> list[Judgement]:
        """Return every judgement; those whose answer could not be read have no verdict.

        Args:
            dialogue: what was said.
            scenario: the scenario of its case, names filled.
            epoch: how often unreadable answers have been asked for before.

        Raises:
            ProviderError: the endpoint did not answer.
            BudgetReached: asking could exceed the budget.
            Stopped: the run was asked to stop.
        """


@dataclass(frozen=True, slots=True)
class JudgeExtension:
    """A judge by its name, and how it is built."""

    point: ClassVar[PointName] = "judge"
    name: str
    build: Callable[[Scheme, JudgePrompts, Asker, JudgeIdentity], Judge]
    """Makes it of the scheme, the judges' prompts, what asks its model, and who it is.

    Its calls must be made under the role of its identity.
    """
    source: Source = "external"
    """In which capacity it judges; the judges of plugins are external ones."""
    parameters: Parameters = EXTERNAL_PARAMETERS
    """How its model samples where the recipe does not say."""
    needs_model: bool = True
    whole: bool = False
    """Whether it is asked once about a dialogue, with the prompts of
    :meth:`prompts.judges.JudgePrompts.whole`."""


@dataclass(frozen=True, slots=True)
class Questions:
    """Puts the questions of one judge about one dialogue to its model, and notes the answers."""

    asker: Asker
    seat: JudgeIdentity
    dialogue: Dialogue
    epoch: int

    async def put(self, question: Question[T], turn: int, purpose: str) -> T | AnswerUnusable:
        """Return the answer, or why none could be read."""
        try:
            return await self.asker.ask(question, self._context(turn, purpose))
        except AnswerUnusable as error:
            return error

    def _context(self, turn: int, purpose: str) -> CallContext:
        case = self.dialogue.case
        return call_context(case, turn, purpose, role=self.seat.role, epoch=self.epoch)

    def note(
        self,
        turn: int | None,
        dimension: str,
        value: LabelValue | None,
        carried: bool | None,
        reason: str,
        *,
        second: LabelValue | None = None,
    ) -> Judgement:
        """Return a judgement of this judge on this dialogue."""
        return Judgement(
            case=self.dialogue.case.id,
            arm=self.dialogue.arm,
            turn=turn,
            source=self.seat.source,
            judge=self.seat.judge,
            dimension=dimension,
            value=value,
            carried=carried,
            reason=reason,
            second=second,
        )
