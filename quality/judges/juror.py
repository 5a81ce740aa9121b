"""Jurors: they label every answer by a scheme of their own choice, and decide nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Final, TypeVar

from pipeline.calls.asking import Asker, each
from pipeline.calls.client import AnswerUnusable
from prompts.judges import judge_view
from prompts.question import Question
from prompts.tasks.answers import BlindLabel
from prompts.tasks.items import TaskItem
from prompts.tasks.prompts import TaskPrompts
from quality.judges.protocol import JudgeIdentity, Questions
from scenarios.arms import Parameters
from scenarios.dialogue import Dialogue, Turn
from scenarios.fingerprint import fingerprint
from scenarios.schemes.dimension import Dimension
from scenarios.schemes.model import Scheme
from scenarios.spec import Scenario
from scenarios.verdicts import Judgement

T = TypeVar("T")

JUROR_PARAMETERS: Final = Parameters(temperature=0.1, max_tokens=2048)
"""How jurors sample. Source: CoBRA, section 6."""


def juror_dimension(scheme: Scheme, dimension: str, own: Scheme) -> str:
    """Return the name under which a juror's label is stored.

    Args:
        scheme: the juror's.
        dimension: one of its dimensions.
        own: the scheme of the run. Labels of another scheme get its id before theirs, e.g.
            ``cobra.manner``, so that they are never compared with labels of the run's own.
    """
    return dimension if scheme.name == own.name else f"{scheme.id}.{dimension}"


def juror_dimensions(scheme: Scheme, own: Scheme) -> tuple[Dimension, ...]:
    """Return what jurors of another scheme are asked, under the names that their labels are stored by.

    Args:
        scheme: the jurors'.
        own: the scheme of the run; its own dimensions are not given again.
    """
    if scheme.name == own.name:
        return ()
    return tuple(
        dimension.model_copy(
            update={
                "id": juror_dimension(scheme, dimension.id, own),
                "when": {
                    juror_dimension(scheme, name, own): labels
                    for name, labels in dimension.when.items()
                },
                "polarity_on": dimension.polarity_on
                and juror_dimension(scheme, dimension.polarity_on, own),
            }
        )
        for dimension in scheme.dimensions
        if dimension.derived is None
    )


def juror_seat(name: str, prompts: TaskPrompts, identity: dict[str, object]) -> JudgeIdentity:
    """Return who a juror is: its name, and what decides its answers.

    Args:
        name: how its labels are signed.
        prompts: what it is asked with.
        identity: its model, address and parameters, as plain data.
    """
    return JudgeIdentity("juror", name, fingerprint([prompts.fingerprint, identity]))


def juror_item(dialogue: Dialogue, scenario: Scenario, turn: Turn) -> TaskItem:
    """Return an answer as jurors get it: after everything said before, without what is private."""
    view = judge_view(scenario, dialogue.case)
    item = view.turn(dialogue.history(turn.index), turn.text, turn.role)
    return replace(item, scenario=scenario.id, fact=None, facts=())


@dataclass(frozen=True, slots=True)
class SchemeJuror:
    """Asks one model what a task asks, about every answer of a dialogue."""

    scheme: Scheme
    own: Scheme
    """The scheme of the run."""
    prompts: TaskPrompts
    asker: Asker
    seat: JudgeIdentity

    async def judge(self, dialogue: Dialogue, scenario: Scenario, epoch: int) -> list[Judgement]:
        """Return one judgement per answer and dimension; those that could not be read have no value.

        Raises:
            ProviderError: the endpoint did not answer.
            BudgetReached: asking could exceed the budget.
            Stopped: the run was asked to stop.
        """
        questions = Questions(self.asker, self.seat, dialogue, epoch)
        turns, judgements = list(dialogue.answers()), []
        calls = [partial(self._found, questions, scenario, turn) for turn in turns]
        answers = await each(calls, together=self.asker.gathers)
        for turn, found in zip(turns, answers, strict=True):
            for dimension in self.prompts.dimensions:
                if isinstance(found, AnswerUnusable):
                    value, reason = None, found.reason
                else:
                    label = next(x for x in found if x.dimension == dimension.id)
                    value, reason = label.value, label.reason
                name = juror_dimension(self.scheme, dimension.id, self.own)
                judgements.append(questions.note(turn.index, name, value, None, reason))
        return judgements

    async def _found(
        self, questions: Questions, scenario: Scenario, turn: Turn
    ) -> tuple[BlindLabel, ...] | AnswerUnusable:
        """Ask about one answer, in as many steps as the mode has."""
        item = juror_item(questions.dialogue, scenario, turn)
        gathers = self.asker.gathers

        async def read(question: Question[T], purpose: str) -> T:
            found = await questions.put(question, turn.index, purpose)
            if isinstance(found, AnswerUnusable):
                raise found  # one is enough: nothing more is asked about the answer
            return found

        try:
            steps = self.prompts.explain(item)
            told = [partial(read, step.question, "juror-explanation") for step in steps]
            explained = await each(told, together=gathers)
            parts = self.prompts.questions(item, explained=explained)
            asked = [partial(read, part.question, "juror-turn") for part in parts]
            return tuple(label for found in await each(asked, together=gathers) for label in found)
        except AnswerUnusable as error:
            return error
