"""Conversations as a base model reads them, where its tokenizer leaves something open."""

from __future__ import annotations

from collections.abc import Sequence

from outputs.training.training_set import Conversation

PLAIN_TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<|' + message['role'] + '|>\\n' + message['content'] + eos_token + '\\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% endif %}"
)
"""What a tokenizer without a chat template gets, saved with the adapter: the role on a line of its
own, as ``<|user|>``, then the text and the token that ends a sequence."""


def without_system(messages: Sequence[dict[str, str]]) -> Conversation:
    """Put what the system messages say at the head of the first other message.

    For models whose template knows no system role.
    """
    system = [m["content"] for m in messages if m["role"] == "system"]
    others = [dict(m) for m in messages if m["role"] != "system"]
    if system and others:
        others[0]["content"] = "\n\n".join([*system, others[0]["content"]])
    return others
