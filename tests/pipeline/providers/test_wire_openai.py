import contextlib
import json

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.providers.connection import HttpProvider
from pipeline.providers.errors import OutOfFunds, RateLimited, ServerFault
from pipeline.providers.failures import was_surely_free
from pipeline.providers.protocol import Choice, Usage
from pipeline.providers.untrusted import MOST_TOKENS
from pipeline.providers.wire_openai import body_of, failed_generation, read_reply, read_usage
from prompts.question import Message
from scenarios.arms import Parameters
from tests.pipeline.providers.asking import SCHEMA, make_request
from tests.wire.fuzz import assert_reply_is_sound


def answer(**fields):
    return orjson.dumps({"id": "x", "choices": [], **fields})


def choice(index=0, content="hi", finish="stop", **message):
    body = {"role": "assistant", "content": content, **message}
    return {"index": index, "message": body, "finish_reason": finish}


def test_a_body_asks_for_n_seeded_samples_in_the_schema():
    body = body_of(make_request(n=3, parameters=Parameters(0.5, 0.9, 64, {"top_k": 20})))
    assert body["n"] == 3
    assert body["seed"] == 7
    assert (body["temperature"], body["top_p"], body["top_k"]) == (0.5, 0.9, 20)
    assert body["max_tokens"] == 64
    assert body["response_format"]["json_schema"]["strict"] is True
    assert body["response_format"]["json_schema"]["schema"] == SCHEMA


def test_what_is_not_set_is_not_sent():
    body = body_of(make_request(parameters=Parameters(), structured="instruct"))
    assert set(body) == {"model", "messages", "seed", "max_tokens"}


@pytest.mark.parametrize(
    ("preferred", "omit", "sent"),
    [
        ("max_tokens", set(), "max_tokens"),
        ("max_tokens", {"max_tokens"}, "max_completion_tokens"),
        ("max_completion_tokens", set(), "max_completion_tokens"),
        ("max_completion_tokens", {"max_completion_tokens"}, "max_tokens"),
    ],
)
def test_the_length_limit_changes_its_spelling_when_one_is_rejected(preferred, omit, sent):
    body = body_of(make_request(omit=frozenset(omit)), preferred)
    assert body.keys() & {"max_tokens", "max_completion_tokens"} == {sent}


@given(st.sets(st.sampled_from(["seed", "temperature", "n", "response_format", "top_k"])))
def test_omitted_fields_are_left_out_and_no_others(omit):
    request = make_request(n=2, parameters=Parameters(1.0, None, 9, {"top_k": 1}))
    full = body_of(request)
    less = body_of(make_request(n=2, parameters=request.parameters, omit=frozenset(omit)))
    assert less == {name: value for name, value in full.items() if name not in omit}


def test_choices_come_in_the_order_of_their_index():
    reply = read_reply(answer(choices=[choice(1, "b"), choice(0, "a")]))
    assert [c.text for c in reply.choices] == ["a", "b"]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (choice(finish="length"), Choice("hi", "length")),
        (choice(finish="content_filter"), Choice("hi", "refusal")),
        (choice(content=None, refusal="I won't."), Choice("I won't.", "refusal")),
        (choice(content=None), Choice("", "stop")),
        (choice(finish=None), Choice("hi", "other")),
        (choice(finish=["stop"]), Choice("hi", "other")),
        (choice(finish={"reason": "stop"}), Choice("hi", "other")),
        (choice(finish=7), Choice("hi", "other")),
        (choice(finish="STOP"), Choice("hi", "stop")),
        (choice(finish="MAX_TOKENS"), Choice("hi", "length")),
        (choice(content=None, finish="content_filter: PROHIBITED_CONTENT"), Choice("", "refusal")),
        (choice(content=None, finish="SAFETY"), Choice("", "refusal")),
        (choice(content=[{"type": "text", "text": "a"}, {"text": "b"}]), Choice("ab", "stop")),
        (
            choice(content=[{"type": "thinking", "thinking": [{"text": "?"}]}, {"text": "b"}]),
            Choice("b", "stop"),
        ),
        (choice(content={"utterance": "hi"}), Choice('{"utterance":"hi"}', "stop")),
        (choice(content=None, reasoning_content=' {"a": 1}\n'), Choice('{"a": 1}', "stop")),
        (choice(content="", reasoning='{"a": 1}'), Choice('{"a": 1}', "stop")),
        (choice(content="", reasoning="Let me see."), Choice("", "stop")),
        (choice(content="", finish="length", reasoning='{"a": {}}'), Choice("", "length")),
        ({"text": "bare", "finish_reason": "stop"}, Choice("bare", "stop")),
    ],
)
def test_every_way_to_end_is_understood(data, expected):
    assert read_reply(answer(choices=[data])).choices == (expected,)


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"object":"list"}', b'{"choices":{}}'])
def test_an_answer_of_another_format_is_a_server_fault(body):
    with pytest.raises(ServerFault):
        read_reply(body)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 4}, Usage(9, 4)),
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 4,
                "prompt_tokens_details": {"cached_tokens": 8},
                "completion_tokens_details": {"reasoning_tokens": 3},
            },
            Usage(9, 4, 8, 3),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 4, "prompt_cache_hit_tokens": 5},
            Usage(9, 4, 5),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": None},
            Usage(9, 4),
        ),
        # what is more than the prompt stands beside it
        ({"prompt_tokens": 9, "completion_tokens": 4, "cached_tokens": 50}, Usage(59, 4, 50)),
        (
            {
                "prompt_tokens": 90,
                "completion_tokens": 4,
                "total_tokens": 144,
                "prompt_tokens_details": {"cached_tokens": 30},
                "cache_creation_input_tokens": 20,
            },
            Usage(140, 4, 30, cache_written=20),
        ),
        (
            {
                "prompt_tokens": 2_600,
                "completion_tokens": 4,
                "total_tokens": 2_604,
                "prompt_tokens_details": {"cached_tokens": 2_000, "cache_write_tokens": 400},
            },
            Usage(2_600, 4, 2_000, cache_written=400),
        ),
        ({"prompt_tokens": None, "completion_tokens": 4}, None),
        ({"prompt_tokens": True, "completion_tokens": 4}, None),
        ({"prompt_tokens": -1, "completion_tokens": 4}, None),
        ({"prompt_tokens": 9.0, "completion_tokens": 4}, Usage(9, 4)),
        ({"prompt_tokens": float("nan"), "completion_tokens": 4}, None),
        ({"prompt_tokens": MOST_TOKENS + 1, "completion_tokens": 4}, None),
        ({"prompt_tokens": 9, "completion_tokens": 10**9}, None),
        ({"prompt_tokens": 2**63, "completion_tokens": 4}, None),
        ({"prompt_tokens": 9, "completion_tokens": 1e30}, None),
        ({"prompt_tokens": 9, "completion_tokens": 4, "cached_tokens": 2**64}, Usage(9, 4)),
        (
            {
                "prompt_tokens": 10_120,
                "completion_tokens": 1_499,
                "total_tokens": 14_428,
                "completion_tokens_details": {"reasoning_tokens": 2_809},
            },
            Usage(10_120, 4_308, 0, 2_809),
        ),
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 4,
                "completion_tokens_details": {"reasoning_tokens": 50},
            },
            Usage(9, 54, 0, 50),
        ),
        (
            {"prompt_tokens": 20, "completion_tokens": 198, "total_tokens": 623},
            Usage(20, 603),
        ),
        ({"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}, Usage(9, 4)),
        ({"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 0}, Usage(9, 4)),
        ({"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": "13"}, Usage(9, 4)),
        ({}, None),
        (None, None),
    ],
)
def test_usage_is_read_in_every_spelling_and_never_invented(data, expected):
    assert read_usage(data) == expected


@pytest.mark.parametrize(
    ("usage", "text", "expected"),
    [
        ({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}, "hi", None),
        ({"prompt_tokens": 0, "completion_tokens": 4}, "hi", None),
        ({"prompt_tokens": 9, "completion_tokens": 0}, "hi", None),
        ({"prompt_tokens": 9, "completion_tokens": 0}, "", Usage(9, 0)),
    ],
)
def test_a_text_of_no_tokens_and_a_prompt_of_none_are_no_usage(usage, text, expected):
    assert read_reply(answer(choices=[choice(content=text)], usage=usage)).usage == expected


@pytest.mark.parametrize(
    ("code", "kind"), [(429, RateLimited), ("429", RateLimited), (502, ServerFault)]
)
def test_a_choice_that_is_an_error_is_none(code, kind):
    error = {"code": code, "message": "upstream broke"}
    bad = {"index": 0, "finish_reason": "error", "message": {"content": "He"}, "error": error}
    kept = read_reply(answer(choices=[bad, choice(1, "b")]))
    assert [c.text for c in kept.choices] == ["b"]
    with pytest.raises(kind, match="upstream broke") as raised:
        HttpProvider("http://x", None, {}).read(read_reply, answer(choices=[bad]), {}, ())
    assert was_surely_free(raised.value) is (kind is RateLimited)


def test_an_error_beside_an_empty_list_of_choices_is_that_error():
    body = answer(error={"code": 402, "message": "Insufficient credits"})
    with pytest.raises(OutOfFunds):
        HttpProvider("http://x", None, {}).read(read_reply, body, {}, ())


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"\n<!doctype html><html>", "web page"),
        (b'data: {"choices": []}\n\n', "stream of events"),
        (b"", "not JSON"),
    ],
)
def test_what_is_no_json_is_called_what_it_is(body, says):
    with pytest.raises(ServerFault, match=says):
        read_reply(body)


@pytest.mark.parametrize(
    ("choices", "timings", "completion"),
    [
        ([choice(0, "a" * 40), choice(1, "b" * 101)], {"predicted_n": 10}, 36),
        ([choice(1, "b" * 100), choice(0, "a" * 40)], {"predicted_n": 10}, 14),
        ([choice(0, "a" * 40)], {"predicted_n": 10}, 10),
        ([choice(0, "a" * 40), choice(1, "b" * 100)], {"predicted_n": 7}, 10),
        ([choice(0, ""), choice(1, "b" * 100)], {"predicted_n": 10}, 10),
        ([choice(0, "a" * 40), choice(1, "b" * 100)], None, 10),
    ],
)
def test_a_server_that_counts_one_choice_alone_has_the_others_counted_by_length(
    choices, timings, completion
):
    usage = {"prompt_tokens": 9, "completion_tokens": 10}
    reply = read_reply(answer(choices=choices, usage=usage, timings=timings))
    assert reply.usage == Usage(9, completion)


def test_a_count_by_length_stays_plausible():
    usage = {"prompt_tokens": 9, "completion_tokens": MOST_TOKENS}
    choices = [choice(0, "a"), choice(1, "b" * 1_000)]
    reply = read_reply(answer(choices=choices, usage=usage, timings={"predicted_n": MOST_TOKENS}))
    assert reply.usage == Usage(9, MOST_TOKENS)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["choices", "message", "content", "usage", "index", "text"]), inner
        )
    ),
)


@given(st.dictionaries(st.sampled_from(["choices", "usage", "id"]), json_values))
def test_no_json_whatsoever_makes_the_reader_stumble(data):
    with contextlib.suppress(ServerFault):
        assert_reply_is_sound(read_reply(json.dumps(data).encode()))


def test_what_the_system_says_begins_the_first_message_for_a_model_without_system_role():
    said = (("system", "Play."), ("user", "Now?"), ("assistant", "?"), ("user", "Again."))
    messages = tuple(Message(*one) for one in said)
    body = body_of(make_request(messages=messages, omit=frozenset({"system_role"})))
    found = [(message["role"], message["content"]) for message in body["messages"]]
    assert found == [("user", "Play.\n\nNow?"), *said[2:]]


def events(*pieces):
    return b"".join(b"data: " + orjson.dumps(piece) + b"\r\n\r\n" for piece in pieces)


def test_a_stream_that_nobody_asked_for_is_joined_choice_by_choice():
    first, second = ({"index": i, "delta": {"content": t}} for i, t in enumerate("ab"))
    rest = {"index": 0, "delta": {"content": "c", "role": "assistant"}}
    ends = [{"index": i, "delta": {}, "finish_reason": "stop"} for i in range(2)]
    data = events(
        {"model": "m", "choices": [second]},
        {"choices": [first], "usage": None},
        {"choices": [rest]},
        {"choices": ends},
        {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4}},
    )
    reply = read_reply(b": ping\n\n" + data + b"data: [DONE]\n\n")
    assert reply.choices == (Choice("ac", "stop"), Choice("b", "stop"))
    assert reply.usage == Usage(9, 4)
    assert reply.model == "m"


@pytest.mark.parametrize(
    "piece",
    [{"choices": [None, {"index": [], "delta": "x"}]}, {"choices": [{"delta": {"content": 3}}]}],
)
def test_a_stream_of_odd_pieces_makes_the_reader_not_stumble(piece):
    assert read_reply(events(piece) + b"data: [DONE]\n\n").choices == (Choice("", "other"),)


CUT = {"choices": [{"index": 0, "delta": {"content": "I would ne"}}]}
FAULT = {"error": {"code": 502}, "choices": [{"index": 0, "delta": {}, "finish_reason": "error"}]}


@pytest.mark.parametrize("pieces", [(CUT,), (CUT, FAULT), (CUT, {"error": {"message": "no"}})])
def test_what_a_stream_brought_before_it_broke_is_no_answer(pieces):
    end = b"data: [DONE]\n\n" if len(pieces) > 1 else b""
    with pytest.raises(ServerFault, match="without a whole answer"):
        read_reply(events(*pieces) + end)
    whole = {"choices": [{"index": 1, "delta": {"content": "b"}, "finish_reason": "stop"}]}
    reply = read_reply(events(whole, *pieces) + end)
    assert reply.choices == (Choice("b", "stop"),)


def test_a_mark_at_the_beginning_of_an_answer_is_passed_over():
    data = b"\xef\xbb\xbf" + answer(choices=[choice()])
    reply = HttpProvider("http://x", None, {}).read(read_reply, data, {}, ())
    assert reply.choices == (Choice("hi", "stop"),)


@pytest.mark.parametrize("key", ["sk-abcdEFGH1234", "abcd/EFGH+1234=="])
@pytest.mark.parametrize(
    "escaped",
    [
        lambda key: f"\\u{ord(key[0]):04x}{key[1:]}",
        lambda key: "".join(f"\\u{ord(character):04X}" for character in key),
        lambda key: key.replace("/", "\\/"),
    ],
    ids=["one character", "all of them", "slashes"],
)
def test_a_key_that_is_repeated_in_escapes_is_masked(escaped, key):
    data = answer(choices=[choice()]).replace(b'"hi"', f'"It is {escaped(key)}."'.encode())
    reply = HttpProvider("http://x", key, {}).read(read_reply, data, {}, ())
    assert reply.choices == (Choice("It is [key].", "stop"),)


def test_an_answer_inside_an_error_is_an_answer():
    error = {"code": "json_validate_failed", "failed_generation": "{"}
    assert failed_generation(orjson.dumps({"error": error})).choices == (Choice("{", "other"),)
    assert failed_generation(b'{"error": {"failed_generation": null}}') is None
    assert failed_generation(b"no") is None
