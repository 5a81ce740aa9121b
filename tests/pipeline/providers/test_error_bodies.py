"""What the body of an error tells: its message, the field that is not taken, the sizes of a context, the pause."""

import orjson
import pytest

from pipeline.providers.error_body import read_error
from pipeline.providers.errors import (
    BadRequest,
    ContextExceeded,
    FieldRejected,
)
from tests.pipeline.providers.test_failures import GEMINI, fail, openai


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (openai("went wrong"), "went wrong"),
        ({"error": "went wrong"}, "went wrong"),
        ({"detail": "went wrong"}, "went wrong"),
        ({"detail": [{"loc": ["body", "n"], "msg": "went wrong", "type": "x"}]}, "went wrong"),
        ({"object": "error", "message": "went wrong", "code": 400}, "went wrong"),
        ({"message": {"detail": [{"loc": ["body"], "msg": "went wrong"}]}}, "went wrong"),
        ({"type": "error", "error": {"type": "api_error", "message": "went wrong"}}, "went wrong"),
        ([{"error": {"code": 400, "message": "went wrong"}}], "went wrong"),
        (b"went wrong", "went wrong"),
        ({"success": False, "errors": [{"code": 7, "message": "went wrong"}]}, "went wrong"),
        (
            {
                "error": {
                    "message": "Provider returned error",
                    "code": 400,
                    "metadata": {"raw": '{"error": {"message": "went wrong"}}'},
                }
            },
            "Provider returned error: went wrong",
        ),
        (b"<html>bad gateway</html>", ""),
        ({}, ""),
        ([], ""),
        (None, ""),
    ],
)
def test_the_message_is_found_in_whatever_shape_the_body_has(body, message):
    data = body if isinstance(body, bytes) else orjson.dumps(body)
    assert read_error(data).message == message


@pytest.mark.parametrize(
    ("status", "body", "field"),
    [
        (400, openai("Unsupported parameter: 'seed'", "unsupported_parameter", "seed"), "seed"),
        (
            400,
            openai(
                "Unsupported value: 'temperature' does not support 0.7 with this model.",
                "unsupported_value",
                "temperature",
            ),
            "temperature",
        ),
        (
            400,
            openai("'max_tokens' is not supported with this model. Use 'max_completion_tokens'."),
            "max_tokens",
        ),
        (
            422,
            {
                "detail": [
                    {
                        "loc": ["body", "seed"],
                        "msg": "Extra inputs are not permitted",
                        "type": "extra_forbidden",
                    }
                ]
            },
            "seed",
        ),
        (400, {"error": {"message": "top_k: Extra inputs are not permitted"}}, "top_k"),
        (400, {"error": "'n' must be 1 for this model"}, "n"),
        (400, {"error": "response_format type json_schema is unavailable"}, "response_format"),
        (422, {"detail": "guided decoding is off"}, "response_format"),
        (
            404,
            {"error": {"message": "No endpoint supports response_format", "code": 404}},
            "response_format",
        ),
        (
            400,
            openai("Invalid schema", "invalid_value", "response_format.json_schema.schema"),
            "response_format",
        ),
        (400, {"error": "The specified schema has too many states"}, "response_format"),
        (400, {"message": "`temperature` and `top_p` cannot both be specified."}, "top_p"),
        (400, openai("`temperature` is not supported: use `top_p`."), "temperature"),
        (400, openai("invalid temperature: only 1 is allowed for this model"), "temperature"),
        (400, openai("`temperature` may only be set to 1 when thinking is on."), "temperature"),
        (400, {"error": "Argument not supported on this model: topP"}, "top_p"),
        (422, {"message": "body.seed : Extra inputs are not permitted", "param": "x"}, "seed"),
        (400, openai("This model doesn't support the temperature field."), "temperature"),
        (400, openai("System role not supported"), "system_role"),
        (400, openai("Developer instruction is not enabled for models/gemma"), "system_role"),
        (400, openai("'messages[0].role' does not support 'system' here"), "system_role"),
        (422, {"error": "Template error: Conversation roles must alternate"}, "system_role"),
    ],
)
def test_a_field_that_is_not_taken_is_named(status, body, field):
    error = fail(status, body)
    assert isinstance(error, FieldRejected)
    assert error.field == field


@pytest.mark.parametrize(
    "body",
    [
        openai(
            "Invalid 'temperature': must be at most 2", "decimal_above_max_value", "temperature"
        ),
        openai("Unsupported parameter: 'logprobs'", "unsupported_parameter", "logprobs"),
        openai("this is not supported in a message"),
        openai("unsupported role", "unsupported_value", "messages"),
    ],
)
def test_a_field_out_of_range_or_not_ours_is_the_users_to_mend(body):
    assert type(fail(400, body)) is BadRequest


@pytest.mark.parametrize(
    ("body", "sizes"),
    [
        (
            {
                "error": {
                    "code": 400,
                    "message": "the request exceeds the available context size, try increasing it",
                    "type": "exceed_context_size_error",
                    "n_prompt_tokens": 2302,
                    "n_ctx": 2048,
                }
            },
            (2302, 2048),
        ),
        (
            openai("request (2302 tokens) exceeds the available context size (2048 tokens)"),
            (2302, 2048),
        ),
        (
            openai(
                "This model's maximum context length is 4096 tokens. However, you requested 5000"
                " tokens (4000 in the messages, 1000 in the completion)."
            ),
            (5000, 4096),
        ),
        (
            openai(
                "This model's maximum context length is 8,192 tokens. However, your messages"
                " resulted in 9,000 tokens."
            ),
            (9000, 8192),
        ),
        (
            openai(
                "'max_tokens' or 'max_completion_tokens' is too large: 1024. This model's maximum"
                " context length is 512 tokens and your request has 300 input tokens"
            ),
            (1324, 512),
        ),
        (openai("prompt is too long: 208310 tokens > 200000 maximum"), (208310, 200000)),
        (
            openai(
                "input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000,"
                " decrease input length or `max_tokens` and try again"
            ),
            (211333, 200000),
        ),
        (
            openai(
                "The decoder prompt (length 3000) is longer than the maximum model length of 2048"
            ),
            (3000, 2048),
        ),
        (
            openai(
                "You passed 3977 input tokens and requested 1024 output tokens. However, the"
                " model's context length is only 4096 tokens, so that they do not fit."
            ),
            (5001, 4096),
        ),
        (
            {
                "error": "The number of tokens to keep is greater than the context length"
                " (n_keep: 5000>= n_ctx: 4096)"
            },
            (5000, 4096),
        ),
        (
            openai(
                "The input (5000 tokens) is longer than the model's context length (4096 tokens)."
            ),
            (5000, 4096),
        ),
        (
            {"error": "Requested tokens (2302) exceed context window of 2048"},
            (2302, 2048),
        ),
        (
            openai(
                "The input token count (1200000) exceeds the maximum number of tokens allowed"
                " (1048576)."
            ),
            (1200000, 1048576),
        ),
        (
            openai(
                "litellm.ContextWindowExceededError: Prompt contains 40000 tokens, too large for"
                " model with 32768 maximum context length"
            ),
            (40000, 32768),
        ),
        (
            openai(
                "This model's maximum prompt length is 131072 but the request contains 150000"
                " tokens."
            ),
            (150000, 131072),
        ),
        (
            openai(
                "Input tokens exceed the configured limit of 272000 tokens. Your messages"
                " resulted in 300000 tokens.",
                "context_length_exceeded",
            ),
            (300000, 272000),
        ),
        (
            {
                "error": "The number of tokens to keep from the initial prompt is greater than the"
                " context length. Try to load the model with a larger context length"
            },
            (None, None),
        ),
        ({"error": "Input is too long for requested model."}, (None, None)),
        (openai("Please reduce the length.", "context_length_exceeded"), (None, None)),
    ],
)
def test_a_prompt_beyond_the_context_is_told_apart_with_its_sizes(body, sizes):
    error = fail(400, body)
    assert type(error) is ContextExceeded
    assert error.sizes is not None
    assert (error.sizes.needed, error.sizes.available) == sizes


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 1000 + b"]" * 1000,
        b'{"error":' * 900 + b"1" + b"}" * 900,
        b"[" * 5000 + b"]" * 5000,
    ],
)
def test_an_error_nested_without_end_is_an_error_like_any_other(body):
    error = fail(400, body)
    assert type(error) is BadRequest
    assert len(error.message) <= 500


@pytest.mark.parametrize(
    ("message", "pause_s"),
    [
        (GEMINI, 34.074824224),
        ("Limit 3, Used 3. Please try again in 7m12s.", 432.0),
        ("Please try again in 1h2m3.5s. Visit", 3723.5),
        ("Please try again in 20ms.", 0.02),
        ("Try again in 60 seconds.", 60.0),
        ("please retry in a while", None),
        ("retry in 9999999999999999999999s", None),
    ],
)
def test_the_pause_is_found_in_the_words_where_no_header_names_it(message, pause_s):
    assert fail(429, {"error": message}).retry_after_s == pytest.approx(pause_s)
    assert fail(429, {"error": message}, {"retry-after": "5"}).retry_after_s == 5
