"""An evaluation on disk: ``evaluation.sqlite`` in its folder holds every call and every answer."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final, Self

import orjson

from pipeline.store.answers import AnswerLog
from pipeline.store.config_epochs import has_begun, name_database, set_state
from pipeline.store.locks import refuse_network_disk
from pipeline.store.migrations import is_older, refuse_unnumbered
from pipeline.store.opening import OpenDatabase
from pipeline.store.queries.charges import Charges, read_charges
from pipeline.store.sqlite import (
    DATABASE,
    EVALUATION,
    connect_readonly,
    parsing,
)
from pipeline.store.writer import Writer, required
from scenarios.errors import UsageError
from scenarios.fingerprint import canonical_json, fingerprint

_NAMES: Final = 20
"""Names under which an endpoint answers that are told: it may call itself something new every time."""
Identity = Mapping[str, Any]
"""What decides the answers of an evaluation, as plain data."""


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """What asking one model took; None where it is not known of every request."""

    requests: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None
    known_usd: float = 0.0
    """What the requests of known cost came to."""
    unpriced: int = 0
    """Requests whose cost is not known."""
    charged_usd: float = 0.0
    """The same at the most that they can have cost where a price is known."""


@dataclass(slots=True)
class Answering:
    """What answered for one model, and in which form it was asked."""

    first_at: float
    """Unix time in seconds of the first request that was answered."""
    last_at: float
    names: dict[str, None] = field(default_factory=dict)
    """What the endpoint calls it, first to last; empty where it does not say."""
    structured: dict[str, None] = field(default_factory=dict)
    """How answers got their form."""
    omitted: set[str] = field(default_factory=set)
    """What was left out of requests, since the model refuses it."""


class EvaluationStore(OpenDatabase):
    """One open evaluation. Make it with :meth:`begin` or :meth:`open`, and close it.

    ``calls`` is what was asked and answered, the cache and the reservations; ``answers`` is how
    every item ended. Reading never waits for writing.
    """

    file: ClassVar[str] = EVALUATION
    """The name of the database."""

    def _join(self, reader: sqlite3.Connection, writer: Writer | None) -> None:
        self.answers = AnswerLog(reader, writer)

    @classmethod
    def exists(cls, folder: Path) -> bool:
        """Whether ``folder`` holds an evaluation.

        Raises:
            StoreUnusable: its database cannot be read, or has lost what it held.
        """
        path = folder / cls.file
        if not path.exists():
            return False
        with closing(connect_readonly(path)) as connection:
            if has_begun(connection):
                return True
            refuse_unnumbered(connection, path)
        return False

    @classmethod
    def begin(cls, folder: Path) -> Self:
        """Open the evaluation in ``folder`` for writing, begun now where there is none.

        The folder is made if need be; other files in it are left alone.

        Raises:
            UsageError: the folder cannot be written, is in use by another process, lies on a
                network file system, or holds a run or an evaluation of a newer hipo.
        """
        refuse_network_disk(folder)
        if (folder / DATABASE).exists():
            raise UsageError(f"{folder} holds a run", "choose another folder with -o")

        def begin_evaluation(connection: sqlite3.Connection) -> None:
            if not has_begun(connection):
                connection.execute("begin immediate")
                name_database(connection, folder.resolve().name)
                connection.execute("commit")

        return cls._started(folder, folder / cls.file, begin_evaluation)

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open an evaluation to look at it; one of an older hipo is brought up to date before.

        Raises:
            UsageError: there is none, or it was written by a newer hipo; or it has to be brought up
                to date, and its folder cannot be written or is in use by another process.
        """
        path = folder / cls.file
        if not cls.exists(folder):
            raise UsageError(f"there is no evaluation in {folder}", "hipo evaluate -o makes one")
        with closing(connect_readonly(path)) as reader:
            is_old = is_older(reader, path)
        if is_old:
            cls.begin(folder).close()
        with ExitStack() as undo:
            reader = undo.enter_context(closing(connect_readonly(path)))
            store = cls(folder, reader)
            undo.pop_all()
        return store

    @property
    def identity(self) -> Identity | None:
        """What decides the answers, as it was last recorded; None: nothing was asked yet."""
        row = self._connection.execute(
            "select config from config_epochs order by epoch desc limit 1"
        ).fetchone()
        if row is None:
            return None
        with parsing(self._connection, "what the evaluation asks"):
            identity: Identity = orjson.loads(row[0])
        return identity

    def record_identity(self, identity: Identity) -> None:
        """Store what decides the answers from now on; nothing is written if it is in force."""
        text = canonical_json(dict(identity))
        if self.identity is not None and canonical_json(dict(self.identity)) == text:
            return
        row = (fingerprint(dict(identity)), text.decode(), time.time())
        required(self._writer).run(
            lambda connection: connection.execute(
                "insert into config_epochs (fingerprint, config, recorded_at) values (?, ?, ?)",
                row,
            )
        )

    def set_state(self, state: str, *, planned: int | None = None) -> None:
        """Store what the evaluation is doing, durable on return; see ``RunStore.set_state``."""
        required(self._writer).run(lambda connection: set_state(connection, state, planned))

    def charges(self) -> Charges:
        """Return what its calls came to, over its whole life."""
        return read_charges(self._connection)

    def usage(self) -> dict[str, ModelUsage]:
        """Return what asking each model took, by ``provider/name``.

        Under ``""`` stands what was in flight when a process was killed: nobody knows whom that asked.
        """
        rows = self._connection.execute(
            "select model, count(*), sum(prompt_tokens), sum(completion_tokens),"
            " case when count(cost_usd) = count(*) then sum(cost_usd) end,"
            " coalesce(sum(cost_usd), 0), count(*) - count(cost_usd), coalesce(sum(charged_usd), 0)"
            " from requests group by 1"
        )
        return {model: ModelUsage(*figures) for model, *figures in rows}

    def answering(self) -> dict[str, Answering]:
        """Return what answered for each model, and in which form it was asked, by ``provider/name``."""
        rows = self._connection.execute(
            "select model, coalesce(reply_model, ''), structured, omitted, min(sent_at), max(sent_at)"
            " from requests where code = 'ok' group by 1, 2, 3, 4 order by min(sent_at)"
        )
        found: dict[str, Answering] = {}
        for model, name, form, omitted, first, last in rows:
            one = found.setdefault(model, Answering(first, last))
            one.last_at = max(one.last_at, last)
            if name and len(one.names) < _NAMES:
                one.names[name] = None
            one.structured.update({form: None} if form else {})
            one.omitted.update(omitted.split())
        return found


class TranslationStore(EvaluationStore):
    """Calls and endings of translations, kept as those of an evaluation are."""

    file: ClassVar[str] = "translation.sqlite"
