"""Features that an endpoint turned out not to support, so that they are not used again."""

from __future__ import annotations

from collections.abc import Callable

from pipeline.providers.errors import FieldRejected, ProviderError
from pipeline.providers.protocol import Request, Structured
from scenarios.arms import StructuredWish
from scenarios.log import logger

SCHEMA_FIELDS = frozenset({"response_format", "output_config"})
"""Body fields that carry the answer's JSON schema."""
LENGTH_FIELDS = frozenset({"max_tokens", "max_completion_tokens"})
"""Two spellings of one limit: one may be dropped for the other, but never both."""
REFUSALS = frozenset({400, 404, 422, 501})
"""Statuses with which an endpoint turns structured output down without naming it."""
_log = logger("endpoint")


class EndpointCapabilities:
    """Features that one (provider, base URL, model) lacks; endpoints may share it.

    Every lesson is reported once through ``notice``, in one sentence.
    """

    def __init__(self, notice: Callable[[str], None] | None = None) -> None:
        """Assume that everything is supported."""
        self._notice = notice
        self.omit: frozenset[str] = frozenset()
        """Body fields that were rejected."""
        self.one_by_one = False
        """Whether n > 1 is ignored or rejected, so that samples are asked for singly."""
        self.native_refused = False
        """Whether structured output is turned down."""
        self.native_worked = False
        """Whether structured output has worked at least once."""

    def adapts_to(self, request: Request, error: ProviderError, *, may_instruct: bool) -> bool:
        """Learn from a rejected field; True if sending again without it makes sense.

        Args:
            request: what was sent.
            error: how it was answered; anything but :class:`FieldRejected` teaches nothing.
            may_instruct: whether the schema may be dropped in favour of the prompt's own words.
        """
        if not isinstance(error, FieldRejected) or error.field is None:
            return False
        field = error.field
        if field in SCHEMA_FIELDS:
            if not may_instruct or request.structured == "instruct":
                return False
            self.refuse_native(error.message)
            return True
        if field in request.omit or (field in LENGTH_FIELDS and request.omit & LENGTH_FIELDS):
            return False
        if field == "n":
            self.ask_singly("rejects n > 1")
        if field not in self.omit:
            self.omit |= {field}
            self._report(f"the endpoint rejects '{field}', which is left out from now on")
        return True

    def refuse_native(self, why: str) -> None:
        """Remember that the endpoint does not enforce schemas."""
        if not self.native_refused:
            self.native_refused = True
            self._report(
                "the endpoint does not take structured output"
                f" ({why}); the prompt alone asks for the format from now on"
            )

    def ask_singly(self, why: str) -> None:
        """Remember that one request brings one sample."""
        if not self.one_by_one:
            self.one_by_one = True
            self._report(f"the endpoint {why}; samples are asked for one by one from now on")

    def _report(self, lesson: str) -> None:
        """Log a lesson and report it."""
        _log.info("%s", lesson)
        if self._notice is not None:
            self._notice(lesson)


class StructureProbe:
    """Decides, for one request and its retries, whether the schema is sent along.

    Some endpoints answer a schema with an error that does not mention it. Until one structured
    call has worked, such an error is followed by one try without the schema; only if that works
    is the schema to blame. A bare 500 may be a passing fault, so the second one counts.
    """

    def __init__(self, capabilities: EndpointCapabilities, wish: StructuredWish) -> None:
        """Begin with what ``capabilities`` holds and the user wishes."""
        self._capabilities = capabilities
        self._wish = wish
        self._probing = False
        self._probed = False
        self._faults = 0
        self._why = ""

    def mode(self) -> Structured:
        """Return how the next request is to be sent."""
        if self._wish != "auto":
            return self._wish
        return "instruct" if self._probing or self._capabilities.native_refused else "native"

    def switches_after(self, error: ProviderError, sent: Structured) -> bool:
        """Return True if the request is worth one try without the schema."""
        if self._probing:
            self._probing = False
            return False
        if (
            self._wish != "auto"
            or sent == "instruct"
            or self._probed
            or self._capabilities.native_worked
        ):
            return False
        if isinstance(error, FieldRejected):  # it names another field than the schema's
            return False
        if error.status == 500:
            self._faults += 1
        if error.status in REFUSALS or self._faults >= 2:
            self._probing = self._probed = True
            self._why = f"status {error.status}"
        return self._probing

    def succeeded(self, sent: Structured) -> None:
        """Note that a request was answered; it shows whether the schema was at fault before."""
        if sent == "native":
            self._capabilities.native_worked = True
        elif self._probing and not self._capabilities.native_worked:
            self._capabilities.refuse_native(self._why)
