"""The system message of training rows: a short one, the full one, none, or one of the user's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from scenarios.errors import UsageError
from scenarios.spelling import suggestion
from scenarios.text_file import read_text

if TYPE_CHECKING:
    from prompts.question import Message

PromptChoice = Literal["short", "full", "none", "own"]
SHIPPED_PROMPTS: Final = ("short", "full", "none")
"""What can be named; anything else is the file of one's own."""
Target = Literal["utterance", "json"]
"""What an actor learns to write: the words alone, or an object with its labels and reasons."""
_MOST_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class SystemPrompt:
    """What a model is told before it is asked anything."""

    choice: PromptChoice = "short"
    """``short``: an instruction of at most 150 tokens that defines no label; ``full``: all definitions
    and rules, as a model is asked that has learnt nothing; ``none``: no system message. Where an actor
    learns words alone, what it knows of its scene follows the instruction in the same message."""
    text: str = ""
    """Of ``own``."""

    @property
    def defines(self) -> bool:
        """Whether labels and goals are defined."""
        return self.choice == "full"

    def over(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """Return messages as they are, without their system message, or with one's own."""
        if self.choice in ("short", "full"):
            return tuple(messages)
        return with_system(messages, self.text)


SHORT: Final = SystemPrompt()
"""The default."""


def with_system(messages: Sequence[Message], text: str) -> tuple[Message, ...]:
    """Return messages with another system message; "" is none."""
    from prompts.question import Message  # noqa: PLC0415 - with all that answers are read with

    others = tuple(message for message in messages if message.role != "system")
    return (Message("system", text), *others) if text else others


def chosen_prompt(name: str) -> SystemPrompt:
    """Return the system prompt of a name, or the text of a file.

    Raises:
        UsageError: it is neither a name nor a file that can be read, or the file is empty.
    """
    for choice in ("short", "full", "none"):
        if name == choice:
            return SystemPrompt(choice)
    path = Path(name)
    if not path.is_file():
        hint = suggestion(name, SHIPPED_PROMPTS, listing="prompts")
        raise UsageError(f"--prompt {name}: is no prompt, and no such file", f"{hint}, or a file")
    text = read_text(path).strip()
    if len(text.encode()) > _MOST_BYTES:
        raise UsageError(f"{path}: {len(text.encode()):,} bytes", f"at most {_MOST_BYTES:,}")
    if not text:
        raise UsageError(f"{path}: is empty", "--prompt none leaves the system message out")
    return SystemPrompt("own", text)
