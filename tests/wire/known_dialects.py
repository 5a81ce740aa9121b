"""The dialects of servers and models that many people use, by name."""

from __future__ import annotations

import json

from tests.wire.dialects import (
    Dialect,
    always,
    both,
    each,
    ending_with_eos,
    every_other_schema,
    field,
    first_choice,
    in_parts,
    not_alternating,
    says,
    streamed,
    thinking_aloud,
)

_ONE = "`temperature` and `top_p` cannot both be specified for this model. Please use only one."
_TURNS = "Conversation roles must alternate user/assistant/user/assistant/..."
_EXTRA = {"type": "extra_forbidden", "msg": "Extra inputs are not permitted"}


def _unsupported(name: str, instead: str = "") -> object:
    message = f"Unsupported parameter: '{name}' is not supported with this model.{instead}"
    return says(message, name, "unsupported_parameter")


def _google(status: int, message: str, *details: object) -> object:
    return [{"error": {"code": status, "message": message, "details": list(details)}}]


PLAYED = (
    Dialect("vllm", (), each(lambda message: message.update(reasoning="Let me see. {}"))),
    Dialect("ollama", (), first_choice),
    Dialect("together", (), ending_with_eos),
    Dialect("thinks-aloud", (), each(thinking_aloud)),
    Dialect("in-parts", (), each(in_parts)),
    Dialect("streams-unasked", (), streamed),
    Dialect("byte-order-mark", (), lambda answer: b"\xef\xbb\xbf" + json.dumps(answer).encode()),
    Dialect(
        "gemma-on-vllm",
        (not_alternating(400, says("System role not supported", None, 400, "BadRequestError")),),
    ),
    Dialect("mistral-7b-on-vllm", (not_alternating(400, says(f"{_TURNS} {_TURNS}", None, 400)),)),
    Dialect(
        "ministral-on-llama.cpp",
        (
            not_alternating(
                500,
                says("Only user, assistant and tool roles are supported, got system.", None, 500),
            ),
        ),
    ),
    Dialect(
        "template-on-tgi",
        (
            not_alternating(
                422, {"error": f"Template error: {_TURNS}", "error_type": "template_error"}
            ),
        ),
    ),
    Dialect(
        "gpt-5",
        (
            field(
                "max_tokens",
                400,
                _unsupported("max_tokens", " Use 'max_completion_tokens' instead."),
            ),
            field(
                "temperature",
                400,
                says(
                    "Unsupported value: 'temperature' does not support 0.2 with this model. Only the"
                    " default (1) value is supported.",
                    "temperature",
                    "unsupported_value",
                ),
                but=1,
            ),
            field("top_p", 400, _unsupported("top_p")),
        ),
    ),
    Dialect("claude", (both("temperature", "top_p", 400, says(_ONE)),)),
    Dialect(
        "claude-behind-openrouter",
        (
            both(
                "temperature",
                "top_p",
                400,
                {
                    "error": {
                        "message": "Provider returned error",
                        "code": 400,
                        "metadata": {"raw": json.dumps({"message": _ONE})},
                    }
                },
            ),
        ),
    ),
    Dialect(
        "kimi",
        (
            field("temperature", 400, says("invalid temperature: only 1 is allowed"), but=1),
            field("top_p", 400, says("invalid top_p: only 0.95 is allowed"), but=0.95),
        ),
    ),
    Dialect(
        "mistral",
        (
            field(
                "seed",
                422,
                {"object": "error", "message": {"detail": [{**_EXTRA, "loc": ["body", "seed"]}]}},
            ),
        ),
    ),
    Dialect(
        "cerebras",
        (
            field(
                "seed",
                422,
                {
                    "message": "body.seed : Extra inputs are not permitted",
                    "type": "invalid_request_error",
                    "param": "validation_error",
                    "code": "wrong_api_format",
                },
            ),
        ),
    ),
    Dialect(
        "xai",
        (
            field(
                "top_p",
                400,
                {
                    "code": "Client specified an invalid argument",
                    "error": "Argument not supported on this model: topP",
                },
            ),
        ),
    ),
    Dialect(
        "gemini",
        (
            field("n", 400, _google(400, "Multiple candidates is not enabled for this model")),
            field(
                "seed",
                400,
                _google(
                    400, 'Invalid JSON payload received. Unknown name "seed": Cannot find field.'
                ),
            ),
        ),
        base="/v1beta/openai",
        key_header="authorization",
    ),
    Dialect(
        "deepseek",
        (field("response_format", 400, says("This response_format type is unavailable now")),),
        base="",
    ),
    Dialect(
        "groq",
        (
            field("n", 400, says("'n' : number must be at most 1")),
            every_other_schema(
                400,
                {
                    "error": {
                        "message": "Failed to generate JSON. Please adjust your prompt.",
                        "type": "invalid_request_error",
                        "code": "json_validate_failed",
                        "failed_generation": '{"utterance": "Hi',
                    }
                },
            ),
        ),
        base="/openai/v1",
    ),
    Dialect(
        "cohere",
        (field("n", 422, {"message": "unknown field: parameter 'n' is not a valid field"}),),
        base="/compatibility/v1",
    ),
    Dialect(
        "bedrock",
        (
            field(
                "temperature",
                400,
                says(
                    "This model doesn't support the temperature field. Remove temperature and try"
                    " again."
                ),
            ),
            field("n", 400, says("Value error, n must be 1")),
        ),
        base="/openai/v1",
        key_header="authorization",
    ),
    Dialect(
        "litellm",
        (
            field(
                "seed",
                400,
                says(
                    "litellm.UnsupportedParamsError: anthropic does not support parameters:"
                    " ['seed'], for model=m. To drop these, set `litellm.drop_params=True`",
                    "None",
                    "400",
                ),
            ),
        ),
        base="",
    ),
    Dialect("azure", base="/openai/v1", key_header="authorization"),
    Dialect(
        "azure-deployment",
        base="/openai/deployments/m?api-version=2024-10-21",
        key_header="api-key",
    ),
    Dialect("gateway", key_header="x-api-key"),
)
"""Those that a dialogue can be played with."""

NOT_PLAYED = {
    "gemini-per-day": (
        5,
        "exceeded your current quota",
        Dialect(
            "gemini-per-day",
            (
                always(
                    429,
                    _google(
                        429,
                        "You exceeded your current quota. See https://ai.google.dev/rate-limits."
                        " Please retry in 0.3s.",
                        {"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel"}]},
                        {"retryDelay": "0.3s"},
                    ),
                ),
            ),
        ),
    ),
    "trial-key": (
        5,
        "1000 API calls / month",
        Dialect(
            "trial-key",
            (always(429, {"message": "Your key is limited to 1000 API calls / month."}),),
        ),
    ),
    "no-funds": (
        4,
        "spend limit",
        Dialect("no-funds", (always(400, says("Organization has reached its spend limit")),)),
    ),
    "web-page": (
        2,
        "is the path of --base-url right",
        Dialect("web-page", (always(200, b"<!doctype html><html></html>"),)),
    ),
    "no-such-page": (
        2,
        "is the path of --base-url right",
        Dialect("no-such-page", (always(404, b"404 page not found"),)),
    ),
    "no-such-path": (
        2,
        "is the path of --base-url right",
        Dialect("no-such-path", (always(200, {"error": "Unexpected endpoint or method."}),)),
    ),
    "gone": (
        2,
        "decommissioned",
        Dialect(
            "gone",
            (
                always(
                    400,
                    says("The model `m` has been decommissioned.", None, "model_decommissioned"),
                ),
            ),
        ),
    ),
}
"""Those that end a run at once, with the exit code and what is told."""
