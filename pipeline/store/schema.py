"""The tables of a run but those of verification and review, as the statements that make them.

Content ids (``id``) name cases and arms to the outside; inside, rows point to each other by small
integers (``seq``). Times are Unix seconds. A label's ``value`` keeps its kind: TEXT is a label,
REAL a number, BLOB the JSON array of several labels. ``totals`` and ``tally`` are kept exact by
triggers in the transaction that changes what they count, so that the state of a run of a million
dialogues is read from a handful of rows.
"""

from __future__ import annotations

import sqlite3

_RUN = (
    "create table meta (key text primary key, value text not null) strict, without rowid",
    """create table config_epochs (
        epoch integer primary key, fingerprint text not null, config text not null,
        recorded_at real not null) strict""",
    """create table arms (
        seq integer primary key, id text not null unique, description text not null,
        added_at real not null) strict""",
    """create table cases (
        seq integer primary key, id text not null unique, scheme text not null,
        scenario text not null, scenario_fingerprint text not null, fact text not null,
        goal text not null, turns integer not null, language text not null,
        variation text not null, repetition integer not null, seed integer not null) strict""",
)

_DIALOGUES = (
    """create table dialogues (
        seq integer primary key,
        case_seq integer not null references cases(seq),
        arm_seq integer not null references arms(seq),
        status text not null check (status in ('generated', 'failed')),
        code text, reason text, retry_epoch integer not null,
        config_epoch integer not null references config_epochs(epoch),
        finished_at real not null,
        unique (case_seq, arm_seq),
        check ((status = 'failed') = (code is not null))) strict""",
    """create table failures (
        dialogue integer not null references dialogues(seq), retry_epoch integer not null,
        code text not null, reason text not null, config_epoch integer not null,
        failed_at real not null,
        primary key (dialogue, retry_epoch)) strict, without rowid""",
    """create table turns (
        dialogue integer not null references dialogues(seq), turn integer not null,
        role text not null, kind text not null, text text not null,
        declared_goal any,
        primary key (dialogue, turn)) strict, without rowid""",
    """create table labels (
        dialogue integer not null references dialogues(seq), turn integer not null,
        source text not null, position integer not null, dimension text not null,
        value any not null, rationale text, raw text,
        primary key (dialogue, turn, source, position)) strict, without rowid""",
    "create index labels_alias on labels(dimension, raw) where raw is not null",
    """create table traces (
        dialogue integer not null references dialogues(seq), turn integer not null,
        trace text not null,
        primary key (dialogue, turn)) strict""",
)

_CALLS = (
    """create table texts (
        seq integer primary key, hash blob not null unique, text text not null) strict""",
    """create table prompts (
        seq integer primary key, fingerprint blob not null unique, layout text not null)
        strict""",
    """create table requests (
        seq integer primary key,
        prompt integer references prompts(seq),
        epoch integer not null, role text not null, arm text not null, case_id text not null,
        turn integer not null, purpose text not null, model text not null,
        sent_at real not null, latency_s real not null,
        code text not null, status integer, message text not null, request_id text,
        structured text not null, omitted text not null,
        n_asked integer not null, n_got integer not null,
        prompt_tokens integer, completion_tokens integer, cached_tokens integer,
        reasoning_tokens integer,
        cost_usd real, charged_usd real, charged_tokens integer not null) strict""",
    "create index requests_case on requests(case_id)",
    """create table choices (
        prompt integer not null references prompts(seq), sample integer not null,
        epoch integer not null, status text not null, finish text not null, text text not null,
        primary key (prompt, sample, epoch)) strict, without rowid""",
    """create table reservations (
        seq integer primary key, usd real, tokens integer not null, reserved_at real not null)
        strict""",
)

_COUNTS = (
    """create table totals (
        seq integer primary key check (seq = 1), cases integer not null default 0,
        requests integer not null default 0, cached_choices integer not null default 0,
        prompt_tokens integer not null default 0, completion_tokens integer not null default 0,
        cached_tokens integer not null default 0, reasoning_tokens integer not null default 0,
        cost_usd real not null default 0, unpriced integer not null default 0,
        charged_usd real not null default 0, charged_tokens integer not null default 0,
        updated_at real) strict""",
    "insert into totals (seq) values (1)",
    """create table tally (
        arm_seq integer not null, status text not null, code text not null, n integer not null,
        primary key (arm_seq, status, code)) strict, without rowid""",
    """create trigger cases_counted after insert on cases begin
        update totals set cases = cases + 1; end""",
    """create trigger requests_counted after insert on requests begin
        update totals set requests = requests + 1,
            prompt_tokens = prompt_tokens + coalesce(new.prompt_tokens, 0),
            completion_tokens = completion_tokens + coalesce(new.completion_tokens, 0),
            cached_tokens = cached_tokens + coalesce(new.cached_tokens, 0),
            reasoning_tokens = reasoning_tokens + coalesce(new.reasoning_tokens, 0),
            cost_usd = cost_usd + coalesce(new.cost_usd, 0),
            unpriced = unpriced + (new.cost_usd is null),
            charged_usd = charged_usd + coalesce(new.charged_usd, 0),
            charged_tokens = charged_tokens + new.charged_tokens,
            updated_at = new.sent_at + new.latency_s; end""",
    """create trigger dialogues_counted after insert on dialogues begin
        insert into tally values (new.arm_seq, new.status, coalesce(new.code, ''), 1)
            on conflict do update set n = n + 1;
        update totals set updated_at = new.finished_at; end""",
    """create trigger dialogues_recounted after update on dialogues begin
        update tally set n = n - 1 where arm_seq = old.arm_seq and status = old.status
            and code = coalesce(old.code, '');
        insert into tally values (new.arm_seq, new.status, coalesce(new.code, ''), 1)
            on conflict do update set n = n + 1;
        update totals set updated_at = new.finished_at; end""",
)


def create_tables(connection: sqlite3.Connection) -> None:
    """Make the tables of version 1 in an empty database, inside the caller's transaction."""
    for statement in _RUN + _DIALOGUES + _CALLS + _COUNTS:
        connection.execute(statement)


def add_tracebacks(connection: sqlite3.Connection) -> None:
    """Add the table of where unforeseen exceptions (``internal_error``) were raised.

    Those of generation stay, one for every try; that of verification goes when it succeeds.
    """
    connection.execute(
        """create table tracebacks (
            dialogue integer not null references dialogues(seq),
            stage text not null check (stage in ('generation', 'verification')),
            retry_epoch integer not null, traceback text not null,
            primary key (dialogue, stage, retry_epoch)) strict, without rowid"""
    )
