"""A line of an actor as something to learn: what comes before it, and the words or the whole answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from outputs.kinds.export_kind import ExportOptions
from outputs.kinds.system_prompt import SHORT, SystemPrompt, Target, with_system
from outputs.rows.actor_prompts import ActorMessages, Messages, answer_fields
from outputs.selecting.selection import SelectedDialogue
from prompts.chat_lines import ChatLines, chat
from prompts.environment import Templates
from prompts.question import Message
from scenarios.dialogue import TacticLabel, Turn
from scenarios.schemes.model import Scheme


class ActorLines:
    """Makes prompts and answers of what the people of a dialogue say.

    Where the words alone are learnt, the conversation is a chat of several turns: whoever is learnt
    from is the assistant, all others are the user. Where the object with labels and reasons is, the
    prompt is what was sent, its system message perhaps another one.
    """

    def __init__(
        self, scheme: Scheme, system: SystemPrompt = SHORT, target: Target = "utterance"
    ) -> None:
        """Know what is learnt.

        Args:
            scheme: of the answers.
            system: which system message rows have.
            target: what the model is to write.
        """
        self._scheme = scheme
        self._system = system
        self._target = target
        self._sent = ActorMessages(scheme)
        self._chat = ChatLines(Templates())

    @property
    def counts(self) -> Counter[str]:
        """What whoever uses the rows should know, with how often."""
        return self._sent.counts

    def before(
        self, selected: SelectedDialogue, turn: Turn, *, with_wanted: bool = False
    ) -> Messages:
        """Return what comes before a line.

        Args:
            selected: the dialogue.
            turn: of the line.
            with_wanted: whether a chat names the labels that were asked for; the prompt for an
                object always does.

        Raises:
            UsageError: nothing was sent for it, and the run holds no templates to render it with.
        """
        if self._target == "utterance":
            return self._chat_before(selected, turn, with_wanted)
        asked = self._sent.before(selected, turn)
        if self._system.choice == "short":
            return with_system(asked, self._short_form(selected, turn))
        return self._system.over(asked)

    def answer(
        self,
        asked: Sequence[Message],
        selected: SelectedDialogue,
        text: str,
        tactic: Sequence[TacticLabel],
    ) -> str:
        """Return what is learnt of somebody whose words are labelled."""
        if self._target == "utterance":
            return text
        return self._sent.answer(tuple(asked), selected, text, tactic)

    def question(self, text: str) -> str:
        """Return what is learnt of somebody whose words are not labelled."""
        return text if self._target == "utterance" else self._sent.question(text)

    def _chat_before(self, selected: SelectedDialogue, turn: Turn, with_wanted: bool) -> Messages:
        view = self._sent.view(selected, turn)
        scene = self._chat.scene(view, defined=self._system.defines)
        if with_wanted:
            scene += self._chat.wanted(turn.wanted)
        history = selected.dialogue.history(turn.index)
        several = len(selected.scenario.roles) > 2
        if self._system.choice == "none":
            return chat(history, turn.role, scene=scene, several=several)
        if self._system.choice == "own":
            told = self._system.text
        else:
            told = self._chat.instruction(view, self._system.choice)
        return chat(history, turn.role, system=f"{told}\n\n{scene}", several=several)

    def _short_form(self, selected: SelectedDialogue, turn: Turn) -> str:
        fields: Mapping[str, object] = {"utterance": turn.text}
        if turn.is_of_labelled_role:
            fields = answer_fields(self._scheme, selected, turn.text, turn.tactic)
        return self._chat.instruction(self._sent.view(selected, turn), "short", tuple(fields))


def actor_lines(scheme: Scheme, options: ExportOptions) -> ActorLines:
    """Return what makes the rows that the options ask for."""
    return ActorLines(scheme, options.prompt, options.target)


def actor_prompts(scheme: Scheme, options: ExportOptions) -> str | None:
    """Return the fingerprint of what is rendered now; None where all was sent."""
    if options.target == "json" and options.prompt.choice != "short":
        return None
    return ChatLines(Templates()).fingerprint
