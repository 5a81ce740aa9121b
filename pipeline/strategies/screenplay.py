"""Screenplay: one call writes a whole dialogue, everybody's turns and their labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pipeline.calls.asking import Asker, ScriptTask
from pipeline.expected_calls import ExpectedCalls, SampleTurn
from pipeline.strategies.protocol import Spoken
from pipeline.strategies.registry import NoStrategySettings, StrategyExtension
from prompts.actors import ActorPrompts
from prompts.question import Question
from scenarios.dialogue import Trace
from scenarios.errors import UsageError
from scenarios.spec import Scenario

_NAME: Final = "screenplay"


@dataclass(frozen=True, slots=True)
class Screenplay:
    """One structured call per dialogue; whoever writes it knows what everybody keeps back.

    Source: Evaluating Intention Understanding Capability of Large Language Models in Persuasive
    Dialogues (dialogues written by one model; the form of the prompt is ours).
    """

    prompts: ActorPrompts
    asker: Asker

    async def script(self, task: ScriptTask) -> tuple[Spoken, ...]:
        """Ask once."""
        drafts = await self.asker.ask(self.prompts.screenplay(task.view), task.context(_NAME))
        return tuple(Spoken(draft, Trace(strategy=_NAME)) for draft in drafts)


def _question(turn: SampleTurn) -> Question[object]:
    if turn.script is None:
        raise _without_flow(turn.scenario)
    return turn.prompts.screenplay(turn.script)


def _check(scenario: Scenario) -> None:
    """Refuse a scenario of question and answer."""
    if not scenario.flow:
        raise _without_flow(scenario)


def _without_flow(scenario: Scenario) -> UsageError:
    return UsageError(
        f"scenario {scenario.id!r} has no flow, so that nobody could write it as a screenplay",
        "the strategy screenplay needs to know who speaks when: choose scenarios with a flow, "
        "e.g. --scheme face_acts, or another strategy",
    )


STRATEGY = StrategyExtension(
    _NAME,
    "writes a whole dialogue of a flow in one call that knows everybody's facts",
    NoStrategySettings,
    build=lambda parts, _: Screenplay(parts.prompts, parts.asker),
    calls=lambda _: [ExpectedCalls(_NAME, "responder", _question, 110, per_dialogue=True)],
    knows_all=True,
    longest_answer=8192,
    check=_check,
)
