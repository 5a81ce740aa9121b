"""Tokenizers that know more tokens than their model, or less than a prompt needs, or no end."""

from __future__ import annotations

import asyncio
import copy
from importlib import import_module
from importlib.util import find_spec

import orjson
import pytest

from pipeline.providers.errors import BadRequest
from prompts.question import Message
from scenarios.errors import UsageError
from tests.pipeline.providers.hf.asking import request
from tests.tiny_model import save_tiny_model, tiny_tokenizer

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(
        any(find_spec(package) is None for package in ("torch", "transformers", "llguidance")),
        reason="needs pip install 'hipo[local]'",
    ),
]
BOUNDED = {
    "type": "object",
    "properties": {"act": {"enum": ["Directives"]}, "n": {"type": "integer", "maximum": 9}},
    "required": ["act", "n"],
    "additionalProperties": False,
}


def held(folder, **changes):
    parameters = {"temperature": 1.0, "max_tokens": 60}
    return request(folder, structured="native", schema=BOUNDED, parameters=parameters, **changes)


@pytest.mark.parametrize("more", [1, 25])
async def test_more_tokens_than_the_model_has_are_no_bar_to_a_schema(hf, tmp_path, more):
    """25 of them need one more number of 32 tokens than the model's do."""
    folder = save_tiny_model(tmp_path / "m", brief=True)
    tokenizer = copy.deepcopy(tiny_tokenizer())
    tokenizer.add_tokens([f"<|{i}|>" for i in range(more)], special_tokens=True)
    tokenizer.save_pretrained(folder)
    reply = await hf.send(held(folder, n=3), 60)
    assert [orjson.loads(choice.text)["act"] for choice in reply.choices] == ["Directives"] * 3
    assert {choice.finish for choice in reply.choices} == {"stop"}


async def test_an_answer_that_is_complete_has_ended_also_where_no_token_says_so(hf, tmp_path):
    tokenizer = copy.deepcopy(tiny_tokenizer())
    folder = save_tiny_model(tmp_path / "m", brief=True)
    tokenizer.eos_token = None
    tokenizer.save_pretrained(folder)
    for file in ("config.json", "generation_config.json"):
        fields = orjson.loads((folder / file).read_bytes())
        del fields["eos_token_id"]
        (folder / file).write_bytes(orjson.dumps(fields))
    reply = await hf.send(held(folder), 60)
    assert reply.choices[0].finish == "stop"
    assert reply.usage.completion < 60
    assert orjson.loads(reply.choices[0].text)["act"] == "Directives"


async def outcomes(hf, *requests):
    return await asyncio.gather(*(hf.send(one, 60) for one in requests), return_exceptions=True)


async def test_a_text_that_the_tokenizer_cannot_take_fails_alone(hf, model):
    asked = [request(model, text) for text in ("Why?", "\ud800", "Why not?")]
    first, second, third = await outcomes(hf, *asked)
    assert [reply.choices[0].finish for reply in (first, third)] == ["length"] * 2
    assert isinstance(second, BadRequest)
    assert "does not take the prompt" in str(second)


async def test_a_text_that_the_tokenizer_makes_nothing_of_fails_alone(hf, tmp_path):
    tokenizers = import_module("tokenizers")
    words = tokenizers.Tokenizer(tokenizers.models.BPE())
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    words.train_from_iterator(["why not"], tokenizers.trainers.BpeTrainer(special_tokens=["<e>"]))
    made = import_module("transformers").PreTrainedTokenizerFast(
        tokenizer_object=words, eos_token="<e>", pad_token="<e>"
    )
    made.chat_template = "{{ messages[0].content }}"
    folder = save_tiny_model(tmp_path / "m", tokenizer=made)
    asked = [request(folder, messages=(Message("user", text),)) for text in ("why", "你好")]
    known, unknown = await outcomes(hf, *asked)
    assert known.choices[0].text
    assert isinstance(unknown, BadRequest)
    assert "makes no token of the prompt" in str(unknown)


async def test_a_template_that_is_none_is_told_when_the_model_is_loaded(hf, tmp_path):
    folder = save_tiny_model(tmp_path / "m", chat_template="{% for %}")
    with pytest.raises(
        UsageError, match=r"the chat template of hf/.* cannot be read: line 1"
    ) as told:
        await hf.send(request(folder), 60)
    assert "chat_template" in told.value.hint
