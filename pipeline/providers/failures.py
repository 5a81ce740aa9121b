"""From what an endpoint answered to our error tree: status, headers and body, all pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import orjson

from pipeline.providers.context_size import ContextSizes, exceeded_context
from pipeline.providers.echo import without_prompt
from pipeline.providers.error_body import ErrorBody, error_of, read_error
from pipeline.providers.errors import (
    BadRequest,
    ContextExceeded,
    FieldRejected,
    Moderated,
    NotProcessed,
    OutOfFunds,
    ProviderError,
    QuotaUsedUp,
    RateLimited,
    ServerFault,
    TimedOut,
    Unauthorised,
    UnknownModel,
    Unreachable,
)
from pipeline.providers.rejected_field import rejected_field
from pipeline.providers.retry import asked_in_words, retry_after, until_reset
from pipeline.providers.system_messages import SYSTEM_ROLE, refuses_system_role
from pipeline.providers.untrusted import identifier, json_object
from prompts.question import Message
from scenarios.log import scrub

LONGEST_MESSAGE = 500
"""Characters kept of an endpoint's error message."""

_NO_FUNDS = re.compile(
    r"insufficient[_ ](?:quota|balance|credits?|funds)|credit balance is too low"
    r"|billing[_ ]hard[_ ]limit|billing_error|billing_not_active|payment required"
    r"|reached your specified api usage limits|budget[_ ]exceeded|budget has been exceeded"
    r"|doesn't have any credits|used all available credits|credits are depleted"
    r"|\bspend(?:ing)?(?: alert)? limit|key limit exceeded|\barrearage\b|freetieronly|余额不足"
    # Google says so of its rates, too
    r"|exceeded your current quota(?!.*(?:ai\.google\.dev|googleapis))",
    re.IGNORECASE | re.DOTALL,
)
_TOO_LARGE = re.compile(r"request too large", re.IGNORECASE)
_FLAGGED = re.compile(
    r"requires moderation|input was flagged|content[_ ](?:filter|policy|management)|\brefusal\b"
    r"|violates (?:\w+ ){0,3}(?:guidelines|polic)|safety_check",
    re.IGNORECASE,
)
_FILTERED = re.compile(
    r"^(?:\S+ )?content_filter\b|content[_ ]?policy[_ ]?violation|responsibleaipolicyviolation"
    r"|content management policy|flagged as potentially violating|data_inspection_failed",
    re.IGNORECASE,
)
"""What a filter says with status 400, which means much else; ``content_filter`` as its code."""
_WRONG_KEY = re.compile(
    r"\binvalid_api_key\b|\b(?:invalid|incorrect|expired) api key|api key (?:not valid|expired)"
    r"|missing or invalid authorization",
    re.IGNORECASE,
)
_GATEWAY_TIMEOUTS = frozenset({504, 524})
"""Who stands behind the gateway may have gone on computing."""
_NO_MODEL = re.compile(
    r"model_not_(?:found|supported|available)|invalid_model|unknown[_ ]model\b|no such model\b"
    r"|model_decommissioned|with on-demand throughput"
    r"|invalid model name|invalid model(?: id| identifier)?\s*(?:[:='\"`]|$)|not a valid model\b"
    r"|\bmodel\b[^\n]{0,120}\b(?:(?:does not|doesn't|not) exist|not found)\b",
    re.IGNORECASE,
)
_NO_MEMORY = re.compile(r"requires more (?:system|gpu) memory", re.IGNORECASE)
_PATH_HINT = "is the path of --base-url right? many end in /v1"
_WRONG_PLACE = re.compile(r"unexpected endpoint or method", re.IGNORECASE)
_LONG_QUOTA = re.compile(
    r"(?:\bper[- _]?(?:1 )?|/ ?)(?:day|week|month)\b"
    r"|\b(?:daily|weekly|monthly) (?:\w+ ){0,2}(?:limit|quota)",
    re.IGNORECASE,
)
_PRICE = re.compile(r"(?:[$€£] ?|usd )[\d.,]+ ?(?:usd ?)?(?:/|per|an?) ?\w+", re.IGNORECASE)
"""What a larger plan costs, which refusals like to name."""
_SHORT_QUOTA = re.compile(
    r"(?:\bper[- _]?(?:1 )?|/ ?)(?:sec(?:ond)?|min(?:ute)?|hour)\b", re.IGNORECASE
)
"""How endpoints speak of a quota that does not come back within an hour, and of one that does."""
_PAUSE_NOT_MEANT = re.compile(r"(?:Requests|Tokens|Count)PerDay|\b[Ll]imit:? 0(?![\d.])")
"""... and Google, which names a pause of seconds beside it; a quota of nothing is never renewed."""
_STATUS_OF_KIND = {"rate_limit": 429, "overloaded": 529, "insufficient_quota": 429}


class NotConnected(Unreachable):
    """No connection came about, so that nothing can have been computed or billed."""


class NoTls(NotConnected):
    """TLS does not come about, and would not later: no trusted certificate, or no TLS at all."""


class WrongPlace(ServerFault):
    """Something answers that is no model: a web page, or a server that knows no such path.

    Proxies answer so, too, while what is behind them is away.
    """


def from_status(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    *,
    sent: Collection[str],
    prompt: Sequence[Message] = (),
    secrets: Collection[str] = (),
    key_hint: str = "check the key",
) -> ProviderError:
    """Map an HTTP status that is no success to an error.

    Args:
        status: the HTTP status.
        headers: response headers, names in any case.
        body: the response body.
        sent: names of the fields in the request's body; only these can be rejected.
        prompt: what was asked; where the error repeats it, that is no word of the endpoint's.
        secrets: what must not appear in a message.
        key_hint: what to do about a missing or wrong key.
    """
    reported = read_error(body)
    reported = replace(reported, message=without_prompt(reported.message, prompt))
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
    if status in {429, 498, 529}:
        return _too_much(headers, reported, make)
    pause_s = retry_after(headers)
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
    if status == 402 or (status in {400, 403, 412, 429} and _NO_FUNDS.search(says)):
        return make(OutOfFunds, "top the account up, then resume the run")
    flagged = _FLAGGED if status == 403 else _FILTERED
    if status in {400, 403} and flagged.search(says):
        return make(Moderated, "a moderation in front of the model turned this prompt down")
    if status in {401, 403} or (status == 400 and _WRONG_KEY.search(says)):
        return make(Unauthorised, key_hint)
    if status in {413, 429} and _TOO_LARGE.search(says):
        return make(BadRequest, "lower max_tokens, or have the account's limits raised")
    return _of_model(status, says, make)


def _of_model(status: int, says: str, make: Callable[..., ProviderError]) -> ProviderError | None:
    """Return what a server says of its model with a status that promises a passing fault."""
    if status in {400, 422, 500} and refuses_system_role(says):
        return make(FieldRejected, "its model knows no messages of the system", field=SYSTEM_ROLE)
    if status == 500 and _NO_MEMORY.search(says):
        return make(BadRequest, "take a smaller model, or give the server a smaller context")
    return None


def _too_much(
    headers: Mapping[str, str], reported: ErrorBody, make: Callable[..., ProviderError]
) -> ProviderError:
    """Tell a rate that is exceeded, which passes, from a quota of a day or longer."""
    named = (
        retry_after(headers),
        reported.pause_s,
        asked_in_words(reported.message),
        until_reset(headers),
    )
    pause_s = next((seconds for seconds in named if seconds is not None), None)
    says = _PRICE.sub("", f"{reported.kind} {reported.message}")
    is_long = _LONG_QUOTA.search(says) and not _SHORT_QUOTA.search(says)
    if _PAUSE_NOT_MEANT.search(says) or (pause_s is None and is_long):
        return make(QuotaUsedUp)
    return make(RateLimited, pause_s=pause_s)


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
    field = rejected_field(reported, sent)
    if field is not None:
        return make(FieldRejected, f"the endpoint does not take '{field}'", field=field)
    if _NO_MODEL.search(f"{reported.kind} {reported.message}"):
        return make(UnknownModel, "check the model's name", field="model")
    if status in {404, 405} and reported.is_page:
        return make(WrongPlace, _PATH_HINT)
    if status in {404, 405}:
        return make(UnknownModel, "check the model's name and --base-url")
    named = reported.parameter if reported.parameter in sent else None
    return make(BadRequest, f"check '{named}'" if named else "", field=named)


def broken_body(why: str, *, request_id: str | None = None) -> ServerFault:
    """Return the error for an answer that is not in the wire format; it may have been billed."""
    message = f"the endpoint's answer cannot be read: {why}"[:LONGEST_MESSAGE]
    return ServerFault(message, request_id=request_id)


def no_json(body: bytes, request_id: str | None = None) -> ServerFault:
    """Return the error for an answer that is no JSON, which says what it is instead."""
    start = body[:200].lstrip()
    why = "it is not JSON"
    if start.startswith(b"<"):
        return WrongPlace(
            "the endpoint's answer is a web page, not JSON",
            hint=_PATH_HINT,
            request_id=request_id,
        )
    if start.startswith((b"data:", b"event:")):
        why = "it is a stream of events without a whole answer"
    return broken_body(why, request_id=request_id)


def disguised(
    body: bytes,
    headers: Mapping[str, str],
    *,
    sent: Collection[str],
    prompt: Sequence[Message] = (),
    secrets: Collection[str] = (),
) -> ProviderError | None:
    """Return the error inside an answer that pretends to be a success, or None if there is none.

    Some gateways send ``{"error": {"code": 429, ...}}`` with status 200, or the like in the place of
    a choice: what was computed up to then may have been billed.
    """
    data = json_object(body)
    if not data.get("error"):
        failed = _failed_choice(data)
        if failed is None:
            return None
        if _status_in(failed["error"]) != 429:
            return broken_body(_said(error_of(failed), prompt, secrets))
        data, body = failed, orjson.dumps(failed)
    inner = data["error"] if isinstance(data["error"], dict) else data
    status = _status_in(inner)
    reported = error_of(data)
    if status is None:
        status = next((s for words, s in _STATUS_OF_KIND.items() if words in reported.kind), None)
    if status is None:
        says = _said(reported, prompt, secrets)
        is_place = _WRONG_PLACE.search(says) is not None
        return WrongPlace(says, hint=_PATH_HINT) if is_place else broken_body(says)
    return from_status(status, headers, body, sent=sent, prompt=prompt, secrets=secrets)


def _said(reported: ErrorBody, prompt: Sequence[Message], secrets: Collection[str]) -> str:
    """Return what is told of an error's message: no secrets, and nothing that it repeats of the prompt."""
    return scrub(without_prompt(reported.message, prompt), secrets)[:LONGEST_MESSAGE]


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

    True where the endpoint itself answered with an error status and says nothing of tokens, or was
    never reached. A timeout, be it of a gateway, a broken connection and an unreadable answer may
    all have been computed, and billed.
    """
    if error.billed or isinstance(error, TimedOut) or error.status in _GATEWAY_TIMEOUTS:
        return False
    return isinstance(error, NotConnected | NotProcessed) or (
        error.status is not None and error.status >= 300
    )
