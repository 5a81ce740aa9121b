"""From what an endpoint answered to our error tree: status, headers and body, all pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from pipeline.providers.context_size import ContextSizes, exceeded_context
from pipeline.providers.errors import (
    BadRequest,
    ContextExceeded,
    FieldRejected,
    Moderated,
    NotProcessed,
    OutOfFunds,
    ProviderError,
    RateLimited,
    ServerFault,
    TimedOut,
    Unauthorised,
    UnknownModel,
    Unreachable,
)
from pipeline.providers.retry import asked_in_words, retry_after
from pipeline.providers.untrusted import count, identifier
from scenarios.log import scrub

LONGEST_MESSAGE = 500
"""Characters kept of an endpoint's error message."""
LONGEST_READ = 10_000
"""Characters of an endpoint's error message that are looked at."""
DEEPEST_ERROR = 12
"""Envelopes around an error that are opened; gateways put a handful around each other's."""

_NO_FUNDS = re.compile(
    r"insufficient[_ ](?:quota|balance|credits?|funds)|credit balance is too low"
    r"|billing[_ ]hard[_ ]limit|billing_error|billing_not_active|payment required"
    r"|reached your specified api usage limits|budget[_ ]exceeded|budget has been exceeded"
    r"|doesn't have any credits|used all available credits|credits are depleted"
    # Google says so of its rates, too
    r"|exceeded your current quota(?!.*(?:ai\.google\.dev|googleapis))",
    re.IGNORECASE | re.DOTALL,
)
_TOO_LARGE = re.compile(r"request too large", re.IGNORECASE)
_FLAGGED = re.compile(
    r"requires moderation|input was flagged|content[_ ](?:filter|policy|management)|\brefusal\b",
    re.IGNORECASE,
)
_FILTERED = re.compile(
    r"^(?:\S+ )?content_filter\b|content[_ ]?policy[_ ]?violation|responsibleaipolicyviolation"
    r"|content management policy|flagged as potentially violating",
    re.IGNORECASE,
)
"""What a filter says with status 400, which means much else; ``content_filter`` as its code."""
_WRONG_KEY = re.compile(
    r"\binvalid_api_key\b|\b(?:invalid|incorrect|expired) api key|api key (?:not valid|expired)",
    re.IGNORECASE,
)
_GATEWAY_TIMEOUTS = frozenset({504, 524})
"""Who stands behind the gateway may have gone on computing."""
_NOT_TAKEN = re.compile(
    r"unsupported|not[ _]support|support only|only supports|unrecogni[sz]ed|unknown|unexpected"
    r"|extra[_ ](?:inputs|forbidden|fields)|not permitted|not allowed|not available|not implemented"
    r"|deprecated|cannot be (?:used|specified|set)|must be 1\b|should be 1\b|incompatible",
    re.IGNORECASE,
)
_SCHEMA = re.compile(
    r"response_format|output_config|output_format|json_schema|json schema|structured output"
    r"|guided (?:decoding|json)",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"model_not_found|invalid_model|model_not_supported|unknown[_ ]model\b|no such model\b"
    r"|invalid model name|invalid model(?: id| identifier)?\s*(?:[:='\"`]|$)|not a valid model\b"
    r"|\bmodel\b[^\n]{0,120}\b(?:(?:does not|doesn't|not) exist|not found)\b",
    re.IGNORECASE,
)
_STATUS_OF_KIND = {"rate_limit": 429, "overloaded": 529, "insufficient_quota": 429}
_ENVELOPES = ("error", "errors", "detail", "message")
_NEVER_LEFT_OUT = frozenset({"model", "messages", "system", "stream"})


class NotConnected(Unreachable):
    """No connection came about, so that nothing can have been computed or billed."""


class NoTls(NotConnected):
    """TLS does not come about, and would not later: no trusted certificate, or no TLS at all."""


@dataclass(frozen=True, slots=True)
class ErrorBody:
    """The meaningful parts of an error body, whatever its shape."""

    message: str = ""
    kind: str = ""
    """Its ``code`` and ``type``, space-separated."""
    parameter: str | None = None
    needed_tokens: int | None = None
    """How long the prompt was, where there is a field for it."""
    available_tokens: int | None = None
    """How long it may be, where there is a field for it."""


def read_error(body: bytes) -> ErrorBody:
    """Read an error body in any of the shapes that endpoints and gateways use.

    Known are ``{"error": {"message", "type", "code", "param"}}``, ``{"error": "text"}``,
    ``{"detail": "text"}``, ``{"detail": [{"loc", "msg", "type"}]}``, the same without the
    ``error`` envelope, a list of one such object, what a gateway quotes of the error behind it
    (``{"metadata": {"raw": "..."}}``), and plain text.
    """
    try:
        data: object = orjson.loads(body)
    except orjson.JSONDecodeError:
        text = body[: 4 * LONGEST_READ].decode("utf-8", "replace").strip()[:LONGEST_READ]
        return ErrorBody(message="" if text.startswith("<") else text)
    return _error_body(data)


def _error_body(data: object) -> ErrorBody:
    """Return the innermost error of nested envelopes; of those nested without end nothing."""
    for _ in range(DEEPEST_ERROR):
        if isinstance(data, list):
            inner = data[0] if data else None
        elif isinstance(data, dict):
            inners = (data.get(envelope) for envelope in _ENVELOPES)
            inner = next((i for i in inners if isinstance(i, dict | list) and i), None)
            if inner is None:
                return _innermost(data)
        else:
            return ErrorBody(data[:LONGEST_READ] if isinstance(data, str) else "")
        data = inner
    return ErrorBody()


def _innermost(data: Mapping[str, object]) -> ErrorBody:
    """Read an error that has no other inside it."""
    texts = (data.get(key) for key in ("message", "error", "detail", "msg"))
    message = next((text for text in texts if isinstance(text, str)), "")
    metadata = data.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    behind = read_error(raw.encode("utf-8", "replace")) if isinstance(raw, str) else ErrorBody()
    return ErrorBody(
        ": ".join(filter(None, (message, behind.message)))[:LONGEST_READ],
        f"{_kind(data)} {behind.kind}".strip(),
        _parameter(data) or behind.parameter,
        count(data.get("n_prompt_tokens")),
        count(data.get("n_ctx")),
    )


def _kind(data: Mapping[str, object]) -> str:
    """Join the machine-readable names of an error."""
    names = (data.get(key) for key in ("code", "type"))
    return " ".join(str(name)[:200] for name in names if isinstance(name, str | int | float))


def _parameter(data: Mapping[str, object]) -> str | None:
    """Return the body field an error names, as ``param`` or as a validator's ``loc``."""
    place = data.get("loc")
    names = place if isinstance(place, list) else [data.get("param")]
    fields = [name for name in names if isinstance(name, str) and name not in {"", "body"}]
    return fields[0] if fields else None


def from_status(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    *,
    sent: Collection[str],
    secrets: Collection[str] = (),
    key_hint: str = "check the key",
) -> ProviderError:
    """Map an HTTP status that is no success to an error.

    Args:
        status: the HTTP status.
        headers: response headers, names in any case.
        body: the response body.
        sent: names of the fields in the request's body; only these can be rejected.
        secrets: what must not appear in a message.
        key_hint: what to do about a missing or wrong key.
    """
    reported = read_error(body)
    text = scrub(reported.message, secrets)[:LONGEST_MESSAGE] or f"the endpoint answered {status}"
    lowered = {name.lower(): value for name, value in headers.items()}
    named = lowered.get("x-request-id") or lowered.get("request-id") or ""
    request_id = identifier(scrub(named, secrets))

    def make(
        error: type[ProviderError],
        hint: str = "",
        field: str | None = None,
        pause_s: float | None = None,
        sizes: ContextSizes | None = None,
    ) -> ProviderError:
        return error(
            text,
            hint=hint,
            status=status,
            request_id=request_id,
            retry_after_s=pause_s,
            field=field,
            sizes=sizes,
        )

    lasting = _lasting(status, f"{reported.kind} {reported.message}", key_hint, make)
    if lasting is not None:
        return lasting
    pause_s = retry_after(headers)
    if status in {429, 529}:
        asked = asked_in_words(reported.message) if pause_s is None else pause_s
        return make(RateLimited, pause_s=asked)
    if status == 408:
        return make(TimedOut)
    if status in {409, 425} or status >= 500:
        # 501 is no passing fault, but retries are bounded and some gateways mean 503 by it
        return make(ServerFault, pause_s=pause_s)
    if 300 <= status < 400:
        return make(BadRequest, "redirects are not followed; give the final one as --base-url")
    return _refusal(status, reported, sent, make)


def _lasting(
    status: int, says: str, key_hint: str, make: Callable[..., ProviderError]
) -> ProviderError | None:
    """Return what waiting does not mend, whatever the status promises: funds, filters, key, size."""
    if status == 402 or (status in {400, 403, 429} and _NO_FUNDS.search(says)):
        return make(OutOfFunds, "top the account up, then resume the run")
    flagged = _FLAGGED if status == 403 else _FILTERED
    if status in {400, 403} and flagged.search(says):
        return make(Moderated, "a moderation in front of the model turned this prompt down")
    if status in {401, 403} or (status == 400 and _WRONG_KEY.search(says)):
        return make(Unauthorised, key_hint)
    if status in {413, 429} and _TOO_LARGE.search(says):
        return make(BadRequest, "lower max_tokens, or have the account's limits raised")
    return None


def _refusal(
    status: int, reported: ErrorBody, sent: Collection[str], make: Callable[..., ProviderError]
) -> ProviderError:
    """Tell apart why a request was refused: a field, the model, or something else."""
    sizes = exceeded_context(
        reported.kind, reported.message, reported.needed_tokens, reported.available_tokens
    )
    if sizes is not None:
        return make(
            ContextExceeded, "give the model a larger context, or play fewer turns", sizes=sizes
        )
    field = _rejected_field(reported, sent)
    if field is not None:
        return make(FieldRejected, f"the endpoint does not take '{field}'", field=field)
    if _NO_MODEL.search(f"{reported.kind} {reported.message}"):
        return make(UnknownModel, "check the model's name", field="model")
    if status in {404, 405}:
        return make(UnknownModel, "check the model's name and --base-url")
    named = reported.parameter if reported.parameter in sent else None
    return make(BadRequest, f"check '{named}'" if named else "", field=named)


def _rejected_field(reported: ErrorBody, sent: Collection[str]) -> str | None:
    """Return the body field that an error says is not taken, if it is one that was sent.

    A field that is merely out of range is the user's to mend, not to be dropped: the error has to
    speak of not supporting or not knowing it.
    """
    for carrier in ("response_format", "output_config"):
        names_it = (reported.parameter or "").split(".")[0] == carrier
        if carrier in sent and (names_it or _SCHEMA.search(reported.message)):
            return carrier
    droppable = [name for name in sent if name not in _NEVER_LEFT_OUT]
    if not _NOT_TAKEN.search(f"{reported.kind} {reported.message}"):
        return None
    if reported.parameter is not None:
        root = re.split(r"[.\[]", reported.parameter)[0]
        return root if root in droppable else None
    quoted = [
        name for name in droppable if re.search(rf"[`'\"]{re.escape(name)}\b", reported.message)
    ]
    bare = [name for name in droppable if re.search(rf"\b{re.escape(name)}\b", reported.message)]
    # one-letter names occur in prose, so that bare 'n' proves nothing
    found = quoted or [name for name in bare if len(name) > 1]
    return min(found, key=reported.message.find) if found else None


def broken_body(why: str, *, request_id: str | None = None) -> ServerFault:
    """Return the error for an answer that is not in the wire format; it may have been billed."""
    message = f"the endpoint's answer cannot be read: {why}"[:LONGEST_MESSAGE]
    return ServerFault(message, request_id=request_id)


def no_json(body: bytes, request_id: str | None = None) -> ServerFault:
    """Return the error for an answer that is no JSON, which says what it is instead."""
    start = body[:200].lstrip()
    why = "it is not JSON"
    if start.startswith(b"<"):
        why = "it is a web page, not JSON (is the path of --base-url right? many end in /v1)"
    elif start.startswith((b"data:", b"event:")):
        why = "it is a stream of events, which was not asked for"
    return broken_body(why, request_id=request_id)


def disguised(
    body: bytes, headers: Mapping[str, str], *, sent: Collection[str], secrets: Collection[str] = ()
) -> ProviderError | None:
    """Return the error inside an answer that pretends to be a success, or None if there is none.

    Some gateways send ``{"error": {"code": 429, ...}}`` with status 200, or the like in the place of
    a choice: what was computed up to then may have been billed.
    """
    try:
        data: object = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(data, dict):
        return None
    if not data.get("error"):
        data = _failed_choice(data)
        if data is None:
            return None
        if _status_in(data["error"]) != 429:
            reported = _error_body(data)
            return broken_body(scrub(reported.message, secrets)[:LONGEST_MESSAGE])
        body = orjson.dumps(data)
    inner = data["error"] if isinstance(data["error"], dict) else data
    status = _status_in(inner)
    reported = _error_body(data)
    if status is None:
        status = next((s for words, s in _STATUS_OF_KIND.items() if words in reported.kind), None)
    if status is None:
        return broken_body(scrub(reported.message, secrets)[:LONGEST_MESSAGE])
    return from_status(status, headers, body, sent=sent, secrets=secrets)


def _failed_choice(data: Mapping[str, object]) -> dict[str, Any] | None:
    """Return the first choice that is an error, as far as that goes; None where there is none."""
    choices = data.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        if isinstance(choice, dict) and isinstance(choice.get("error"), dict) and choice["error"]:
            return {"error": choice["error"]}
    return None


def _status_in(error: Mapping[str, object]) -> int | None:
    """Return the HTTP status that an error names as a number or as a text of digits."""
    for key in ("code", "status", "status_code"):
        found = error.get(key)
        if isinstance(found, str) and re.fullmatch(r"[45]\d\d", found, re.ASCII):
            return int(found)
        if isinstance(found, int) and 400 <= found < 600:
            return found
    return None


def timed_out(timeout_s: float) -> TimedOut:
    """Return the error for an answer that did not come in time."""
    return TimedOut(
        f"no answer within {timeout_s:g} s", hint="raise --timeout or lower --max-concurrency"
    )


def was_surely_free(error: ProviderError) -> bool:
    """Return whether a failed request cannot have been billed.

    True where the endpoint itself answered with an error status, or was never reached. A timeout,
    be it of a gateway, a broken connection and an unreadable answer may all have been computed, and
    billed.
    """
    if isinstance(error, TimedOut) or error.status in _GATEWAY_TIMEOUTS:
        return False
    return isinstance(error, NotConnected | NotProcessed) or (
        error.status is not None and error.status >= 300
    )
