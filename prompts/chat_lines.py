"""A conversation as a chat: whoever speaks next is the assistant, everybody else the user."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Literal

from prompts.environment import Templates
from prompts.prompt import role_tag
from prompts.question import Message
from prompts.role_views import InitiatorView, ResponderView
from prompts.speaker_view import SpeakerView
from scenarios.dialogue import History, Wanted
from scenarios.terms import RoleKey

LineView = InitiatorView | ResponderView | SpeakerView
"""What somebody knows who speaks next."""
Instruction = Literal["short", "full"]
CHAT_TEMPLATES: Final = (
    "short_line_system.j2", "full_line_system.j2", "line_scene.j2", "scene.j2", "private.j2",
    "knowledge.j2", "speech.j2", "speaker_scene.j2", "speaker_part.j2", "speaker_speech.j2",
    "wanted.j2",
)  # fmt: skip
"""The templates that the messages of a chat depend on."""
BEGIN: Final = "The conversation begins."
GO_ON: Final = "Go on."
"""What the user says where nobody else has said anything: chats begin with the user and alternate."""
WANTED: Final = "# Asked of the line to write"
_BLANKS = re.compile(r"\n{3,}")


class ChatLines:
    """Writes what comes before a line as the messages of a chat."""

    def __init__(self, templates: Templates) -> None:
        """Take the texts."""
        self._templates = templates
        self.fingerprint = templates.fingerprint_of(CHAT_TEMPLATES)

    def instruction(self, view: LineView, which: Instruction, keys: Sequence[str] = ()) -> str:
        """Return what somebody is told who is to speak.

        Args:
            view: what that person knows.
            which: ``short``: a few lines; ``full``: with the rules of speaking, no labels in either.
            keys: of a JSON object that is asked for; none: the words alone are.
        """
        variables = {"kind": _kind(view), "keys": tuple(keys), "scheme": None}
        return self._templates.render(f"{which}_line_system.j2", variables)

    def scene(self, view: LineView, *, defined: bool) -> str:
        """Return the situation and what this person knows and is after.

        Args:
            view: what that person knows.
            defined: whether the goal is defined, or only named.
        """
        known: LineView = view
        if not isinstance(view, InitiatorView):
            # Which labels an utterance may have is nothing to whoever gives none.
            defined_goal = view.goal_definition if defined else ""
            known = replace(view, goal_definition=defined_goal, open_labels=())
        text = self._templates.render("line_scene.j2", {"kind": _kind(view), "view": known})
        return _BLANKS.sub("\n\n", text)

    def wanted(self, wanted: Wanted) -> str:
        """Return what labels the line is to have, by name; "" where none were asked for."""
        if not wanted:
            return ""
        return f"\n\n{WANTED}\n{self._templates.render('wanted.j2', {'wanted': wanted})}".rstrip()


def chat(
    history: History, role: RoleKey, *, system: str = "", scene: str = "", several: bool = False
) -> tuple[Message, ...]:
    """Return what comes before a line: a system message, then user and assistant by turns.

    Args:
        history: what was said, from the first line on.
        role: who speaks next, and is the assistant throughout.
        system: the system message; "" is none.
        scene: what stands at the head of the first user message.
        several: whether more than two people talk, so that it has to be said whose lines are whose.
    """
    said: list[tuple[str, str]] = []
    for speaker, text in history:
        own = speaker == role
        line = text if own or not several else f"{role_tag(speaker)}: {text}"
        who = "assistant" if own else "user"
        if said and said[-1][0] == who:
            said[-1] = (who, f"{said[-1][1]}\n{line}")
        else:
            said.append((who, line))
    if not said or said[0][0] == "assistant":
        said.insert(0, ("user", BEGIN))
    if said[-1][0] == "assistant":
        said.append(("user", GO_ON))
    if scene:
        said[0] = ("user", f"{scene}\n\n# Said first\n{said[0][1]}")
    messages = [Message("user" if who == "user" else "assistant", text) for who, text in said]
    return (Message("system", system), *messages) if system else tuple(messages)


def _kind(view: LineView) -> str:
    if isinstance(view, SpeakerView):
        return "speaker"
    return "responder" if isinstance(view, ResponderView) else "initiator"
