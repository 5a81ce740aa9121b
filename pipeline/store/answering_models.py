"""Which model answered, as the endpoints themselves say: a server may be restarted with another."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AnsweringModel:
    """One name and state under which the endpoint of a role answered."""

    role: str
    model: str
    """What was asked for: ``provider/model``."""
    reply_model: str
    """What the endpoint says it was; empty where it did not."""
    system_fingerprint: str
    """The state of model and server, as the endpoint calls it; empty where it did not."""
    requests: int
    first_at: float
    """Unix time in seconds of the first request that it answered."""
    last_at: float


def add_answering_models(connection: sqlite3.Connection) -> None:
    """Add what a reply says of the model behind it, and the start of a reply of no use."""
    for column in ("reply_model", "system_fingerprint", "unread"):
        connection.execute(f"alter table requests add column {column} text")
    connection.execute(
        """create table answering_models (
            role text not null, model text not null, reply_model text not null,
            system_fingerprint text not null, requests integer not null,
            first_at real not null, last_at real not null,
            primary key (role, model, reply_model, system_fingerprint)) strict, without rowid"""
    )
    # twenty identities are enough: an endpoint may call itself something new every time
    connection.execute(
        """create trigger answering_models_counted after insert on requests
        when new.reply_model is not null or new.system_fingerprint is not null begin
            insert into answering_models
                select new.role, new.model, coalesce(new.reply_model, ''),
                    coalesce(new.system_fingerprint, ''), 0, new.sent_at, new.sent_at
                where (select count(*) from answering_models
                    where role = new.role and model = new.model) < 20
                on conflict do nothing;
            update answering_models set requests = requests + 1,
                first_at = min(first_at, new.sent_at), last_at = max(last_at, new.sent_at)
                where role = new.role and model = new.model
                    and reply_model = coalesce(new.reply_model, '')
                    and system_fingerprint = coalesce(new.system_fingerprint, ''); end"""
    )


def read_answering_models(connection: sqlite3.Connection) -> tuple[AnsweringModel, ...]:
    """Return who answered, by role and model, the first to answer first."""
    rows = connection.execute(
        "select role, model, reply_model, system_fingerprint, requests, first_at, last_at"
        " from answering_models order by role, model, first_at, reply_model, system_fingerprint"
    )
    return tuple(AnsweringModel(*row) for row in rows.fetchall())


def changed_models(answering: Iterable[AnsweringModel]) -> dict[tuple[str, str], list[str]]:
    """Return how the endpoint of a role called itself, where that changed: by (role, model)."""
    by_use: dict[tuple[str, str], list[AnsweringModel]] = {}
    for one in answering:
        by_use.setdefault((one.role, one.model), []).append(one)
    return {
        use: [called(one.reply_model, one.system_fingerprint) for one in found]
        for use, found in by_use.items()
        if len({one.reply_model for one in found} - {""}) > 1
        or len({one.system_fingerprint for one in found} - {""}) > 1
    }


def called(reply_model: str | None, system_fingerprint: str | None) -> str:
    """Return how an endpoint calls what answered, as one text."""
    return " ".join(filter(None, (reply_model, system_fingerprint)))
