"""The people who review a run: codes and names, accounts, and the browsers that are let in."""

from __future__ import annotations

import hashlib
import re
import sqlite3
import time
import unicodedata
from collections.abc import Sequence
from typing import Any

from pipeline.store.writer import Writer
from scenarios.errors import UsageError
from scenarios.reviews import Annotator, PersonRole, Visit

_ANNOTATOR = "seq, code, role, name, account, language, consented_at, erased_at"
_VISIT = f"""
    select v.role, v.language, v.consent, v.category, v.reason, v.annotator,
        {", ".join(f"a.{column.strip()}" for column in _ANNOTATOR.split(","))}
    from review_sessions v left join annotators a on a.seq = v.annotator
    where v.hash = ? and v.expires_at > ?"""  # noqa: S608 - constants only
_CODE = re.compile(r"A\d{2,9}")
_ADD = """
    insert into annotators (code, role, name, name_key, account, secret, language, consent,
        consented_at, created_at)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""


class PeopleLog:
    """Annotators, experts and their sessions."""

    def __init__(self, reader: sqlite3.Connection, writer: Writer) -> None:
        """Read with ``reader``, write through ``writer``."""
        self._reader = reader
        self._writer = writer

    # Sessions

    async def open_session(
        self, token: str, role: PersonRole, expires_at: float, annotator: int | None = None
    ) -> None:
        """Let a browser in that holds ``token``; only the token's hash is stored."""
        now = time.time()
        row = (_hashed(token), role, annotator, "", "", now, expires_at)

        def write(connection: sqlite3.Connection) -> None:
            connection.execute("delete from review_sessions where expires_at < ?", (now,))
            connection.execute(
                "insert into review_sessions"
                " (hash, role, annotator, category, reason, created_at, expires_at)"
                " values (?, ?, ?, ?, ?, ?, ?)",
                row,
            )

        await self._writer.post(write)

    def visit(self, token: str) -> Visit | None:
        """Return who a token belongs to; None where it is unknown or has expired."""
        row = self._reader.execute(_VISIT, (_hashed(token), time.time())).fetchone()
        if row is None:
            return None
        role, language, consent, category, reason, annotator, *person = row
        known = None if annotator is None else _annotator(person)
        return Visit(role, known, language, consent, category, reason)

    async def update_session(self, token: str, **values: str | None) -> None:
        """Set ``language``, ``category`` or ``reason`` of a session."""
        allowed = {"language", "category", "reason"}
        if not values or not set(values) <= allowed:
            raise ValueError(f"a session has {', '.join(sorted(allowed))}, not {', '.join(values)}")
        columns = ", ".join(f"{column} = ?" for column in values)
        await self._writer.post(
            lambda connection: connection.execute(
                f"update review_sessions set {columns} where hash = ?",  # noqa: S608 - names checked
                (*values.values(), _hashed(token)),
            )
        )

    async def consent(self, token: str, text: str) -> None:
        """Store that the text with the fingerprint ``text`` was agreed to."""

        def write(connection: sqlite3.Connection) -> None:
            now = time.time()
            connection.execute(
                "update review_sessions set consent = ?, consented_at = ? where hash = ?",
                (text, now, _hashed(token)),
            )
            connection.execute(
                "update annotators set consent = ?, consented_at = ? where seq ="
                " (select annotator from review_sessions where hash = ?)",
                (text, now, _hashed(token)),
            )

        await self._writer.post(write)

    async def close_session(self, token: str) -> None:
        """Forget a session."""
        await self._writer.post(
            lambda connection: connection.execute(
                "delete from review_sessions where hash = ?", (_hashed(token),)
            )
        )

    # Annotators

    async def introduce(self, token: str, name: str, secret: str) -> Annotator | None:
        """Make the person behind a session known under a name that nobody has yet.

        Args:
            token: the session's.
            name: what they call themselves.
            secret: hash of the code they can come back with.

        Returns:
            The new annotator, or None where the name is taken.
        """

        def write(connection: sqlite3.Connection) -> int | None:
            if connection.execute(
                "select 1 from annotators where name_key = ?", (name_key(name),)
            ).fetchone():
                return None
            role, consent, consented_at, language = connection.execute(
                "select role, consent, consented_at, language from review_sessions where hash = ?",
                (_hashed(token),),
            ).fetchone()
            seq = _add(
                connection,
                role=role,
                name=name,
                account=False,
                secret=secret,
                language=language,
                consent=consent,
                consented_at=consented_at,
            )
            _sit_down(connection, token, seq)
            return seq

        seq = await self._writer.post(write)
        return None if seq is None else self.annotator(seq)

    async def come_back(self, token: str, annotator: int) -> None:
        """Let the person behind a session go on as an annotator who is known."""
        await self._writer.post(lambda connection: _sit_down(connection, token, annotator))

    def secret_of(self, name: str) -> tuple[int, PersonRole, bool, str] | None:
        """Return (annotator, role, has an account, hashed secret) of a name; None if unknown."""
        row: tuple[int, PersonRole, int, str] | None = self._reader.execute(
            "select seq, role, account, secret from annotators"
            " where name_key = ? and secret is not null",
            (name_key(name),),
        ).fetchone()
        return None if row is None else (row[0], row[1], bool(row[2]), row[3])

    def add_account(self, name: str, role: PersonRole, secret: str) -> Annotator:
        """Add somebody who logs in with a password, given by its hash; blocks until durable.

        Raises:
            UsageError: somebody of that name is there already.
        """

        def write(connection: sqlite3.Connection) -> int:
            if connection.execute(
                "select 1 from annotators where name_key = ?", (name_key(name),)
            ).fetchone():
                raise UsageError(
                    f"there is somebody called {name!r} already", "choose another name"
                )
            return _add(connection, role=role, name=name, account=True, secret=secret)

        return self.annotator(self._writer.run(write))

    def known_as(self, name: str) -> Annotator:
        """Return who has this name, made known if they are not; for imported answers.

        Somebody's code is a name of theirs too; a code nobody has yet becomes that of somebody
        without a name, so that answers which were exported come back under it. Blocks until durable.
        """
        row = self._reader.execute(
            f"select {_ANNOTATOR} from annotators"  # noqa: S608 - constants only
            " where code = ? or name_key = ? order by code = ? desc limit 1",
            (name, name_key(name), name),
        ).fetchone()
        if row is not None:
            return _annotator(row)
        seq = self._writer.run(
            lambda connection: (
                _add(connection, role="annotator", name=None, code=name)
                if _CODE.fullmatch(name)
                else _add(connection, role="annotator", name=name)
            )
        )
        return self.annotator(seq)

    def annotator(self, seq: int) -> Annotator:
        """Return one annotator.

        Raises:
            KeyError: there is none of this number.
        """
        row = self._reader.execute(
            f"select {_ANNOTATOR} from annotators where seq = ?",  # noqa: S608 - constants only
            (seq,),
        ).fetchone()
        if row is None:
            raise KeyError(seq)
        return _annotator(row)

    def everybody(self) -> list[Annotator]:
        """Return everybody who ever reviewed, in the order they came."""
        rows = self._reader.execute(
            f"select {_ANNOTATOR} from annotators order by seq"  # noqa: S608 - constants only
        )
        return [_annotator(row) for row in rows]

    def find(self, who: str) -> Annotator:
        """Return somebody by code or name.

        Raises:
            UsageError: there is nobody like that.
        """
        for person in self.everybody():
            if who == person.code or (person.name and name_key(who) == name_key(person.name)):
                return person
        raise UsageError(f"there is nobody called {who!r}", "hipo review user list RUN lists them")

    def accounts(self) -> int:
        """Return how many people have an account."""
        row: tuple[int] = self._reader.execute(
            "select count(*) from annotators where account and erased_at is null"
        ).fetchone()
        return row[0]


def name_key(name: str) -> str:
    """Return what two names have in common that people take for the same."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def _hashed(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def _add(
    connection: sqlite3.Connection,
    *,
    role: PersonRole,
    name: str | None,
    code: str | None = None,
    account: bool = False,
    secret: str | None = None,
    language: str | None = None,
    consent: str | None = None,
    consented_at: float | None = None,
) -> int:
    (number,) = connection.execute(
        "select coalesce(max(cast(substr(code, 2) as integer)), 0) + 1 from annotators"
    ).fetchone()
    key = None if name is None else name_key(name)
    values = (code or f"{'E' if role == 'expert' else 'A'}{number:02d}", role, name, key, account,
              secret, language, consent, consented_at)  # fmt: skip
    return connection.execute(_ADD, (*values, time.time())).lastrowid or 0


def _sit_down(connection: sqlite3.Connection, token: str, annotator: int) -> None:
    connection.execute(
        "update review_sessions set annotator = ?, role = (select role from annotators"
        " where seq = ?) where hash = ?",
        (annotator, annotator, _hashed(token)),
    )


def _annotator(row: Sequence[Any]) -> Annotator:
    seq, code, role, name, account, language, consented_at, erased_at = row
    return Annotator(seq, code, role, name, bool(account), language, consented_at, erased_at)
