"""Row formats: the columns and values of examples and pairs, and the files beside them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from scenarios.errors import UsageError
from scenarios.plugins import PointName

if TYPE_CHECKING:
    from outputs.dataset.manifest import Column, ExportedFile
    from prompts.question import Message

Prompt = Sequence["Message"]
"""The messages that come before what is to be learnt: a system message, unless there is none, then
user and assistant by turns, the user first and last."""


class RowFormat(ABC):
    """One way of writing down what a model is trained on; a format is a subclass."""

    point: ClassVar[PointName] = "export format"
    name: str
    example_columns: tuple[Column, ...]
    """Columns of a prompt with one answer."""
    pair_columns: tuple[Column, ...] = ()
    """Columns of a prompt with a better and a worse answer; empty where it has no such form."""

    is_messages: bool = False
    """Whether rows are messages in the columns that TRL reads, so that scripts and configurations
    of trainers are written beside them."""

    def learnt(self, *, pairs: bool) -> tuple[str, ...]:
        """Return the names of the columns that a model reads or writes."""
        return tuple(c.name for c in (self.pair_columns if pairs else self.example_columns))

    @abstractmethod
    def example(self, prompt: Prompt, completion: str) -> dict[str, object]:
        """Return the columns of a prompt with its answer."""

    def pair(self, prompt: Prompt, chosen: str, rejected: str) -> dict[str, object]:
        """Return the columns of a prompt with a better and a worse answer.

        Raises:
            UsageError: the format has no form for pairs.
        """
        raise UsageError(
            f"the row format {self.name!r} has no form for preference pairs",
            "choose another --format",
        )

    def companions(self, files: Sequence[ExportedFile], *, pairs: bool) -> Mapping[str, str]:
        """Return the files that trainers expect beside the rows, text by relative path."""
        return {}


def message_list(prompt: Prompt) -> list[dict[str, str]]:
    """Return the messages of a prompt as plain data."""
    return [{"role": message.role, "content": message.content} for message in prompt]


def assistant(text: str) -> dict[str, str]:
    """Return an answer as a message."""
    return {"role": "assistant", "content": text}


def split_prompt(prompt: Prompt) -> tuple[str, str]:
    """Return the text of the system messages, and that of the others.

    Where a conversation of several turns is asked to be gone on with, each line says whose it is.
    """
    system = "\n\n".join(m.content for m in prompt if m.role == "system")
    others = [m for m in prompt if m.role != "system"]
    if len(others) == 1:
        return system, others[0].content
    return system, "\n".join(f"{m.role.capitalize()}: {m.content}" for m in others)


def lines_files(files: Sequence[ExportedFile]) -> list[ExportedFile]:
    """Return the files of JSON lines, which trainers read from disk."""
    return [file for file in files if file.format == "jsonl"]
