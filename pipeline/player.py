"""Play one case: the fixed opening, then question and answer until the case is through."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pipeline.asking import Asker, TurnTask, call_context
from pipeline.strategies.protocol import Strategy
from pipeline.tactics import TacticDesign
from prompts.actors import ActorPrompts
from prompts.role_views import InitiatorView, ResponderView, initiator_view, responder_view
from scenarios.case import Case
from scenarios.dialogue import Dialogue, Turn, Wanted, history_of
from scenarios.errors import UsageError
from scenarios.openings import opening_lines
from scenarios.schemes.model import Scheme
from scenarios.spec import RoleKey, Scenario
from scenarios.variation import Axis, manner_lines


@dataclass(frozen=True, slots=True)
class CasePlayer:
    """Plays cases for one arm; one instance serves any number of dialogues at a time."""

    scenarios: Mapping[str, Scenario]
    """By id, with their placeholders filled."""
    scheme: Scheme
    prompts: ActorPrompts
    arm: str
    """The id of the arm that plays."""
    strategy: Strategy
    """How the responder's utterances are made."""
    asker: Asker
    """Asks the models of the arm; the strategy asks through the same one."""
    axes: Mapping[str, Axis] = field(default_factory=dict)
    design: TacticDesign | None = None
    """Which tactics are wanted; None leaves the responder free to choose."""

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
        turns = self._opening(scenario, case)
        asking = initiator_view(scenario, case, manner=self._manner(case, "initiator"))
        view = responder_view(scenario, self.scheme, case, manner=self._manner(case, "responder"))
        for exchange in range(case.turns):
            if turns[-1].role == "responder":  # a shared opening ends with the hard question
                turns.append(await self._ask(case, asking, turns, epoch))
            wanted = self.design.wanted(case, scenario, exchange) if self.design else ()
            turns.append(await self._answer(case, view, turns, wanted, epoch))
        return Dialogue(case=case, arm=self.arm, turns=tuple(turns))

    async def _ask(self, case: Case, view: InitiatorView, turns: list[Turn], epoch: int) -> Turn:
        """Return the initiator's next turn."""
        index = len(turns)
        text = await self.asker.ask(
            self.prompts.initiator(view, history_of(turns)),
            call_context(case, index, "initiator", role="initiator", epoch=epoch),
        )
        return Turn(index, "initiator", text, "improvised")

    async def _answer(
        self, case: Case, view: ResponderView, turns: list[Turn], wanted: Wanted, epoch: int
    ) -> Turn:
        """Return the responder's next turn, made by the strategy."""
        index = len(turns)
        spoken = await self.strategy.utter(
            TurnTask(case, index, view, history_of(turns), wanted, epoch)
        )
        return Turn(
            index=index,
            role="responder",
            text=spoken.draft.text,
            kind="improvised",
            wanted=wanted,
            declared_goal=spoken.draft.goal,
            tactic=spoken.draft.tactic,
            trace=spoken.trace,
        )

    def _scenario(self, case: Case) -> Scenario:
        try:
            return self.scenarios[case.scenario]
        except KeyError:
            raise UsageError(f"the case needs the unknown scenario {case.scenario!r}") from None

    def _opening(self, scenario: Scenario, case: Case) -> list[Turn]:
        """Return the fixed lines of the case."""
        lines = opening_lines(scenario, case.fact, case.goal, dict(case.variation))
        return [Turn(i, line.role, line.text, "opening") for i, line in enumerate(lines)]

    def _manner(self, case: Case, role: RoleKey) -> tuple[str, ...]:
        return manner_lines(self.axes, dict(case.variation), role)
