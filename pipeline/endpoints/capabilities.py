"""Features that an endpoint turned out not to support, so that they are not used again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Literal

from pipeline.providers.errors import (
    BadRequest,
    ContextExceeded,
    FieldRejected,
    Moderated,
    OutOfFunds,
    ProviderError,
    Unauthorised,
    UnknownModel,
)
from pipeline.providers.failures import WrongPlace
from pipeline.providers.protocol import Reply, Request, Structured, Usage
from pipeline.providers.system_messages import SYSTEM_ROLE
from pipeline.spending.accounting import prompt_bound
from pipeline.store.answering_models import called
from pipeline.store.excess import NO_EXCESS
from scenarios.arms import StructuredWish
from scenarios.log import logger

SCHEMA_FIELDS = frozenset({"response_format", "output_config"})
"""Body fields that carry the answer's JSON schema."""
LENGTH_FIELDS = frozenset({"max_tokens", "max_completion_tokens"})
"""Two spellings of one limit: one may be dropped for the other, but never both."""
REFUSALS = frozenset({400, 404, 422, 501})
"""Statuses with which an endpoint turns structured output down without naming it."""
MANY_REFUSED = frozenset({400, 413, 422, 429})
"""Statuses with which an endpoint turns down how many samples are asked for at once."""
BOUNDS_FIELD = "maxLength"
"""The keyword of a schema that bounds a text, and stands for that which bounds a list, too."""
_BOUNDS_REFUSED = re.compile(r"max_?(?:length|items)|grammar|repetition", re.IGNORECASE)
"""How servers speak of bounds they do not take; llama.cpp compiles schemas into grammars."""
_OMITTED = "which is left out from now on"
_LESSONS = {
    SYSTEM_ROLE: "the endpoint takes no messages of the system; what they say begins the first of the"
    " user from now on",
    "max_tokens": "the endpoint rejects 'max_tokens'; the limit is sent as 'max_completion_tokens'",
    "max_completion_tokens": "the endpoint rejects 'max_completion_tokens'; the limit is sent as"
    " 'max_tokens'",
}
IGNORED_REPLIES = 3
"""Samples that a schema cannot have shaped, none before them keeping to it, after which it counts
as ignored."""
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
        """Body fields that were rejected, ``maxLength`` of the schema and the role of the system among
        them."""
        self.bounds_texts = bounds_texts
        """Whether schemas bound the length of texts."""
        self.one_by_one = False
        """Whether n > 1 is ignored or rejected, so that samples are asked for singly."""
        self.native_refused = False
        """Whether structured output is turned down."""
        self.native_worked = False
        """Whether structured output has worked at least once."""
        self.most_at_once = 1
        """The most samples that one request was answered with."""
        self.excess = NO_EXCESS
        """How much more the endpoint counts than it may."""
        self._keeps_to_schema = False
        self._ignored = 0
        self._told_of_ignored = False
        self._answering: tuple[str | None, str | None] = (None, None)
        self._told_of_change = False

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
        if not _can_be_omitted(field, request):
            return False
        if field == "n":
            self.ask_singly("rejects n > 1")
        if field not in self.omit:
            self.omit |= {field}
            self._report(_LESSONS.get(field, f"the endpoint rejects '{field}', {_OMITTED}"))
        return True

    def refuse_bounds(self, why: str) -> None:
        """Remember that schemas are taken without bounds of texts, if at all."""
        if self.bounds_texts:
            self.bounds_texts = False
            self.omit |= {BOUNDS_FIELD}
            self._report(
                f"the endpoint turns the answer's schema down ({why});"
                f" it is sent without '{BOUNDS_FIELD}' and 'maxItems' from now on"
            )

    def refuse_native(self, why: str) -> None:
        """Remember that the endpoint does not enforce schemas."""
        if not self.native_refused:
            self.native_refused = True
            self._report(
                "the endpoint does not take structured output"
                f" ({why}); the prompt alone asks for the format from now on"
            )

    def weigh(self, evidence: Iterable[bool | None], *, may_instruct: bool) -> None:
        """Learn from replies to a schema whether it is enforced.

        An endpoint that has kept to a schema once is trusted: a bad sample is one of the model's.

        Args:
            evidence: of :func:`~pipeline.endpoints.schema_evidence.keeps_to_schema`, a value for a sample.
            may_instruct: whether the schema may be dropped in favour of the prompt's own words.
        """
        for keeps in evidence:
            self._keeps_to_schema = self._keeps_to_schema or keeps is True
            self._ignored += keeps is False
        if self._keeps_to_schema or self._ignored < IGNORED_REPLIES or self.native_refused:
            return
        if may_instruct:
            self.refuse_native("its answers do not keep to the schema they were sent with")
        elif not self._told_of_ignored:
            self._told_of_ignored = True
            self._report("the endpoint ignores the schema that it is sent")

    def answered_by(self, reply: Reply) -> None:
        """Note which model answered, and tell once if it is not the one before."""
        was = self._answering
        now = (reply.model or was[0], reply.system_fingerprint or was[1])
        if now == was:
            return
        self._answering = now
        if self._told_of_change or all(w in {None, n} for w, n in zip(was, now, strict=True)):
            return
        self._told_of_change = True
        change = f"the model that answers has changed from {called(*was)} to {called(*now)}"
        _log.warning("%s", change)
        if self._notice is not None:
            self._notice(change)

    def counted(self, request: Request, usage: Usage | None) -> None:
        """Learn from what an endpoint counts whether it keeps to the lengths of prompt and answer."""
        if usage is None:
            return
        told, before = request.parameters.max_tokens * request.n, self.excess
        if usage.completion > told * before.answers:
            if before.answers == 1.0:
                self._report(
                    f"the endpoint counts {usage.completion:,} answer tokens where at most {told:,}"
                    " were asked for; a budget takes later answers to be"
                    f" {usage.completion / told:.1f} times as long as they may be"
                )
            self.excess = replace(self.excess, answers=usage.completion / told)
        sent = prompt_bound(request)
        if usage.prompt > sent + before.prompt_tokens:
            if not before.prompt_tokens:
                self._report(
                    f"the endpoint counts {usage.prompt:,} prompt tokens where {sent:,} bytes were"
                    " sent; a budget takes later prompts to be longer by so many tokens"
                )
            self.excess = replace(self.excess, prompt_tokens=usage.prompt)

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


def _can_be_omitted(field: str, request: Request) -> bool:
    """Whether a request has a field that it may do without."""
    if field == SYSTEM_ROLE and all(message.role != "system" for message in request.messages):
        return False
    both_lengths = field in LENGTH_FIELDS and request.omit & LENGTH_FIELDS
    return field not in request.omit and not both_lengths


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
        named = isinstance(error, FieldRejected)  # without a status by a model in this process
        if not named and error.status not in REFUSALS and self._faults < 2:
            return False
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
        if isinstance(error, ContextExceeded | Moderated | OutOfFunds | Unauthorised | WrongPlace):
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


class SamplesProbe:
    """Decides, for one request and its retries, whether several samples are asked for at once.

    Endpoints refuse ``n`` in words of their own ("must be between 1 <= value <= 2"). A refusal of
    more samples than it ever gave is followed by one try with a single one; only if that works,
    all else being equal, is ``n`` to blame.
    """

    def __init__(self, capabilities: EndpointCapabilities) -> None:
        """Begin with what ``capabilities`` holds."""
        self._capabilities = capabilities
        self._refused: Request | None = None
        self._probing = False

    def fewer(self, batch: tuple[int, ...]) -> tuple[int, ...]:
        """Return those of ``batch`` that the next request is to bring."""
        return batch[:1] if self._probing or self._capabilities.one_by_one else batch

    def switches_after(self, error: ProviderError, sent: Request) -> bool:
        """Return True if the request is worth one try for a single sample."""
        if self._probing:
            self._probing = error.retryable
            return False
        refused = isinstance(error, BadRequest | FieldRejected) and error.status in MANY_REFUSED
        if (
            not refused
            or isinstance(error, ContextExceeded | Moderated)
            or self._refused is not None
            or sent.n <= self._capabilities.most_at_once
        ):
            return False
        self._probing, self._refused = True, sent
        return True

    def succeeded(self, sent: Request, brought: int) -> None:
        """Note that a request was answered with so many samples."""
        capabilities = self._capabilities
        if sent.n > 1 and brought == 1:
            capabilities.ask_singly("answers n > 1 with one choice")
        capabilities.most_at_once = max(capabilities.most_at_once, brought)
        refused = self._refused if self._probing else None
        if refused and replace(sent, n=refused.n, patience=refused.patience) == refused:
            capabilities.ask_singly(f"rejects n = {refused.n}")
