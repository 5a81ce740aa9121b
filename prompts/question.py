"""A question to a model: the messages, the format that reads the answer, and the way to repair it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Generic, Literal, TypeVar

from prompts.objections import DECLINED
from prompts.refusals import refusal_in
from prompts.responses import ResponseFormat
from prompts.tolerant_json import find_object
from scenarios.quick_records import quickly_made

Out_co = TypeVar("Out_co", covariant=True)

LONGEST_ECHO: Final = 4_000
"""Characters of an unreadable answer that are sent back to the model."""


@quickly_made
@dataclass(frozen=True, slots=True)
class Message:
    """One message of a prompt."""

    role: Literal["system", "user", "assistant"]
    content: str


def no_objections(answer: object) -> tuple[str, ...]:
    """Say nothing against an answer that can be read."""
    return ()


@quickly_made
@dataclass(frozen=True, slots=True)
class Question(Generic[Out_co]):
    """A rendered prompt together with everything needed to turn the answer into an ``Out``."""

    messages: tuple[Message, ...]
    answer: ResponseFormat[Out_co]
    correction: Callable[[Sequence[str]], str]
    """Words the user message of a repair from the reasons why an answer could not be used."""
    objections: Callable[[Out_co], Sequence[str]] = field(default=no_objections, compare=False)
    """Says what speaks against an answer that can be read, one reason each: enough to ask once
    more, too little to fail for. It decides nothing of what is sent first, and is in no key."""
    frame: Callable[[], str] | None = field(default=None, compare=False)
    """Words what is added to the task for a model that will not play; None where nothing is."""

    @property
    def size(self) -> int:
        """How long the messages are together, in bytes of UTF-8."""
        return sum(len(message.content.encode()) for message in self.messages)

    def repair(self, answer: str, reasons: Sequence[str]) -> Question[Out_co]:
        """Return the question that sends an answer back with what is wrong with it.

        Args:
            answer: what the model wrote; at most ``LONGEST_ECHO`` characters of it are repeated.
            reasons: one line per mistake, see :class:`prompts.responses.Unreadable`.
        """
        echo = Message("assistant", _echo(answer))
        correction = Message("user", self.correction(tuple(reasons)))
        return replace(self, messages=(*self.messages, echo, correction))

    def is_declined(self, answer: str, reasons: Sequence[str]) -> bool:
        """Return whether an answer that cannot be used will not play, and there is another frame.

        Args:
            answer: what the model wrote.
            reasons: one line per mistake or objection.
        """
        if self.frame is None:
            return False
        if DECLINED in reasons:
            return True
        return find_object(answer, self.answer.keys) is None and refusal_in(answer) is not None

    def reframed(self) -> Question[Out_co]:
        """Return the same task in another frame, which is the last: nothing of a refusal is shown."""
        frame = "" if self.frame is None else self.frame()
        system, asked = self.messages[:2]
        task = Message("user", f"{asked.content}\n\n{frame}".rstrip())
        return replace(self, messages=(system, task), frame=None)


def _echo(answer: str) -> str:
    """Return an answer as endpoints accept it: valid UTF-8, never empty, of limited length."""
    text = answer.encode("utf-8", "replace").decode().replace("\0", "").strip()
    if not text:
        return "(no answer)"
    return text if len(text) <= LONGEST_ECHO else text[:LONGEST_ECHO].rstrip() + " ..."
