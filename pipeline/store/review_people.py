"""The people who review a run: codes and names, accounts, and the browsers that are let in."""

from __future__ import annotations

import hashlib
import re
import sqlite3
import time
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.store.people import PeopleFile
from pipeline.store.writer import Writer
from scenarios.errors import UsageError
from scenarios.reviews import Annotator, PersonRole, Visit

_PERSON = "code, name, account, language, consented_at"
_ANNOTATOR = "seq, code, role, erased_at"
_VISIT = """
    select role, language, consent, category, reason, code from sessions
    where hash = ? and expires_at > ?"""
_UNSEATED = (
    "select role, language, consent, consented_at from sessions where hash = ? and code is null"
)
_CODE = re.compile(r"A\d{2,9}")
_ADD = """
    insert into people (code, name, name_key, account, secret, language, consent, consented_at)
    values (?, ?, ?, ?, ?, ?, ?, ?)"""


@dataclass(frozen=True, slots=True)
class _NewPerson:
    """Somebody about to be made known under a name."""

    name: str
    role: PersonRole
    account: bool = False
    secret: str | None = None
    language: str | None = None
    consent: str | None = None
    consented_at: float | None = None


class PeopleLog:
    """Annotators, experts and their sessions: codes in the run, everything else beside it."""

    def __init__(self, reader: sqlite3.Connection, writer: Writer, file: PeopleFile) -> None:
        """Read and write the run with ``reader`` and ``writer``, what is personal in ``file``."""
        self._reader = reader
        self._writer = writer
        self._file = file

    # Sessions

    async def open_session(
        self, token: str, role: PersonRole, expires_at: float, annotator: int | None = None
    ) -> None:
        """Let a browser in that holds ``token``; only the token's hash is stored."""
        now = time.time()
        code = None if annotator is None else self.code(annotator)
        row = (_hashed(token), role, code, "", "", now, expires_at)

        def write(connection: sqlite3.Connection) -> None:
            connection.execute("delete from sessions where expires_at < ?", (now,))
            connection.execute(
                "insert into sessions"
                " (hash, role, code, category, reason, created_at, expires_at)"
                " values (?, ?, ?, ?, ?, ?, ?)",
                row,
            )

        await self._file.writer.post(write)

    def visit(self, token: str) -> Visit | None:
        """Return who a token belongs to; None where it is unknown or has expired."""
        row = self._file.reader.execute(_VISIT, (_hashed(token), time.time())).fetchone()
        if row is None:
            return None
        role, language, consent, category, reason, code = row
        known = None if code is None else self._of_code(code)
        return Visit(role, known, language, consent, category, reason)

    async def update_session(self, token: str, **values: str | None) -> None:
        """Set ``language``, ``category`` or ``reason`` of a session."""
        allowed = {"language", "category", "reason"}
        if not values or not set(values) <= allowed:
            raise ValueError(f"a session has {', '.join(sorted(allowed))}, not {', '.join(values)}")
        columns = ", ".join(f"{column} = ?" for column in values)
        await self._file.writer.post(
            lambda connection: connection.execute(
                f"update sessions set {columns} where hash = ?",  # noqa: S608 - names checked
                (*values.values(), _hashed(token)),
            )
        )

    async def consent(self, token: str, text: str) -> None:
        """Store that the text with the fingerprint ``text`` was agreed to."""

        def write(connection: sqlite3.Connection) -> None:
            now = time.time()
            connection.execute(
                "update sessions set consent = ?, consented_at = ? where hash = ?",
                (text, now, _hashed(token)),
            )
            connection.execute(
                "update people set consent = ?, consented_at = ? where code ="
                " (select code from sessions where hash = ?)",
                (text, now, _hashed(token)),
            )

        await self._file.writer.post(write)

    async def close_session(self, token: str) -> None:
        """Forget a session."""
        await self._file.writer.post(
            lambda connection: connection.execute(
                "delete from sessions where hash = ?", (_hashed(token),)
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
            The new annotator; None where the name is taken, or the session has its person already
            or is over.
        """
        row = self._file.reader.execute(_UNSEATED, (_hashed(token),)).fetchone()
        if row is None or self._is_taken(name):
            return None
        role, language, consent, consented_at = row
        person = _NewPerson(name, role, False, secret, language, consent, consented_at)
        # The code first: until somebody has the name, nobody has answered under the code.
        seq, code = await self._writer.post(lambda connection: _new_code(connection, role))

        def write(connection: sqlite3.Connection) -> bool:
            if connection.execute(_UNSEATED, (_hashed(token),)).fetchone() is None:
                return False
            return _add(connection, code, person) and _sit_down(connection, token, code, role)

        if not await self._file.writer.post(write):
            await self._writer.post(lambda connection: _drop_code(connection, seq))
            return None
        return self.annotator(seq)

    async def come_back(self, token: str, annotator: int) -> None:
        """Let the person behind a session go on as an annotator who is known.

        A session that has its person already keeps them.
        """
        who = self.annotator(annotator)
        await self._file.writer.post(
            lambda connection: _sit_down(connection, token, who.code, who.role)
        )

    def secret_of(self, name: str) -> tuple[int, PersonRole, bool, str] | None:
        """Return (annotator, role, has an account, hashed secret) of a name; None if unknown."""
        row = self._file.reader.execute(
            "select code, account, secret from people where name_key = ? and secret is not null",
            (name_key(name),),
        ).fetchone()
        if row is None:
            return None
        code, account, secret = row
        who = self._of_code(code)
        return None if who is None else (who.seq, who.role, bool(account), secret)

    def add_account(self, name: str, role: PersonRole, secret: str) -> Annotator:
        """Add somebody who logs in with a password, given by its hash; blocks until durable.

        Raises:
            UsageError: somebody of that name is there already.
        """
        return self._add_now(_NewPerson(name, role, account=True, secret=secret))

    def known_as(self, name: str) -> Annotator:
        """Return who has this name, made known if they are not; for imported answers.

        Somebody's code is a name of theirs too; a code nobody has yet becomes that of somebody
        without a name, so that answers which were exported come back under it. Blocks until durable.
        """
        who = self._of_code(name) or self._of_name(name)
        if who is not None:
            return who
        if not _CODE.fullmatch(name):
            return self._add_now(_NewPerson(name, "annotator"))
        seq, _ = self._writer.run(lambda connection: _new_code(connection, "annotator", name))
        return self.annotator(seq)

    def _add_now(self, person: _NewPerson) -> Annotator:
        taken = UsageError(
            f"there is somebody called {person.name!r} already", "choose another name"
        )
        if self._is_taken(person.name):
            raise taken
        seq, code = self._writer.run(lambda connection: _new_code(connection, person.role))
        if not self._file.writer.run(lambda connection: _add(connection, code, person)):
            self._writer.run(lambda connection: _drop_code(connection, seq))
            raise taken
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
        return _annotator(row, self._person(row[1]))

    def code(self, seq: int) -> str:
        """Return the code of an annotator.

        Raises:
            KeyError: there is none of this number.
        """
        return self.annotator(seq).code

    def everybody(self) -> list[Annotator]:
        """Return everybody who ever reviewed, in the order they came."""
        rows = self._reader.execute(
            f"select {_ANNOTATOR} from annotators order by seq"  # noqa: S608 - constants only
        )
        people = self._file.reader.execute(f"select {_PERSON} from people")  # noqa: S608
        known = {person[0]: person for person in people}
        return [_annotator(row, known.get(row[1])) for row in rows]

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
        row: tuple[int] = self._file.reader.execute(
            "select count(*) from people where account"
        ).fetchone()
        return row[0]

    def _is_taken(self, name: str) -> bool:
        return self._of_name(name) is not None

    def _of_name(self, name: str) -> Annotator | None:
        row = self._file.reader.execute(
            "select code from people where name_key = ?", (name_key(name),)
        ).fetchone()
        return None if row is None else self._of_code(row[0])

    def _of_code(self, code: str) -> Annotator | None:
        row = self._reader.execute(
            f"select {_ANNOTATOR} from annotators where code = ?",  # noqa: S608 - constants only
            (code,),
        ).fetchone()
        return None if row is None else _annotator(row, self._person(code))

    def _person(self, code: str) -> Sequence[Any] | None:
        row: Sequence[Any] | None = self._file.reader.execute(
            f"select {_PERSON} from people where code = ?",  # noqa: S608 - constants only
            (code,),
        ).fetchone()
        return row


def name_key(name: str) -> str:
    """Return what two names have in common that people take for the same."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def _hashed(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def _new_code(
    connection: sqlite3.Connection, role: PersonRole, code: str | None = None
) -> tuple[int, str]:
    """Add somebody to the run, under the next code that is free if none is given."""
    if code is None:
        (number,) = connection.execute(
            "select coalesce(max(cast(substr(code, 2) as integer)), 0) + 1 from annotators"
        ).fetchone()
        code = f"{'E' if role == 'expert' else 'A'}{number:02d}"
    added = connection.execute(
        "insert into annotators (code, role, created_at) values (?, ?, ?)",
        (code, role, time.time()),
    )
    return added.lastrowid or 0, code


def _drop_code(connection: sqlite3.Connection, seq: int) -> None:
    connection.execute("delete from annotators where seq = ?", (seq,))


def _add(connection: sqlite3.Connection, code: str, person: _NewPerson) -> bool:
    """Give a code its person; False where somebody else has the name by now."""
    key = name_key(person.name)
    if connection.execute("select 1 from people where name_key = ?", (key,)).fetchone():
        return False
    connection.execute(
        _ADD,
        (
            code, person.name, key, person.account, person.secret, person.language, person.consent,
            person.consented_at,
        ),
    )  # fmt: skip
    return True


def _sit_down(connection: sqlite3.Connection, token: str, code: str, role: PersonRole) -> bool:
    """Give a session its person, once and for all; False where it has one or is over."""
    changed = connection.execute(
        "update sessions set code = ?, role = ? where hash = ? and code is null",
        (code, role, _hashed(token)),
    )
    return changed.rowcount == 1


def _annotator(row: Sequence[Any], person: Sequence[Any] | None) -> Annotator:
    seq, code, role, erased_at = row
    _, name, account, language, consented_at = person or (code, None, 0, None, None)
    return Annotator(seq, code, role, name, bool(account), language, consented_at, erased_at)
