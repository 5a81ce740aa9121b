"""The OpenAI chat completions format: requests into bodies, answers into replies, all pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import orjson

from pipeline.providers.error_body import usage_in
from pipeline.providers.failures import broken_body, no_json
from pipeline.providers.openai_events import joined_events
from pipeline.providers.protocol import Choice, FinishReason, Reply, Request, Usage
from pipeline.providers.system_messages import SYSTEM_ROLE, without_system
from pipeline.providers.untrusted import MOST_TOKENS, count, identifier, json_object

LengthField = Literal["max_tokens", "max_completion_tokens"]
_FIELDS: Mapping[LengthField, tuple[LengthField, ...]] = {
    "max_tokens": ("max_tokens", "max_completion_tokens"),
    "max_completion_tokens": ("max_completion_tokens", "max_tokens"),
}
"""The spellings in which the length limit is sent, by the preferred one."""

_FINISH: Mapping[str, FinishReason] = {
    "stop": "stop",
    "eos": "stop",
    "stop_sequence": "stop",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "refusal",
    "refusal": "refusal",
    "safety": "refusal",
    "prohibited_content": "refusal",
    "recitation": "refusal",
    "sensitive": "refusal",
}


def body_of(request: Request, length_field: LengthField = "max_tokens") -> dict[str, object]:
    """Return the JSON body for ``POST /chat/completions``.

    Args:
        request: what to ask; its ``omit`` is left out.
        length_field: the preferred spelling of the length limit; if that one is to be omitted,
            the other is sent.
    """
    parameters = request.parameters
    limit = next((name for name in _FIELDS[length_field] if name not in request.omit), None)
    body: dict[str, object] = {
        "model": request.model,
        "messages": _messages(request),
        "seed": request.seed,
    }
    if limit is not None:
        body[limit] = parameters.max_tokens
    if parameters.temperature is not None:
        body["temperature"] = parameters.temperature
    if parameters.top_p is not None:
        body["top_p"] = parameters.top_p
    if request.n > 1:
        body["n"] = request.n
    if request.structured == "native":
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {
                "name": request.schema_name,
                "schema": request.bounded_schema,
                "strict": True,
            },
        }
    body.update(parameters.extra)
    for name in request.omit:
        body.pop(name, None)
    return body


def _messages(request: Request) -> list[dict[str, str]]:
    """Return the messages; what those of the system say may have to begin the first of another."""
    rows = [{"role": message.role, "content": message.content} for message in request.messages]
    return without_system(rows) if SYSTEM_ROLE in request.omit else rows


def read_reply(data: bytes, request_id: str | None = None) -> Reply:
    """Read the answer's body.

    Raises:
        ServerFault: it is not JSON, or not this format.
    """
    try:
        answer = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        answer = joined_events(data)
        if answer is None:
            raise no_json(data, request_id) from error
    given = answer.get("choices") if isinstance(answer, dict) else None
    if not isinstance(given, list):
        raise broken_body("it has no list of choices", request_id=request_id)
    listed = [
        choice
        for choice in given
        if isinstance(choice, dict) and not choice.get("error")  # gateways: what is behind failed
    ]
    choices = tuple(_choice(choice) for choice in sorted(listed, key=_index))
    usage = read_usage(answer.get("usage"))
    if usage is not None and len(listed) > 1 and _counts_one(usage, answer.get("timings")):
        usage = _of_all(usage, _choice(listed[0]), choices)
    return Reply(
        choices=choices,
        usage=if_counted(usage, choices),
        request_id=identifier(request_id) or identifier(answer.get("id")),
        model=identifier(answer.get("model")),
        system_fingerprint=identifier(answer.get("system_fingerprint")),
    )


def failed_generation(data: bytes) -> Reply | None:
    """Return the answer inside an error that says it did not keep to the schema, as Groq has it.

    It was computed, and the model can be told what is wrong with it. None: it is another error.
    """
    answer = json_object(data)
    text = _inside(answer, "error", "failed_generation")
    if not isinstance(text, str):
        return None
    choices = (Choice(text, "other"),)
    return Reply(choices, if_counted(read_usage(usage_in(answer)), choices))


def read_usage(data: object) -> Usage | None:
    """Read token counts in the spellings of OpenAI, DeepSeek and their likes; None if absent."""
    if not isinstance(data, dict):
        return None
    prompt, completion = count(data.get("prompt_tokens")), count(data.get("completion_tokens"))
    if prompt is None or completion is None:
        return None
    cached = _first_count(
        _inside(data, "prompt_tokens_details", "cached_tokens"),
        data.get("prompt_cache_hit_tokens"),
        data.get("cached_tokens"),
        data.get("cache_read_input_tokens"),
    )
    written = _first_count(
        _inside(data, "prompt_tokens_details", "cache_write_tokens"),
        _inside(data, "prompt_tokens_details", "cache_creation_tokens"),
        data.get("cache_creation_input_tokens"),
    )
    reasoning = _first_count(
        _inside(data, "completion_tokens_details", "reasoning_tokens"), data.get("reasoning_tokens")
    )
    total, of_cache = count(data.get("total_tokens")) or 0, cached + written
    # some gateways to Anthropic count what is read from or written to the cache beside the prompt
    if of_cache > prompt or (of_cache and total == prompt + completion + of_cache):
        prompt += of_cache
    # xAI and Gemini count thoughts in the total alone; they are paid like the answer
    whole = max(completion, total - prompt)
    if reasoning > whole:  # without a total they stand alone
        whole = completion + reasoning
    return Usage(prompt, whole, cached, reasoning, written)


def _first_count(*values: object) -> int:
    """Return the first plausible count; 0 where there is none."""
    return next((found for value in values if (found := count(value)) is not None), 0)


def if_counted(usage: Usage | None, choices: Sequence[Choice]) -> Usage | None:
    """Return None for zeros where there was a prompt, or a text: nothing was counted."""
    if usage is None or not usage.prompt:
        return None
    return usage if usage.completion or not any(choice.text for choice in choices) else None


def _counts_one(usage: Usage, timings: object) -> bool:
    """Whether the tokens are those of one choice: llama.cpp adds the others to the first one's reply.

    What else it says of that reply, its ``timings``, holds the same count.
    """
    return isinstance(timings, dict) and count(timings.get("predicted_n")) == usage.completion


def _of_all(usage: Usage, counted: Choice, choices: Sequence[Choice]) -> Usage:
    """Return the tokens of all choices, those that were not counted by their length in characters."""
    if not counted.text:
        return usage
    length = sum(len(choice.text) for choice in choices)
    completion = -(-usage.completion * length // len(counted.text))
    return replace(usage, completion=min(completion, MOST_TOKENS))


def finish_of(value: object, known: Mapping[str, FinishReason]) -> FinishReason:
    """Return why a sample ended; whatever is not among the ``known`` names is ``other``.

    Names come in capitals, too, and with a detail behind a colon.
    """
    if not isinstance(value, str):
        return "other"
    return known.get(value) or known.get(value.partition(":")[0].strip().lower(), "other")


def _choice(data: Mapping[str, object]) -> Choice:
    """Read one choice; a refusal's own words are its text."""
    finish = finish_of(data.get("finish_reason"), _FINISH)
    message = data.get("message")
    if not isinstance(message, dict):
        return Choice(_text(data.get("text")), finish)
    text = _text(message.get("content"))
    refusal = _text(message.get("refusal"))
    if refusal and not text:
        return Choice(refusal, "refusal")
    if not text and finish == "stop":
        text = _misplaced(message)
    return Choice(text, finish)


def _misplaced(message: Mapping[str, object]) -> str:
    """Return the object that stands among the thoughts, where vLLM's parsers put answers to a schema."""
    thoughts = _text(message.get("reasoning_content") or message.get("reasoning")).strip()
    return thoughts if thoughts.startswith("{") and thoughts.endswith("}") else ""


def _text(value: object) -> str:
    """Return a text, joining the text parts of a list; an object is what a schema asked for."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return orjson.dumps(value).decode()
    if isinstance(value, list):
        parts = [part.get("text") for part in value if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return ""


def _index(choice: Mapping[str, object]) -> int:
    """Return a choice's place; those without one keep their order at the front."""
    index = choice.get("index")
    return index if isinstance(index, int) else 0


def _inside(data: Mapping[str, object], outer: str, inner: str) -> object:
    """Return ``data[outer][inner]`` where there is such a thing."""
    details = data.get(outer)
    return details.get(inner) if isinstance(details, dict) else None
