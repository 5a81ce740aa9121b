import json

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
    QuotaUsedUp,
    RateLimited,
    ServerFault,
    TimedOut,
    Unauthorised,
    UnknownModel,
    Unreachable,
)
from pipeline.providers.failures import (
    NotConnected,
    WrongPlace,
    disguised,
    from_status,
    scrub,
    timed_out,
    was_surely_free,
)
from prompts.question import Message

SENT = frozenset(
    {
        "model",
        "messages",
        "temperature",
        "top_p",
        "seed",
        "n",
        "response_format",
        "max_tokens",
        "top_k",
    }
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
TPD = "Rate limit reached for model `m` on tokens per day (TPD): Limit 100000, Used 97050."
PER_DAY = {"details": [{"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel"}]}]}
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
        (404, b"404 page not found", WrongPlace),
        (404, b"<html>Nothing is here</html>", WrongPlace),
        (404, b"model m not found", UnknownModel),
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
        (
            429,
            {"message": "Too many tokens per day, please wait before trying again."},
            QuotaUsedUp,
        ),
        (429, {"message": "Your key is limited to 1000 API calls / month."}, QuotaUsedUp),
        (429, {"message": "Your key is limited to 40 API calls / minute."}, RateLimited),
        (429, {"message": "The limits are 10 requests per minute, 500 per day."}, RateLimited),
        (429, openai(f"{TPD} Please try again in 9m38.016s."), RateLimited),
        (429, openai(TPD), QuotaUsedUp),
        (429, {"error": "Rate limit exceeded: 50 per 1 day"}, QuotaUsedUp),
        (429, {"error": "60 per 1 minute are exceeded (the plan has 1000 per day)"}, RateLimited),
        (
            429,
            {"error": "Too many requests. With Pro, for $20/month, you may send more."},
            RateLimited,
        ),
        (429, [{"error": {"message": GEMINI, **PER_DAY}}], QuotaUsedUp),
        (429, [{"error": {"message": f"{GEMINI} limit: 0, model: m"}}], QuotaUsedUp),
        (498, openai("Flex tier capacity exceeded", "capacity_exceeded"), RateLimited),
        (400, openai("Organization has reached its spend limit"), OutOfFunds),
        (403, {"error": {"message": "Key limit exceeded (total limit)."}}, OutOfFunds),
        (400, {"error": {"code": "Arrearage", "message": "Access denied"}}, OutOfFunds),
        (412, openai("Suspended, possibly due to reaching the monthly spending limit"), OutOfFunds),
        (403, {"error": "Content violates usage guidelines. Failed check: X"}, Moderated),
        (400, {"error": {"code": "data_inspection_failed", "message": "No"}}, Moderated),
        (400, [{"error": {"message": "Missing or invalid Authorization header."}}], Unauthorised),
        (400, openai("Gone", "model_decommissioned"), UnknownModel),
        (400, openai("Unable to access non-serverless m", "model_not_available"), UnknownModel),
        (500, openai("model requires more system memory (5.6 GiB) than there is"), BadRequest),
        (500, openai("the system memory is not there"), ServerFault),
        (500, openai("Only user and assistant roles are supported, got system"), FieldRejected),
    ],
)
def test_a_status_and_its_body_become_one_error_of_the_tree(status, body, kind):
    error = fail(status, body)
    assert type(error) is kind
    assert error.status == status
    assert error.message


def test_a_request_id_that_is_no_text_for_a_database_is_cleaned_and_cut():
    error = fail(500, {}, {"x-request-id": "a\udcff\n" + "b" * 1000})
    assert error.request_id == "a??" + "b" * 197


def test_the_pause_asked_for_and_the_request_id_are_kept():
    error = fail(429, {}, {"Retry-After": "3", "X-Request-Id": "req-1"})
    assert error.retry_after_s == 3.0
    assert error.request_id == "req-1"


@pytest.mark.parametrize(
    ("body", "seconds"),
    [
        ([{"error": {"message": "Exhausted", "details": [{"retryDelay": "38s"}]}}], 38.0),
        ({"error": {"metadata": {"headers": {"X-RateLimit-Reset": "60"}}}}, 60.0),
        (openai("Please retry after 26 seconds."), 26.0),
        ([{"error": {"message": "Exhausted", "details": ["38s", {"retryDelay": 38}]}}], None),
    ],
)
def test_the_pause_is_found_in_the_body_where_no_header_names_it(body, seconds):
    assert fail(429, body).retry_after_s == seconds


PROMPT = """You sell insurance and say \"no\" to all. The spending limit per day is what they ask for.
She isn't told of the insufficient funds, and that her plan violates our policies.
The model of the car was not found; the temperature is unknown to the system. 我的余额不足,不能付款。"""


@pytest.mark.parametrize("quoted", [json.dumps, repr, str], ids=["JSON", "Python", "plain"])
@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, BadRequest), (403, Unauthorised), (429, RateLimited), (412, BadRequest)],
)
def test_a_prompt_that_an_error_repeats_is_not_taken_for_its_reason(status, kind, quoted):
    body = openai(f"Cannot take this: messages = {quoted(PROMPT)}")
    prompt = (Message("system", "Play a role."), Message("user", PROMPT))
    error = from_status(status, {}, orjson.dumps(body), sent=SENT, prompt=prompt)
    assert type(error) is kind
    assert error.message.startswith("Cannot take this: messages = ")
    assert "insufficient" not in error.message, "what is private is not told, either"


@pytest.mark.parametrize("where", ["beside", "inside"])
def test_a_prompt_that_an_answer_repeats_as_its_error_is_not_told(where):
    error = {"error": {"message": f"Cannot take this: {PROMPT}"}}
    body = orjson.dumps(error if where == "beside" else {"choices": [error]})
    found = disguised(body, {}, sent=SENT, prompt=(Message("user", PROMPT),))
    assert "Cannot take this" in found.message
    assert "insufficient" not in found.message


def test_a_reason_beside_a_repeated_prompt_is_found():
    said = f"{PROMPT}: `seed` is not supported"
    prompt = (Message("user", PROMPT),)
    error = from_status(400, {}, orjson.dumps(openai(said)), sent=SENT, prompt=prompt)
    assert (type(error), error.field) == (FieldRejected, "seed")


def test_when_a_limit_is_lifted_is_read_of_a_refusal_for_that_limit_only():
    reset = {"X-RateLimit-Reset": "600"}
    assert fail(429, {}, reset).retry_after_s == 600.0
    assert fail(429, {}, {**reset, "X-RateLimit-Remaining": "0"}).retry_after_s == 600.0
    assert fail(429, {}, {**reset, "X-RateLimit-Remaining": "12"}).retry_after_s is None
    assert fail(500, {}, reset).retry_after_s is None, "a fault passes sooner"


@pytest.mark.parametrize(("says", "pause_s"), [("slow down", 86.4), ("try again in 2s", 2.0)])
def test_a_limit_that_is_used_up_names_a_pause_where_nothing_else_does(says, pause_s):
    headers = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m26.4s"}
    body = orjson.dumps({"error": {"message": says}})
    error = from_status(429, headers, body, sent=())
    assert isinstance(error, RateLimited)
    assert error.retry_after_s == pytest.approx(pause_s)


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
