"""The rows of calls: requests, choices and the prompts that both point to, many calls at a time."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter

from pipeline.store.many_rows import delete_rows, insert_rows, next_number, rows_with
from pipeline.store.texts import Parts, TextTable
from scenarios.quick_records import quickly_made

LOST = "lost"
"""Code of a request that was in flight when its process died, or was given up in a batch."""


@quickly_made
@dataclass(frozen=True, slots=True)
class RequestOrigin:
    """What a request is for, as it is stored with it."""

    epoch: int
    """How often the case had failed before."""
    role: str
    """Whose model is asked: ``initiator``, ``responder``, ``reflector``, or a judge's name."""
    arm: str
    """The arm that pays for it; others may use its choices."""
    case: str
    turn: int
    purpose: str
    model: str
    """``provider/model``."""


@quickly_made
@dataclass(frozen=True, slots=True)
class RequestRow(RequestOrigin):
    """One HTTP attempt, whatever came of it.

    Its fields are the columns of the table ``requests``, in this order (``case`` is called
    ``case_id`` there); a new column is a field here and a migration.
    """

    sent_at: float
    """Unix time in seconds."""
    latency_s: float
    code: str
    """``ok``, the code of a :class:`~pipeline.providers.errors.ProviderError`, ``cancelled``, or
    ``lost``."""
    status: int | None = None
    """HTTP status of a failure where there was one; None for success."""
    message: str = ""
    """What the endpoint said of a failure; empty for success."""
    request_id: str | None = None
    structured: str = ""
    """``native`` if the schema was sent along, ``instruct`` if the prompt alone describes it,
    ``ignored`` if it was sent along and the reply shows that it was not enforced."""
    omitted: str = ""
    """Body fields left out because the endpoint had rejected them, sorted, space-separated;
    ``system_role`` where the system's messages begin the user's."""
    n_asked: int = 1
    n_got: int = 0
    prompt_tokens: int | None = None
    """None, as for the other tokens, where the endpoint did not say."""
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost_usd: float | None = None
    """None where usage or price is unknown, 0.0 where surely nothing was billed."""
    charged_usd: float | None = None
    """What counts against the budget: the cost, or the worst case where that is unknown; None
    without a price."""
    charged_tokens: int = 0
    """Tokens that count against the budget: those used, or the most possible."""
    reply_model: str | None = None
    """What the endpoint calls the model that answered; None where it did not say."""
    system_fingerprint: str | None = None
    """What the endpoint calls the state of model and server; None where it did not say."""
    unread: str | None = None
    """The start of a reply that was of no use."""
    reservation: int | None = None
    """The reservation that ends with this row; not stored."""


@quickly_made
@dataclass(frozen=True, slots=True)
class ChoiceRow:
    """One sample as it came back."""

    sample: int
    epoch: int
    status: str
    """``ok``, ``unparseable``, ``unknown_label``, ``invalid``, ``truncated``, ``refusal`` or
    ``empty``."""
    finish: str
    text: str


@quickly_made
@dataclass(frozen=True, slots=True)
class CallReport:
    """One question with the requests it was sent with and the samples that came back."""

    key: bytes
    """Hash of everything that decides the answer, see ``CallKeys``."""
    prompt: Parts
    requests: Sequence[RequestRow]
    choices: Sequence[ChoiceRow]


_STORED = tuple(f.name for f in fields(RequestRow) if f.name != "reservation")
REQUEST_COLUMNS = ", ".join("case_id" if name == "case" else name for name in _STORED)
"""Those of :class:`RequestRow`, in its order."""
_values: Callable[[RequestRow], tuple[object, ...]] = attrgetter(*_STORED)


class CallRows:
    """Writes calls; lives in the writer's thread, inside its transactions."""

    def __init__(self, texts: TextTable) -> None:
        """Store the sections of prompts in ``texts``."""
        self._texts = texts

    def add(self, connection: sqlite3.Connection, calls: Sequence[CallReport]) -> None:
        """Store calls; a prompt or choice that is there already stays as it is."""
        prompts = self._prompts(connection, calls)
        requests: list[tuple[object, ...]] = []
        choices: list[tuple[object, ...]] = []
        reservations: list[int] = []
        for call in calls:
            prompt = prompts[call.key]
            for request in call.requests:
                requests.append((prompt, *_values(request)))
                if request.reservation is not None:
                    reservations.append(request.reservation)
            choices += [
                (prompt, c.sample, c.epoch, c.status, c.finish, c.text) for c in call.choices
            ]
        insert_rows(connection, f"requests (prompt, {REQUEST_COLUMNS})", requests)
        insert_rows(connection, "choices", choices, "on conflict do nothing")
        delete_rows(connection, "reservations", reservations)

    def _prompts(
        self, connection: sqlite3.Connection, calls: Sequence[CallReport]
    ) -> dict[bytes, int]:
        """Return the numbers of prompts by fingerprint, storing those that are new, as most are."""
        parts = {call.key: call.prompt for call in calls}
        numbers: dict[bytes, int] = dict(
            rows_with(
                connection, "select fingerprint, seq from prompts where fingerprint in", [*parts]
            )
        )
        new = [mark for mark in parts if mark not in numbers]
        layouts = self._texts.layouts(connection, [parts[mark] for mark in new])
        first = next_number(connection, "prompts")
        rows = list(zip(range(first, first + len(new)), new, layouts, strict=True))
        insert_rows(connection, "prompts (seq, fingerprint, layout)", rows)
        return numbers | dict(zip(new, range(first, first + len(new)), strict=True))


def add_lost(connection: sqlite3.Connection, rows: Sequence[RequestRow]) -> None:
    """Store requests whose prompts nobody knows any more."""
    requests = [(None, *_values(row)) for row in rows]
    insert_rows(connection, f"requests (prompt, {REQUEST_COLUMNS})", requests)


def lost_row(
    *, sent_at: float, usd: float | None, tokens: int, model: str = "", role: str = ""
) -> RequestRow:
    """Return the row of a request whose process ended while it was in flight, at its worst."""
    return RequestRow(
        epoch=0,
        role=role,
        arm="",
        case="",
        turn=0,
        purpose="",
        model=model,
        sent_at=sent_at,
        latency_s=0.0,
        code=LOST,
        message="in flight when the process ended",
        cost_usd=0.0 if usd == 0 else None,
        charged_usd=usd,
        charged_tokens=tokens,
    )
