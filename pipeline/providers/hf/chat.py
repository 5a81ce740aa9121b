"""Messages as one model was taught to read them: its chat template, in tokens."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from jinja2.exceptions import TemplateError, TemplateSyntaxError

from pipeline.providers.errors import BadRequest
from pipeline.providers.hf.settings import PLAIN, LocalSettings
from pipeline.providers.system_messages import without_system
from pipeline.torch_setup import tokenizing_on_all_cores
from prompts.question import Message
from scenarios.errors import UsageError
from scenarios.log import logger

PLAIN_TEMPLATE: Final = (
    "{% for message in messages %}"
    "{{ '<|' + message['role'] + '|>\\n' + message['content'] + (eos_token or '') + '\\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% endif %}"
)
"""For models that were never taught to chat, in training and after it: the role on a line of its own,
as ``<|user|>``, then the text and the token that ends a sequence."""
_FAULTS: Final = (
    TemplateError,
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What the program that a template is may raise; it concerns one prompt, not its batch."""
_log = logger("models")


class ChatFormat:
    """Turns messages into the tokens of a prompt that the model goes on from."""

    def __init__(self, name: str, tokenizer: Any, settings: LocalSettings) -> None:
        """Take the template of the settings, else the tokenizer's own, else the plain one.

        Raises:
            UsageError: it is no template.
        """
        self._name = name
        self._tokenizer = tokenizer
        self._template = _template(settings)
        self._options = settings.chat_template_kwargs
        if self._template is None and not tokenizer.chat_template:
            _log.warning("%s has no chat template: it is asked with a plain one", name)
            self._template = PLAIN_TEMPLATE
        self._check()

    def _check(self) -> None:
        """Do nothing where the template can be read, whatever it makes of messages.

        Raises:
            UsageError: it cannot.
        """
        try:
            self._rendered([{"role": "user", "content": "Hello."}])
        except TemplateSyntaxError as error:
            raise UsageError(
                f"the chat template of {self._name} cannot be read: line {error.lineno}: {error.message}",
                "mend it, or give another by extra: {chat_template: FILE}",
            ) from error
        except _FAULTS:
            return  # it may want other messages

    def text(self, messages: Sequence[Message]) -> str:
        """Return the prompt, ending where the answer begins.

        Some templates know no system message, and refuse it or pass it over in silence: it then
        begins the first message of the user.

        Raises:
            BadRequest: the template does not take messages in this order, or loses one.
        """
        rows = [{"role": message.role, "content": message.content} for message in messages]
        try:
            return self._whole(rows)
        except _FAULTS as error:
            folded = without_system(rows)
            if folded == rows:
                raise self._refused(error) from error
            try:
                return self._whole(folded)
            except _FAULTS as again:
                raise self._refused(again) from again

    def tokens(self, texts: Sequence[str]) -> list[list[int] | BadRequest]:
        """Return the tokens of each prompt, or why there are none.

        All cores are at work: a long prompt takes some milliseconds.
        """
        if not texts:
            return []
        try:
            with tokenizing_on_all_cores():
                # The template writes the special tokens itself.
                rows = self._tokenizer(list(texts), add_special_tokens=False)["input_ids"]
        except Exception as error:  # noqa: BLE001 - what is raised in Rust is of no other class
            if len(texts) == 1:
                return [
                    BadRequest(f"the tokenizer of {self._name} does not take the prompt: {error}")
                ]
            return [row for text in texts for row in self.tokens([text])]
        nothing = f"the tokenizer of {self._name} makes no token of the prompt"
        return [row or BadRequest(nothing) for row in rows]

    def _whole(self, rows: Sequence[dict[str, str]]) -> str:
        """Return messages as text.

        Raises:
            ValueError: a message is not in it, or nothing is. What the template may raise comes as
                it is.
        """
        text = self._rendered(rows)
        if not text:
            raise ValueError("it makes nothing of them")
        if role := left_out(rows, text):
            raise ValueError(f"it leaves out what a {role} message says")
        return text

    def _rendered(self, rows: Sequence[dict[str, str]]) -> str:
        text: str = self._tokenizer.apply_chat_template(
            list(rows),
            chat_template=self._template,
            tokenize=False,
            add_generation_prompt=True,
            **self._options,
        )
        return text

    def _refused(self, error: Exception) -> BadRequest:
        return BadRequest(f"the chat template of {self._name} refuses the messages: {error}")


def _template(settings: LocalSettings) -> str | None:
    """Return the template that the settings name, None where they name none."""
    if settings.chat_template == PLAIN:
        return PLAIN_TEMPLATE
    file: Path | None = settings.template_file
    return None if file is None else file.read_text("utf-8")


def left_out(messages: Sequence[dict[str, str]], text: str) -> str | None:
    """Return whose message a template lost, of system and user; templates may change blanks."""
    whole = "".join(text.split())
    for message in messages:
        if message["role"] != "assistant" and "".join(message["content"].split()) not in whole:
            return message["role"]
    return None
