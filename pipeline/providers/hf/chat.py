"""Messages as one model was taught to read them: its chat template, in tokens."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from jinja2.exceptions import TemplateError

from pipeline.providers.errors import BadRequest
from pipeline.providers.hf.settings import PLAIN, LocalSettings
from prompts.question import Message
from scenarios.errors import UsageError

PLAIN_TEMPLATE: Final = """\
{%- if bos_token is defined and bos_token %}{{ bos_token }}{% endif -%}
{%- for message in messages -%}
{{ message.role | capitalize }}:
{{ message.content }}

{% endfor -%}
Assistant:
"""
"""For models that were never taught to chat: each message under the name of its role."""


class ChatFormat:
    """Turns messages into the tokens of a prompt that the model goes on from."""

    def __init__(self, name: str, tokenizer: Any, settings: LocalSettings) -> None:
        """Take the template of the settings, else the tokenizer's own.

        Raises:
            UsageError: there is none.
        """
        self._name = name
        self._tokenizer = tokenizer
        self._template = _template(settings)
        self._options = settings.chat_template_kwargs
        if self._template is None and not tokenizer.chat_template:
            raise UsageError(
                f"the tokenizer of {name} has no chat template: it is a model that goes on with"
                " texts, and was not taught to answer",
                "take one that was, or set extra: {chat_template: plain} for it, or to a Jinja file",
            )

    def tokens(self, messages: Sequence[Message]) -> list[int]:
        """Return the prompt, ending where the answer begins.

        Some templates know no system message: it then begins the first message of the user.

        Raises:
            BadRequest: the template does not take messages in this order.
        """
        rows = [{"role": message.role, "content": message.content} for message in messages]
        try:
            text = self._rendered(rows)
        except TemplateError as error:
            folded = _without_system(rows)
            if folded == rows:
                raise self._refused(error) from error
            try:
                text = self._rendered(folded)
            except TemplateError as again:
                raise self._refused(again) from again
        # The template writes the special tokens itself.
        tokens: list[int] = self._tokenizer(text, add_special_tokens=False)["input_ids"]
        return tokens

    def _rendered(self, rows: Sequence[dict[str, str]]) -> str:
        text: str = self._tokenizer.apply_chat_template(
            list(rows),
            chat_template=self._template,
            tokenize=False,
            add_generation_prompt=True,
            **self._options,
        )
        return text

    def _refused(self, error: TemplateError) -> BadRequest:
        return BadRequest(f"the chat template of {self._name} refuses the messages: {error}")


def _template(settings: LocalSettings) -> str | None:
    """Return the template that the settings name, None where they name none."""
    if settings.chat_template == PLAIN:
        return PLAIN_TEMPLATE
    file: Path | None = settings.template_file
    return None if file is None else file.read_text("utf-8")


def _without_system(rows: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """Put what the system says before what the user says first."""
    system = "\n\n".join(row["content"] for row in rows if row["role"] == "system")
    others = [dict(row) for row in rows if row["role"] != "system"]
    if system and others:
        others[0]["content"] = f"{system}\n\n{others[0]['content']}"
    return others
