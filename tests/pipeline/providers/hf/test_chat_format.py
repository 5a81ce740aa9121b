"""Messages as the text that a model of transformers continues."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from pipeline.providers.errors import BadRequest
from pipeline.providers.hf.chat import ChatFormat
from pipeline.providers.hf.settings import LocalSettings
from prompts.question import Message
from tests.tiny_model import tiny_tokenizer

pytestmark = pytest.mark.skipif(
    find_spec("transformers") is None, reason="needs pip install 'hipo[local]'"
)


def chat(template=None, **extra):
    settings = LocalSettings.model_validate(extra)
    tokenizer = tiny_tokenizer(chat_template=template)
    return ChatFormat("hf/tiny", tokenizer, settings), tokenizer


def read(form, tokenizer, *messages):
    [tokens] = form.tokens([form.text([Message(role, text) for role, text in messages])])
    return tokenizer.decode(tokens)


def test_the_plain_form_puts_each_message_under_its_role():
    text = read(*chat(chat_template="plain"), ("system", "Be."), ("user", "Why?"))
    assert text == "<|system|>\nBe.<|end|>\n<|user|>\nWhy?<|end|>\n<|assistant|>\n"


def test_a_template_that_knows_no_system_message_gets_it_with_the_first_of_the_user():
    template = (
        "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system') }}"
        "{% endif %}<{{ m.role }}>{{ m.content }}{% endfor %}"
    )
    text = read(*chat(template), ("system", "Be."), ("user", "Why?"), ("assistant", "So."))
    assert text == "<user>Be.\n\nWhy?<assistant>So."


def test_a_template_that_passes_a_system_message_over_gets_it_with_the_first_of_the_user():
    template = (
        "{% for m in messages %}{% if m.role == 'user' %}<user>{{ m.content | trim }}"
        "{% elif m.role == 'assistant' %}<assistant>{{ m.content }}{% endif %}{% endfor %}"
    )
    said = [("system", " Be."), ("user", "Why?\n"), ("assistant", "So.")]
    assert read(*chat(template), *said) == "<user>Be.\n\nWhy?<assistant>So."


@pytest.mark.parametrize(
    ("template", "why"),
    [
        ("{{ messages[1].content }}", "leaves out what a user message says"),
        ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "recursion"),
        ("{{ raise_exception('roles must alternate') }}", "roles must alternate"),
        ("{{ messages[0].content + 1 }}", "can only concatenate str"),
        ("{{ 1 // ((messages | length) - 2) }}", "division"),
    ],
)
def test_a_template_that_refuses_the_messages_fails_the_case(template, why):
    form, _ = chat(template)
    with pytest.raises(BadRequest, match=f"hf/tiny refuses the messages: .*{why}"):
        form.text([Message("user", "Why?"), Message("user", "How?")])


def test_a_template_that_makes_nothing_of_the_messages_fails_the_case():
    form, _ = chat("{% if false %}x{% endif %}")
    with pytest.raises(BadRequest, match="it makes nothing of them"):
        form.text([Message("user", "")])


def test_a_template_of_the_users_own_is_read_from_its_file_with_its_settings(tmp_path):
    file = tmp_path / "own.jinja"
    file.write_text("{{ messages[0].content }}{% if quick %}!{% endif %}")
    form, tokenizer = chat(chat_template=str(file), chat_template_kwargs={"quick": True})
    assert read(form, tokenizer, ("user", "Why")) == "Why!"
