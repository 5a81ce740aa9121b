"""The prompts that actors were given, put together again from a finished dialogue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import orjson

from outputs.selection import OpenRun, SelectedDialogue
from prompts.actors import ActorPrompts, Wanted
from prompts.question import Question
from prompts.role_views import initiator_view, responder_view
from scenarios.dialogue import Draft, TacticLabel, Turn, history_of
from scenarios.schemes.model import Scheme
from scenarios.spec import RoleKey
from scenarios.variation import Axis, load_axes, manner_lines


class ActorVoices:
    """Asks and answers as in generation, so that what is trained on is what is asked later.

    Each role's prompt is made from its own view, which has no field for the other's knowledge.
    """

    def __init__(self, scheme: Scheme) -> None:
        """Know the scheme; prompts and axes are read from each run when first needed."""
        self._scheme = scheme
        self._prompts: dict[str, ActorPrompts] = {}
        self._axes: dict[str, Mapping[str, Axis]] = {}

    def asking(self, selected: SelectedDialogue, said: Sequence[Turn]) -> Question[str]:
        """Return the initiator's prompt after what was said."""
        view = initiator_view(
            selected.scenario,
            selected.dialogue.case,
            manner=self._manner(selected, "initiator"),
        )
        return self._of(selected.source).initiator(view, history_of(said))

    def answering(
        self, selected: SelectedDialogue, said: Sequence[Turn], wanted: Wanted
    ) -> Question[Draft]:
        """Return the responder's prompt after what was said."""
        view = responder_view(
            selected.scenario,
            self._scheme,
            selected.dialogue.case,
            manner=self._manner(selected, "responder"),
        )
        return self._of(selected.source).responder(view, history_of(said), wanted)

    def question(self, text: str) -> str:
        """Return an utterance as the answer of an initiator."""
        return _json({"utterance": text})

    def answer(self, selected: SelectedDialogue, text: str, tactic: Sequence[TacticLabel]) -> str:
        """Return an utterance and its labels as the answer of a responder."""
        answer: dict[str, object] = {
            "utterance": text,
            self._scheme.assigned: selected.dialogue.case.goal,
        }
        for label in tactic:
            answer[f"{label.dimension}_rationale"] = label.rationale
            answer[label.dimension] = label.value
        return _json(answer)

    def _of(self, run: OpenRun) -> ActorPrompts:
        if run.name not in self._prompts:
            self._prompts[run.name] = ActorPrompts(run.material.templates(), self._scheme)
        return self._prompts[run.name]

    def _manner(self, selected: SelectedDialogue, role: RoleKey) -> tuple[str, ...]:
        variation = dict(selected.dialogue.case.variation)
        if not variation:
            return ()
        run = selected.source
        if run.name not in self._axes:
            self._axes[run.name] = load_axes(run.material.recipe.variation)
        return manner_lines(self._axes[run.name], variation, role)


def _json(answer: Mapping[str, object]) -> str:
    return orjson.dumps(answer, option=orjson.OPT_INDENT_2).decode()
