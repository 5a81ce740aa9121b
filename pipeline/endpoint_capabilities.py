"""Features that an endpoint turned out not to support, so that they are not used again."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal

from pipeline.providers.errors import (
    ContextExceeded,
    FieldRejected,
    ProviderError,
    UnknownModel,
)
from pipeline.providers.protocol import Request, Structured
from scenarios.arms import StructuredWish
from scenarios.log import logger

SCHEMA_FIELDS = frozenset({"response_format", "output_config"})
"""Body fields that carry the answer's JSON schema."""
LENGTH_FIELDS = frozenset({"max_tokens", "max_completion_tokens"})
"""Two spellings of one limit: one may be dropped for the other, but never both."""
REFUSALS = frozenset({400, 404, 422, 501})
"""Statuses with which an endpoint turns structured output down without naming it."""
BOUNDS_FIELD = "maxLength"
"""The keyword of a schema that bounds a text."""
_BOUNDS_REFUSED = re.compile(r"max_?length|grammar|repetition", re.IGNORECASE)
"""How servers speak of bounds they do not take; llama.cpp compiles schemas into grammars."""
_log = logger("endpoint")


class EndpointCapabilities:
    """Features that one (provider, base URL, model) lacks; endpoints may share it.

    Every lesson is reported once through ``notice``, in one sentence.
    """

    def __init__(
        self, notice: Callable[[str], None] | None = None, *, bounds_texts: bool = False
    ) -> None:
        """Assume that everything is supported; bounds of texts only where ``bounds_texts`` says so."""
        self._notice = notice
        self.omit: frozenset[str] = frozenset()
        """Body fields that were rejected, ``maxLength`` of the schema among them."""
        self.bounds_texts = bounds_texts
        """Whether schemas bound the length of texts."""
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
            error: how it was answered; anything but :class:`FieldRejected` teaches nothing, except
                words about bounds of texts.
            may_instruct: whether the schema may be dropped in favour of the prompt's own words.
        """
        rejected = error.field if isinstance(error, FieldRejected) else None
        if request.bounds and (rejected in SCHEMA_FIELDS or _names_bounds(error)):
            sure = self.native_worked or _names_bounds(error)
            if sure:  # else the probe finds out whether the bounds or the schema are refused
                self.refuse_bounds(error.message)
            return sure
        if rejected is None:
            return False
        field = rejected
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

    def refuse_bounds(self, why: str) -> None:
        """Remember that schemas are taken without bounds of texts, if at all."""
        if self.bounds_texts:
            self.bounds_texts = False
            self.omit |= {BOUNDS_FIELD}
            self._report(
                f"the endpoint turns the answer's schema down ({why});"
                f" it is sent without '{BOUNDS_FIELD}' from now on"
            )

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


def _names_bounds(error: ProviderError) -> bool:
    """Whether an error speaks of the bounds in a schema."""
    return error.status in REFUSALS and _BOUNDS_REFUSED.search(error.message) is not None


class StructureProbe:
    """Decides, for one request and its retries, whether the schema is sent along.

    Some endpoints answer a schema with an error that does not mention it. Until one structured
    call has worked, such an error is followed by one try without the bounds in the schema, where it
    had any, and one without the schema; what works shows what was to blame. A bare 500 may be a
    passing fault, so the second one counts.
    """

    def __init__(self, capabilities: EndpointCapabilities, wish: StructuredWish) -> None:
        """Begin with what ``capabilities`` holds and the user wishes."""
        self._capabilities = capabilities
        self._wish = wish
        self._left_out: Literal["bounds", "schema"] | None = None
        self._probed = False
        self._faults = 0
        self._why = ""

    def mode(self) -> Structured:
        """Return how the next request is to be sent."""
        if self._wish != "auto":
            return self._wish
        refused = self._left_out == "schema" or self._capabilities.native_refused
        return "instruct" if refused else "native"

    def bounds_texts(self) -> bool:
        """Return whether the schema of the next request is to bound its texts."""
        wanted = self._left_out is None and self._capabilities.bounds_texts
        return wanted and self.mode() == "native"

    def switches_after(self, error: ProviderError, sent: Request) -> bool:
        """Return True if the request is worth one try without bounds, or without the schema."""
        if self._left_out == "schema":
            self._left_out = None
            return False
        if self._probed or not self._may_refuse(error, sent):
            return False
        if error.status == 500:
            self._faults += 1
        if error.status not in REFUSALS and self._faults < 2:
            return False
        named = isinstance(error, FieldRejected)
        self._why = error.message if named else f"status {error.status}"
        if sent.bounds:
            self._left_out = "bounds"
            return True
        self._probed = True
        self._left_out = "schema" if self._wish == "auto" else None
        return self._left_out is not None

    def _may_refuse(self, error: ProviderError, sent: Request) -> bool:
        """Return whether an error can be about the schema that was sent."""
        if sent.structured == "instruct":
            return False
        if isinstance(error, FieldRejected) and error.field not in SCHEMA_FIELDS:
            return False
        if isinstance(error, UnknownModel) and error.field is not None:
            return False
        if isinstance(error, ContextExceeded):
            return False
        # Others may have learnt, while this one was under way, that bounds are not taken.
        outdated = bool(sent.bounds) and not self._capabilities.bounds_texts
        return outdated or not self._capabilities.native_worked

    def succeeded(self, sent: Request) -> None:
        """Note that a request was answered; it shows what was at fault before."""
        if sent.structured == "native":
            if self._left_out == "bounds" and not self._capabilities.native_worked:
                self._capabilities.refuse_bounds(self._why)
            self._capabilities.native_worked = True
        elif self._left_out == "schema" and not self._capabilities.native_worked:
            self._capabilities.refuse_native(self._why)
