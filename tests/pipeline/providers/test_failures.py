import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.providers.errors import (
    BadRequest,
    ContextExceeded,
    FieldRejected,
    Moderated,
    OutOfFunds,
    RateLimited,
    ServerFault,
    TimedOut,
    Unauthorised,
    UnknownModel,
    Unreachable,
)
from pipeline.providers.failures import (
    NotConnected,
    from_status,
    read_error,
    scrub,
    timed_out,
    was_surely_free,
)

SENT = frozenset(
    {"model", "messages", "temperature", "seed", "n", "response_format", "max_tokens", "top_k"}
)


QUOTA = "You exceeded your current quota, please check your plan and billing details."
GEMINI = (
    f"{QUOTA} For more information, head to: https://ai.google.dev/gemini-api/docs/rate-limits.\n"
    "* Quota exceeded for metric: generate_content_free_tier_requests, limit: 10\n"
    "Please retry in 34.074824224s."
)
TOO_LARGE = (
    "Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000,"
    " Requested 30601. The input or output tokens must be reduced in order to run successfully."
)
FILTERED = (
    "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."
    " Please modify your prompt and retry."
)
MODERATED = "Your chosen model requires moderation and your input was flagged"


def fail(status, body, headers=None, secrets=()):
    data = body if isinstance(body, bytes) else orjson.dumps(body)
    return from_status(status, headers or {}, data, sent=SENT, secrets=secrets)


def openai(message, code=None, param=None, kind="invalid_request_error"):
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


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
    ("status", "body", "kind"),
    [
        (401, openai("bad key", "invalid_api_key"), Unauthorised),
        (403, {"detail": "no access"}, Unauthorised),
        (402, {"error": "pay"}, OutOfFunds),
        (429, openai("You exceeded your current quota", "insufficient_quota"), OutOfFunds),
        (
            400,
            {"error": {"type": "invalid_request_error", "message": "credit balance is too low"}},
            OutOfFunds,
        ),
        (429, openai("Your account is not active", "billing_not_active"), OutOfFunds),
        (429, openai("Budget has been exceeded! Max budget: 1", "budget_exceeded"), OutOfFunds),
        (400, openai("Budget has been exceeded! Current cost: 26.1"), OutOfFunds),
        (400, openai("You have reached your specified API usage limits."), OutOfFunds),
        (403, {"error": "Your newly created team doesn't have any credits yet."}, OutOfFunds),
        (429, openai("Your team has used all available credits."), OutOfFunds),
        (429, openai(f"OpenAIException - {QUOTA}"), OutOfFunds),
        (429, [{"error": {"code": 429, "message": GEMINI}}], RateLimited),
        (429, openai(f"GeminiException - {GEMINI}"), RateLimited),
        (429, openai(TOO_LARGE, "rate_limit_exceeded", kind="tokens"), BadRequest),
        (413, openai(TOO_LARGE, "rate_limit_exceeded", kind="tokens"), BadRequest),
        (403, {"error": {"message": MODERATED, "code": 403}}, Moderated),
        (403, openai("Refused", "content_policy_violation"), Moderated),
        (400, openai(FILTERED, "content_filter", "prompt", kind=None), Moderated),
        (400, openai("The prompt was not let through", "content_filter"), Moderated),
        (400, openai("litellm.ContentPolicyViolationError: no", "400"), Moderated),
        (
            400,
            openai("Your prompt was flagged as potentially violating our usage policy"),
            Moderated,
        ),
        (400, openai("Unrecognized request argument supplied: content_filter"), BadRequest),
        (403, openai("This key may not use the model"), Unauthorised),
        (400, {"error": "Incorrect API key provided: xa***."}, Unauthorised),
        (400, [{"error": {"code": 400, "message": "API key not valid."}}], Unauthorised),
        (405, {"detail": "Method Not Allowed"}, UnknownModel),
        (429, openai("slow down", "rate_limit_exceeded"), RateLimited),
        (429, {"error": "Too many requests, try again"}, RateLimited),
        (529, {"type": "error", "error": {"type": "overloaded_error"}}, RateLimited),
        (408, {}, TimedOut),
        (500, b"oops", ServerFault),
        (501, b"", ServerFault),
        (503, {"detail": "no workers"}, ServerFault),
        (404, openai("The model 'm' does not exist", "model_not_found"), UnknownModel),
        (400, openai("The model 'm' does not exist", "model_not_found"), UnknownModel),
        (404, b"404 page not found", UnknownModel),
        (400, openai("too long", "context_length_exceeded", "messages"), ContextExceeded),
        (400, openai("Invalid model name passed in model=nosuch", "400", "None"), UnknownModel),
        (400, {"error": "Model Not Exist"}, UnknownModel),
        (
            400,
            {"error": {"message": "nosuch/m is not a valid model ID", "code": 400}},
            UnknownModel,
        ),
        (400, openai("The model `qwen2.5` does not exist."), UnknownModel),
        (400, openai("the value does not suit this model"), BadRequest),
        (413, b"", BadRequest),
        (307, b"", BadRequest),
    ],
)
def test_a_status_and_its_body_become_one_error_of_the_tree(status, body, kind):
    error = fail(status, body)
    assert type(error) is kind
    assert error.status == status
    assert error.message


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
            (300, 512),
        ),
        (openai("prompt is too long: 208310 tokens > 200000 maximum"), (208310, 200000)),
        (
            openai(
                "input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000,"
                " decrease input length or `max_tokens` and try again"
            ),
            (None, 200000),
        ),
        (
            openai(
                "The decoder prompt (length 3000) is longer than the maximum model length of 2048"
            ),
            (3000, 2048),
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


def test_a_request_id_that_is_no_text_for_a_database_is_cleaned_and_cut():
    error = fail(500, {}, {"x-request-id": "a\udcff\n" + "b" * 1000})
    assert error.request_id == "a??" + "b" * 197


def test_the_pause_asked_for_and_the_request_id_are_kept():
    error = fail(429, {}, {"Retry-After": "3", "X-Request-Id": "req-1"})
    assert error.retry_after_s == 3.0
    assert error.request_id == "req-1"


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


def test_a_key_in_the_answer_is_masked():
    error = fail(401, openai("Incorrect API key: hunter2-secret"), secrets=("hunter2-secret",))
    assert "hunter2" not in str(error)
    assert "[key]" in str(error)


@pytest.mark.parametrize("text", ["sk-proj-abcdefgh123", "sk-ab*****xyz1", "Bearer abc.def"])
def test_what_looks_like_a_key_is_masked_even_if_it_is_not_ours(text):
    assert scrub(f"wrong key {text}!").startswith("wrong key [key]")
    assert text not in scrub(f"wrong key {text}!")


def test_placeholder_keys_do_not_tear_messages_apart():
    assert scrub("next", secrets=("x", "")) == "next"


def test_a_long_page_does_not_become_a_long_message():
    assert len(fail(400, b"x" * 100_000).message) <= 500


@given(st.integers(300, 599), st.binary(max_size=60))
def test_any_status_and_bytes_give_an_error_and_nothing_else(status, body):
    assert fail(status, body).status == status


def test_only_what_surely_was_not_computed_is_free():
    assert was_surely_free(fail(500, b""))
    assert was_surely_free(fail(429, b""))
    assert was_surely_free(NotConnected("no"))
    assert not was_surely_free(timed_out(3))
    assert not was_surely_free(fail(408, b""))
    assert not was_surely_free(fail(504, b"")), "who stands behind the gateway may have computed"
    assert not was_surely_free(fail(524, b""))
    assert not was_surely_free(Unreachable("broke"))
    assert not was_surely_free(ServerFault("unreadable"))
