"""The prompts that actors were sent for what they said, and their answers as training targets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import orjson

from outputs.selecting.open_run import OpenRun
from outputs.selecting.selection import SelectedDialogue
from pipeline.store.calls import SentPrompt
from prompts.actors import ActorPrompts
from prompts.environment import as_data
from prompts.question import Message
from prompts.responses import PLAN, planned
from prompts.turn_views import AnsweringView, AskingView, answering_view, asking_view
from scenarios.case import Case
from scenarios.dialogue import TacticLabel, Turn
from scenarios.flow import PlannedTurn, planned_turns
from scenarios.schemes.model import Scheme
from scenarios.spec import Scenario
from scenarios.terms import INITIATOR, RESPONDER, RoleKey
from scenarios.variation import manner_lines

RENDERED = (
    "prompts rendered from the templates stored in the run, because none was sent for the dialogue"
)
"""What is noted of utterances that hipo asked no model for: those of imported dialogues."""

Messages = tuple[Message, ...]


class ActorMessages:
    """Finds the messages an actor was sent for an utterance: the draft's, not those of repairs.

    Arms that ask the same question share one call, which is recorded for the arm that paid. A
    prompt therefore belongs to every dialogue of its case with the same history before it.
    """

    def __init__(self, scheme: Scheme) -> None:
        """Know the scheme of the answers."""
        self._scheme = scheme
        self._renderers: dict[str, ActorPrompts] = {}
        self._sent: tuple[tuple[str, str, RoleKey], list[SentPrompt]] | None = None
        self.counts: Counter[str] = Counter()
        """What its user should know, with how often."""

    def before(self, selected: SelectedDialogue, turn: Turn) -> Messages:
        """Return the messages that ask for an utterance.

        Raises:
            UsageError: nothing was sent for it, and the run holds no templates to render it with.
        """
        sent = [
            prompt
            for prompt in self._sent_for(selected, _purpose(turn))
            if prompt.turn == turn.index
        ]
        if not sent:
            self.counts[RENDERED] += 1
            return self._rendered(selected, turn)
        messages = _chosen(sent, selected, turn).messages
        return tuple(Message(role, content) for role, content in messages)  # type: ignore[arg-type] # as they were rendered

    def question(self, text: str) -> str:
        """Return an utterance as the answer of an initiator."""
        return _json({"utterance": text})

    def answer(
        self,
        asked: Messages,
        selected: SelectedDialogue,
        text: str,
        tactic: Sequence[TacticLabel],
    ) -> str:
        """Return an utterance and its labels as the answer of a responder.

        Where ``asked`` wants a plan, it names the labels: what the model planned is not kept, and may
        be for other labels than those that people settled on.
        """
        answer: dict[str, object] = {}
        if any(f'"{PLAN}": ' in message.content for message in asked):
            answer[PLAN] = planned(tactic)
        return _json({**answer, **answer_fields(self._scheme, selected, text, tactic)})

    def view(self, selected: SelectedDialogue, turn: Turn) -> AskingView | AnsweringView:
        """Return what its speaker knew before an utterance.

        Raises:
            UsageError: the dialogue does not fit its scenario.
        """
        known = self._known(selected, turn)
        return answering_view(*known) if turn.is_of_labelled_role else asking_view(*known)

    def _sent_for(self, selected: SelectedDialogue, purpose: RoleKey) -> list[SentPrompt]:
        """Return what was sent for the case; its dialogues come one after the other."""
        case = selected.dialogue.case.id
        key = (selected.run, case, purpose)
        if self._sent is None or self._sent[0] != key:
            self._sent = (key, selected.source.store.calls.sent(case, purpose))
        return self._sent[1]

    def _rendered(self, selected: SelectedDialogue, turn: Turn) -> Messages:
        history = selected.dialogue.history(turn.index)
        prompts = self._renderer(selected.source)
        known = self._known(selected, turn)
        if not turn.is_of_labelled_role:
            return prompts.initiator(asking_view(*known), history).messages
        return prompts.responder(answering_view(*known), history, turn.wanted).messages

    def _known(
        self, selected: SelectedDialogue, turn: Turn
    ) -> tuple[Scenario, Scheme, Case, PlannedTurn, tuple[str, ...]]:
        case = selected.dialogue.case
        manner = manner_lines(
            selected.source.material.axes_of(selected.dialogue), dict(case.variation), turn.role
        )
        planned = _planned(selected, turn)
        return selected.scenario, self._scheme, case, planned, tuple(manner)

    def _renderer(self, run: OpenRun) -> ActorPrompts:
        if run.name not in self._renderers:
            self._renderers[run.name] = ActorPrompts(
                run.material.templates,
                self._scheme,
                run.material.recipe.answer_order,
                flow=any(scenario.flow for scenario in run.material.scenarios.values()),
            )
        return self._renderers[run.name]


def answer_fields(
    scheme: Scheme, selected: SelectedDialogue, text: str, tactic: Sequence[TacticLabel]
) -> dict[str, object]:
    """Return the fields of a responder's answer, in their order, without what it planned."""
    answer: dict[str, object] = {"utterance": text}
    if scheme.assigned:
        answer[scheme.assigned] = selected.dialogue.case.goal
    for label in tactic:
        answer[f"{label.dimension}_rationale"] = label.rationale
        answer[label.dimension] = label.value
    return answer


def _planned(selected: SelectedDialogue, turn: Turn) -> PlannedTurn:
    """Return which turn of its case an utterance is; of a dialogue that was imported, by its role."""
    flow = selected.scenario.flow
    if flow:
        planned = planned_turns(selected.scenario, selected.dialogue.case)
        if turn.index < len(planned) and planned[turn.index].role == turn.role:
            return planned[turn.index]
    phase = next((phase for phase in reversed(flow) if turn.role in phase.who), None)
    return PlannedTurn(turn.role, labelled=turn.is_of_labelled_role, phase=phase)


def _purpose(turn: Turn) -> RoleKey:
    """Return the purpose of the call that asked for an utterance."""
    return RESPONDER if turn.is_of_labelled_role else INITIATOR


def _chosen(sent: Sequence[SentPrompt], selected: SelectedDialogue, turn: Turn) -> SentPrompt:
    """Return the prompt for an utterance, out of those that any arm was sent at its place.

    Arms part where they say different things, and a case that failed may be played again after
    another beginning: what the prompt tells of the conversation decides. Where that leaves
    several (templates that changed in between), the arm's own newest one is it.
    """
    if len({prompt.messages for prompt in sent}) == 1:
        return sent[0]
    said = [str(as_data(text)) for _, text in selected.dialogue.history(turn.index)]
    fitting = [prompt for prompt in sent if _tells(prompt.messages, said)] or sent
    return max(fitting, key=lambda prompt: (prompt.arm == selected.dialogue.arm, prompt.epoch))


def _tells(messages: Sequence[tuple[str, str]], said: Iterable[str]) -> bool:
    """Return whether the last message holds the utterances in their order."""
    text, place = messages[-1][1], 0
    for utterance in said:
        place = text.find(utterance, place)
        if place < 0:
            return False
        place += len(utterance)
    return True


def _json(answer: Mapping[str, object]) -> str:
    return orjson.dumps(answer, option=orjson.OPT_INDENT_2).decode()
