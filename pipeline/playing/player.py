"""Play one case: its turns in the order of its plan, fixed or improvised."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, cast

from pipeline.aims import asked_of
from pipeline.calls.asking import Asker, ScriptTask, TurnTask, call_context
from pipeline.strategies.protocol import ScriptStrategy, Spoken, Strategy
from pipeline.tactics.tactics import TacticDesign
from prompts.actors import ActorPrompts
from prompts.script_view import script_view
from prompts.turn_views import AnsweringView, AskingView, answering_view, asking_view
from scenarios.case import Case
from scenarios.dialogue import Dialogue, Turn, Wanted, history_of
from scenarios.errors import UsageError
from scenarios.flow import PlannedTurn, planned_turns
from scenarios.quick_records import quickly_made
from scenarios.schemes.model import Scheme
from scenarios.spec import Scenario
from scenarios.terms import RoleKey
from scenarios.variation import Axis, manner_lines

REMEMBERED_COURSES: Final = 1_024
"""Kinds of cases of which it is kept how they go; 2 kB each, as a rule."""


@dataclass(frozen=True, slots=True)
class CasePlayer:
    """Plays cases for one arm; one instance serves any number of dialogues at a time."""

    scenarios: Mapping[str, Scenario]
    """By id, with their placeholders filled."""
    scheme: Scheme
    prompts: ActorPrompts
    arm: str
    """The id of the arm that plays."""
    strategy: Strategy | ScriptStrategy
    """How the utterances are made that are labelled, or all of them."""
    asker: Asker
    """Asks the models of the arm; the strategy asks through the same one."""
    axes: Mapping[str, Axis] = field(default_factory=dict)
    design: TacticDesign | None = None
    """Which labels are wanted; None leaves speakers free to choose."""
    _known: dict[tuple[object, ...], _Course] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """By all of a case that they depend on, where there is no flow."""

    async def play(self, case: Case, epoch: int = 0) -> Dialogue:
        """Play a case to its end.

        Labels that contradict one another are recorded as they are: verification flags them.

        Args:
            case: the case to play.
            epoch: how often it has failed before; moves the seeds that are sent.

        Raises:
            UsageError: the scenario, its fact or its opening does not fit the case.
            AnswerUnusable: the model's answers could not be read.
            ProviderError: the endpoint did not answer.
        """
        scenario = self._scenario(case)
        course = self._course(scenario, case)
        if hasattr(self.strategy, "script"):  # to ask for the protocol takes 20 times as long
            writing = cast("ScriptStrategy", self.strategy)
            script = await self._script(writing, scenario, case, course.plan, epoch)
            return Dialogue(case=case, arm=self.arm, turns=script)
        turns: list[Turn] = []
        answers = 0
        coming = partial(_Next, scenario, case, before=turns, epoch=epoch, course=course)
        for planned in course.plan:
            if planned.text is not None:
                turns.append(_fixed(len(turns), planned, planned.text))
            elif not planned.labelled:
                turns.append(await self._ask(coming(planned)))
            else:
                turns.append(await self._answer(self.strategy, coming(planned), answers))
                answers += 1
        return Dialogue(case=case, arm=self.arm, turns=tuple(turns))

    async def _ask(self, coming: _Next) -> Turn:
        """Return the next turn of somebody whose words are not labelled."""
        case, planned, index = coming.case, coming.planned, len(coming.before)
        view = coming.course.asking.get(planned.role)
        if view is None:
            manner = self._manner(case, planned.role)
            view = asking_view(coming.scenario, self.scheme, case, planned, manner)
            if planned.phase is None:
                coming.course.asking[planned.role] = view
        text = await self.asker.ask(
            self.prompts.initiator(view, history_of(coming.before)),
            call_context(case, index, "initiator", role="initiator", epoch=coming.epoch),
        )
        return _unlabelled(index, planned, text)

    async def _script(
        self,
        strategy: ScriptStrategy,
        scenario: Scenario,
        case: Case,
        plan: Sequence[PlannedTurn],
        epoch: int,
    ) -> tuple[Turn, ...]:
        """Return all turns, those that nobody has fixed as the strategy writes them."""
        view = script_view(
            scenario,
            self.scheme,
            case,
            plan,
            manner=partial(self._manner, case),
            wanted=self._all_wanted(case, scenario, plan),
        )
        written = iter(await strategy.script(ScriptTask(case, view, epoch)))
        turns = []
        for index, (planned, told) in enumerate(zip(plan, view.turns, strict=True)):
            if planned.text is not None:
                turns.append(_fixed(index, planned, planned.text))
            elif not planned.labelled:
                turns.append(_unlabelled(index, planned, next(written).draft.text))
            else:
                turns.append(self._labelled(index, planned, told.wanted, next(written)))
        return tuple(turns)

    def _all_wanted(
        self, case: Case, scenario: Scenario, plan: Sequence[PlannedTurn]
    ) -> tuple[Wanted, ...]:
        """Return the labels wanted of each labelled turn, in order."""
        labelled = [planned.role for planned in plan if planned.labelled]
        wanted = [self._wanted(case, scenario, place, role) for place, role in enumerate(labelled)]
        return tuple(wanted) if any(wanted) else ()

    def _wanted(self, case: Case, scenario: Scenario, place: int, role: RoleKey) -> Wanted:
        """Return the labels wanted of one labelled turn: what a quota asks for, then the design."""
        asked = asked_of(case, place, self.scheme)
        if asked and self.design is None:
            return tuple(asked.items())
        if asked and self.design is not None:
            return self.design.aimed(case, scenario, place, role, asked)
        return () if self.design is None else self.design.wanted(case, scenario, place, role)

    async def _answer(self, strategy: Strategy, coming: _Next, place: int) -> Turn:
        """Return the next turn that is labelled, made by the strategy."""
        case, planned, index = coming.case, coming.planned, len(coming.before)
        view = coming.course.answering.get(planned.role)
        if view is None:
            manner = self._manner(case, planned.role)
            view = answering_view(coming.scenario, self.scheme, case, planned, manner)
            if planned.phase is None:
                coming.course.answering[planned.role] = view
        wanted = self._wanted(case, coming.scenario, place, planned.role)
        spoken = await strategy.utter(
            TurnTask(
                case, index, view, history_of(coming.before), wanted, coming.epoch, planned.role
            )
        )
        return self._labelled(index, planned, wanted, spoken)

    def _labelled(self, index: int, planned: PlannedTurn, wanted: Wanted, spoken: Spoken) -> Turn:
        """Return a turn with the labels that were declared with it."""
        return Turn(
            index=index,
            role=planned.role,
            text=spoken.draft.text,
            kind="improvised",
            wanted=wanted,
            declared_goal=spoken.draft.goal if self.scheme.assigned else None,
            tactic=spoken.draft.tactic,
            trace=spoken.trace,
            labelled=_is_labelled(planned),
        )

    def _scenario(self, case: Case) -> Scenario:
        try:
            return self.scenarios[case.scenario]
        except KeyError:
            raise UsageError(f"the case needs the unknown scenario {case.scenario!r}") from None

    def _course(self, scenario: Scenario, case: Case) -> _Course:
        """Return what a case has in common with all that differ in seed and repetition alone."""
        if scenario.flow:
            return _Course(planned_turns(scenario, case))
        key = (case.scenario, case.fact, case.goal, case.turns, case.language, case.variation)
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= REMEMBERED_COURSES:
                self._known.clear()
            known = self._known[key] = _Course(planned_turns(scenario, case))
        return known

    def _manner(self, case: Case, role: RoleKey) -> tuple[str, ...]:
        return manner_lines(self.axes, dict(case.variation), role)


@dataclass(frozen=True, slots=True)
class _Course:
    """How a case goes: its turns in order, and what its roles know."""

    plan: tuple[PlannedTurn, ...]
    asking: dict[RoleKey, AskingView] = field(default_factory=dict)
    answering: dict[RoleKey, AnsweringView] = field(default_factory=dict)
    """Filled as somebody speaks, where it stays the same from turn to turn: without a flow."""


@quickly_made
@dataclass(frozen=True, slots=True)
class _Next:
    """A turn that somebody is to improvise."""

    scenario: Scenario
    case: Case
    planned: PlannedTurn
    before: list[Turn]
    epoch: int
    course: _Course


def _fixed(index: int, planned: PlannedTurn, text: str) -> Turn:
    """Return a turn that nobody improvises."""
    return Turn(index, planned.role, text, "opening", labelled=_is_labelled(planned))


def _unlabelled(index: int, planned: PlannedTurn, text: str) -> Turn:
    """Return a turn whose words are not labelled."""
    return Turn(index, planned.role, text, "improvised", labelled=_is_labelled(planned))


def _is_labelled(planned: PlannedTurn) -> bool | None:
    """Return what a turn says of its role; without a flow it is known from the role."""
    return planned.labelled if planned.phase else None
