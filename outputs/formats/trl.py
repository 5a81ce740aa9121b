"""The conversational formats of TRL: ``messages``, and ``prompt`` with ``completion``."""

from __future__ import annotations

from outputs.dataset.manifest import Column
from outputs.formats.shape import Prompt, RowFormat, assistant, message_list


class Messages(RowFormat):
    """``messages`` for examples; ``prompt``, ``chosen`` and ``rejected`` for pairs."""

    name = "messages"
    is_messages = True
    example_columns: tuple[Column, ...] = (
        Column("messages", "messages", "System message, then user and assistant by turns."),
    )
    pair_columns: tuple[Column, ...] = (
        Column(
            "prompt", "messages", "System message, then user and assistant by turns; the user last."
        ),
        Column("chosen", "messages", "The better answer, as one message."),
        Column("rejected", "messages", "The worse answer, as one message."),
    )

    def example(self, prompt: Prompt, completion: str) -> dict[str, object]:
        """Return the prompt and its answer as one conversation."""
        return {"messages": [*message_list(prompt), assistant(completion)]}

    def pair(self, prompt: Prompt, chosen: str, rejected: str) -> dict[str, object]:
        """Return prompt, better and worse answer as lists of messages."""
        return {
            "prompt": message_list(prompt),
            "chosen": [assistant(chosen)],
            "rejected": [assistant(rejected)],
        }


class PromptCompletion(Messages):
    """``prompt`` and ``completion`` as lists of messages, so that only the answer is learnt."""

    name = "prompt-completion"
    example_columns: tuple[Column, ...] = (
        Column(
            "prompt", "messages", "System message, then user and assistant by turns; the user last."
        ),
        Column("completion", "messages", "The answer, as one message."),
    )

    def example(self, prompt: Prompt, completion: str) -> dict[str, object]:
        """Return the prompt and its answer apart."""
        return {"prompt": message_list(prompt), "completion": [assistant(completion)]}


MESSAGES = Messages()
PROMPT_COMPLETION = PromptCompletion()
