"""A call as it is stored: its cache key, and each sample with its status."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pipeline.endpoints.endpoint import Endpoint
from pipeline.providers.protocol import Choice
from pipeline.providers.untrusted import storable
from pipeline.store.call_rows import ChoiceRow
from prompts.question import Question
from prompts.responses import ResponseFormat, Unreadable
from scenarios.fingerprint import canonical_json
from scenarios.quick_records import quickly_made

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

HASHED_PREFIXES = 256
"""Prefixes of keys that are kept hashed."""

HASHED_AT_ONCE = 2_047
"""Bytes."""

REFUSAL = "refusal"
"""Status of a sample that the model, or a filter in front of it, refused to give."""


@quickly_made
@dataclass(frozen=True, slots=True)
class CallContext:
    """What a call is for; everything but the seed and the epoch is only recorded."""

    role: str
    """Whose model is asked: ``initiator``, ``responder``, ``reflector``, or a judge's name."""
    seed: int
    epoch: int
    """How often the case has failed before."""
    case: str
    purpose: str
    turn: int = 0


class CallKeys:
    """Computes the cache keys of one client's calls."""

    def __init__(self, endpoints: Mapping[str, Endpoint]) -> None:
        """Use the endpoint of each role."""
        self._endpoints = endpoints
        self._prefixes: dict[tuple[str, int, str], tuple[object, Any]] = {}

    def key(self, question: Question[object], role: str, seed: int) -> bytes:
        """Hash everything that decides an answer except its sample and epoch.

        Endpoint, schema and first message are the same in thousands of calls: hashed once.
        """
        if role not in self._endpoints:
            raise LookupError(
                f"no model is asked as {role!r}: a strategy or critic names its roles in calls, a judge"
                " needs needs_model"
            )
        first, *others = question.messages
        key = (role, id(question.answer), first.content)
        prefix = self._prefixes.get(key)
        if prefix is None:
            digest = hashlib.sha256(
                canonical_json([self._endpoints[role].identity(), dict(question.answer.schema)])
            )
            _add_message(digest, first.role, first.content)
            if len(self._prefixes) >= HASHED_PREFIXES:
                self._prefixes.clear()
            # Keeping the format alive keeps its id from being given to another one.
            prefix = self._prefixes[key] = (question.answer, digest)
        digest = prefix[1].copy()
        for message in others:
            _add_message(digest, message.role, message.content)
        digest.update(b"\nseed %d" % seed)
        result: bytes = digest.digest()
        return result


def _add_message(digest: Any, role: str, content: str) -> None:
    """Hash one message after its length, so that no text can pass for two messages."""
    encoded = content.encode()
    digest.update(b"\n%s %d\n" % (role.encode(), len(encoded)))
    # Over more than this, hashlib gives Python's lock away: the event loop would wait for it.
    for start in range(0, len(encoded), HASHED_AT_ONCE):
        digest.update(encoded[start : start + HASHED_AT_ONCE])


@quickly_made
@dataclass(frozen=True, slots=True)
class ParsedSample(Generic[T_co]):
    """One sample: its row, and what could be read from it."""

    row: ChoiceRow
    value: T_co | None
    reasons: tuple[str, ...] = ()
    """Why it cannot be used; empty where it can."""
    fault: Exception | None = None
    """What the format raised instead of saying why: a fault in it, to be raised once the sample,
    which was paid for, is stored."""

    def get(self) -> T_co:
        """Return what was read.

        Raises:
            ValueError: nothing could be read.
        """
        if self.reasons or self.value is None:
            raise ValueError(f"an answer that is {self.row.status} has no value")
        return self.value


def choice_row(sample: int, epoch: int, choice: Choice) -> ChoiceRow:
    """Return a sample as it is stored and read, cut if it is very long; its status is open yet."""
    return ChoiceRow(sample, epoch, "", choice.finish, storable(choice.text))


def parse_sample(row: ChoiceRow, fmt: ResponseFormat[T]) -> ParsedSample[T]:
    """Parse a sample and set its status."""
    value: T | None = None
    reasons: tuple[str, ...] = ()
    fault: Exception | None = None
    status = "ok"
    if row.finish == "length":
        status = "truncated"
        reasons = ("answer: found one that was cut off, expected a complete one: use fewer words",)
    elif row.finish == "refusal":
        status = REFUSAL
        reasons = ("answer: found a refusal, expected the JSON object that was asked for",)
    elif not row.text.strip():
        status = "empty"
        reasons = ("answer: found nothing, expected the JSON object that was asked for",)
    else:
        try:
            value = fmt.read(row.text)
        except Unreadable as error:
            status, reasons = error.kind, error.reasons
        except Exception as error:  # noqa: BLE001 - a format may be a plugin's; the caller raises it
            status, reasons, fault = "unparseable", ("answer: reading it failed",), error
    if status != row.status:
        row = ChoiceRow(row.sample, row.epoch, status, row.finish, row.text)
    return ParsedSample(row, value, reasons, fault)
