import orjson
import pytest

from pipeline.providers.anthropic import AnthropicProvider
from pipeline.providers.errors import ServerFault
from pipeline.providers.protocol import Choice, Usage
from pipeline.providers.wire_anthropic import (
    CACHED_S,
    LEAST_CACHED_BYTES,
    MOST_TEXTS,
    RecentTexts,
    call_of,
    read_reply,
    read_usage,
)
from prompts.question import Message
from scenarios.arms import Parameters
from tests.pipeline.providers.asking import SCHEMA, make_request


def answer(**fields):
    text = [{"type": "text", "text": "hi"}]
    return orjson.dumps({"id": "msg", "content": text, "stop_reason": "end_turn", **fields})


LONG = "x" * LEAST_CACHED_BYTES


def test_the_system_text_stands_apart_and_may_be_cached():
    call = call_of(make_request(), cached=True)
    (block,) = call.arguments["system"]
    assert block["text"].startswith("Answer in JSON.")
    assert block["cache_control"] == {"type": "ephemeral"}
    assert "cache_control" not in call_of(make_request()).arguments["system"][0]
    assert [m["role"] for m in call.arguments["messages"]] == ["user"]


def test_a_text_is_marked_when_it_comes_again_while_the_cache_holds_it():
    now = 0.0
    recent = RecentTexts(lambda: now)
    assert [recent.comes_again(LONG) for _ in range(3)] == [False, True, True]
    assert not recent.comes_again(LONG + "y")
    now = CACHED_S - 1
    assert recent.comes_again(LONG)
    now += CACHED_S - 1  # each time it is sent counts anew
    assert recent.comes_again(LONG)
    now += CACHED_S
    assert [recent.comes_again(LONG) for _ in range(2)] == [False, True]


def test_a_short_text_is_never_marked():
    recent = RecentTexts()
    assert not any(recent.comes_again(LONG[:-1]) for _ in range(3))
    assert not any(recent.comes_again("") for _ in range(3))


def test_of_many_texts_the_one_not_sent_for_longest_is_forgotten():
    recent = RecentTexts(lambda: 0.0)
    for number in range(MOST_TEXTS):
        recent.comes_again(f"{number:08}{LONG}")
    assert recent.comes_again(f"{0:08}{LONG}")
    assert not recent.comes_again(f"{MOST_TEXTS:08}{LONG}")
    assert recent.comes_again(f"{0:08}{LONG}")
    assert not recent.comes_again(f"{1:08}{LONG}")


def test_a_provider_marks_what_it_sends_again_and_each_text_by_itself():
    provider = AnthropicProvider("http://127.0.0.1:9", "k", 1, {})
    asked = [Message("system", LONG), Message("user", "hi")]
    other = [Message("system", f"{LONG}!"), Message("user", "hi")]
    calls = [provider.call_of(make_request(messages=tuple(m))) for m in (asked, other, asked)]
    marked = ["cache_control" in call.arguments["system"][0] for call in calls]
    assert marked == [False, False, True]


def test_without_a_system_text_no_empty_one_is_sent():
    assert "system" not in call_of(make_request(messages=(Message("user", "hi"),))).arguments


def test_sampling_parameters_go_where_the_sdk_still_takes_them():
    call = call_of(make_request(parameters=Parameters(0.5, 0.9, 64, {"top_k": 20})))
    assert call.extra_body == {"temperature": 0.5, "top_p": 0.9, "top_k": 20}
    assert call.arguments["max_tokens"] == 64
    assert call.fields >= {"temperature", "top_k", "max_tokens", "output_config", "system"}


def test_the_schema_goes_into_the_output_format():
    call = call_of(make_request())
    assert call.arguments["output_config"] == {"format": {"type": "json_schema", "schema": SCHEMA}}
    assert "output_config" not in call_of(make_request(structured="instruct")).arguments


def test_omitted_fields_are_left_out_of_both_parts():
    call = call_of(make_request(omit=frozenset({"temperature", "output_config"})))
    assert not call.fields & {"temperature", "output_config"}


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("end_turn", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "refusal"),
        ("pause_turn", "other"),
        (None, "other"),
        (["end_turn"], "other"),
        ({"a": 1}, "other"),
    ],
)
def test_every_way_to_end_is_understood(reason, finish):
    assert read_reply(answer(stop_reason=reason)).choices == (Choice("hi", finish),)


def test_thinking_is_not_part_of_the_text():
    blocks = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}]
    assert read_reply(answer(content=blocks)).choices[0].text == "a"


def test_a_refusal_without_words_is_a_choice_and_nothing_at_all_is_none():
    assert read_reply(answer(content=[], stop_reason="refusal")).choices == (Choice("", "refusal"),)
    assert read_reply(answer(content=[])).choices == ()


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"choices":[]}', b'{"content":"hi"}'])
def test_an_answer_of_another_format_is_a_server_fault(body):
    with pytest.raises(ServerFault):
        read_reply(body)


def test_tokens_read_from_and_written_to_the_cache_are_part_of_the_prompt():
    usage = {
        "input_tokens": 10,
        "cache_read_input_tokens": 100,
        "cache_creation_input_tokens": 50,
        "output_tokens": 7,
        "output_tokens_details": {"thinking_tokens": 3},
    }
    assert read_usage(usage) == Usage(
        prompt=160, completion=7, cached=100, reasoning=3, cache_written=50
    )


def test_zeros_beside_a_prompt_and_a_text_are_no_usage():
    usage = {"input_tokens": 0, "output_tokens": 0}
    assert read_reply(answer(usage=usage)).usage is None
    assert read_reply(answer(usage={**usage, "input_tokens": 9})).usage is None


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {},
        {"input_tokens": 1},
        {"output_tokens": 1},
        {"input_tokens": 2**63, "output_tokens": 1},
        {"input_tokens": 1, "output_tokens": -1},
        {"input_tokens": 1, "output_tokens": 1, "cache_read_input_tokens": 1e30},
        {"input_tokens": 1, "output_tokens": 1, "cache_creation_input_tokens": "many"},
    ],
)
def test_usage_that_is_not_there_is_not_invented(usage):
    assert read_usage(usage) is None
