"""One error tree for every provider: is it worth a retry, what can be done, who to ask about it."""

from __future__ import annotations

from pipeline.providers.context_size import ContextSizes
from pipeline.providers.protocol import Usage
from pipeline.stopping.stop import OUT_OF_FUNDS, QUOTA
from scenarios.errors import RunError


class ProviderError(RunError):
    """A call that did not bring an answer."""

    retryable = False
    code = "provider_error"
    billed = False
    """Whether the endpoint says all the same that it used tokens."""
    usage: Usage | None = None
    """Which these are; None where it does not say, or what it says cannot be."""

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        status: int | None = None,
        request_id: str | None = None,
        retry_after_s: float | None = None,
        field: str | None = None,
        sizes: ContextSizes | None = None,
    ) -> None:
        """Keep what the endpoint said, without any secret in it."""
        super().__init__(f"{message} ({hint})" if hint else message)
        self.message = message
        self.hint = hint
        self.status = status
        self.request_id = request_id
        self.retry_after_s = retry_after_s
        self.field = field
        self.sizes = sizes
        self.body = ""
        """The start of an answer that could not be read, to be stored with its request."""


class RateLimited(ProviderError):
    """The endpoint asks to slow down (429, 529); honour ``retry_after_s``."""

    retryable = True
    code = "rate_limited"


class ServerFault(ProviderError):
    """The endpoint failed (5xx) or answered with something that is not its wire format."""

    retryable = True
    code = "server_fault"


class NotProcessed(ProviderError):
    """The batch of the request ended before its turn came; nothing was computed or billed."""

    retryable = True
    code = "not_processed"


class Unreachable(ProviderError):
    """No connection, or it broke."""

    retryable = True
    code = "unreachable"


class TimedOut(ProviderError):
    """No answer within the time allowed; it may have been computed and billed all the same."""

    retryable = True
    code = "timeout"


class EmptyReply(ProviderError):
    """An answer without any choice in it."""

    retryable = True
    code = "empty_reply"


class Unauthorised(ProviderError):
    """The key is missing, wrong, or not allowed to use this model (401, 403)."""

    code = "unauthorised"


class UnknownModel(ProviderError):
    """The endpoint has no such model (404)."""

    code = "unknown_model"


class OutOfFunds(ProviderError):
    """The account has no credit or quota left (402, or 429 with ``insufficient_quota``)."""

    code = OUT_OF_FUNDS


class QuotaUsedUp(OutOfFunds):
    """A quota that comes back by itself, of a day or a month, is used up (429)."""

    code = QUOTA


class FieldRejected(ProviderError):
    """The endpoint does not accept the body field named ``field``; sending without it may work."""

    code = "field_rejected"


class BadRequest(ProviderError):
    """The endpoint refuses the request for another reason (400, 413, 422)."""

    code = "bad_request"


class Moderated(BadRequest):
    """A filter in front of the model turned the prompt down (400, 403)."""

    code = "refusal"


class ContextExceeded(BadRequest):
    """The prompt, with the longest answer, does not fit into the model's context; see ``sizes``."""

    code = "context_exceeded"
