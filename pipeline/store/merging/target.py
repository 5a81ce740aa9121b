"""The database that other runs are copied into, one attached source after the other."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pipeline.store.sqlite import explained, no_room, primary_code, readonly_uri
from pipeline.store.writer import StoreFailed

_SEQS = """
    create temp table seqs (
        kind text not null, old integer not null, new integer not null, primary key (kind, old))
        without rowid"""


class MergeTarget:
    """A new database, and the source that is attached to it as ``src``.

    Rows are copied by statements that run inside SQLite, so that memory does not grow with the
    runs. Numbers of rows differ between databases: ``temp.seqs`` says which number of the source
    became which, by kind of row. The new database has no journal: until it is complete it is a draft,
    which is thrown away if anything goes wrong.
    """

    def __init__(self, connection: sqlite3.Connection, place: Path) -> None:
        """Take a connection to an empty database of the newest schema, opened as a URI.

        ``place`` is where the new run will be, for messages.
        """
        self.connection = connection
        self._place = place
        connection.execute(_SEQS)
        self._columns: dict[str, list[str]] = {}

    @contextmanager
    def attached(self, source: Path) -> Iterator[None]:
        """Attach the database of a source, read-only and as it is at this moment."""
        run = self.connection
        with explained(source), writing(self._place):
            run.execute("attach database ? as src", (readonly_uri(source),))
            run.execute("begin")
            run.execute("delete from seqs")
            yield
            run.execute("commit")
            run.execute("detach database src")

    def columns(self, table: str) -> list[str]:
        """Return the columns of a table, in order."""
        if table not in self._columns:
            rows = self.connection.execute(f"pragma main.table_info({table})").fetchall()
            self._columns[table] = [row[1] for row in rows]
        return self._columns[table]

    def copy(
        self,
        table: str,
        changed: Mapping[str, str] | None = None,
        *,
        joined: str = "",
        where: str = "true",
        conflict: str = "on conflict do nothing",
        without: str = "",
    ) -> int:
        """Copy rows of the source, called ``s``, in the order of their keys.

        Args:
            table: of both databases.
            changed: what is stored in columns in place of what the source has, as SQL.
            joined: tables that the source's is joined with, as SQL.
            where: which rows.
            conflict: what happens to a row that is there already; nothing by default.
            without: a column that gets a number of its own.

        Returns:
            How many rows were stored.
        """
        changed = changed or {}
        kept = [column for column in self.columns(table) if column != without]
        values = ", ".join(changed.get(column, f"s.{column}") for column in kept)
        key = [
            row[1] for row in self.connection.execute(f"pragma main.table_info({table})") if row[5]
        ]
        order = ", ".join(f"s.{column}" for column in key)
        statement = (
            f"insert into main.{table} ({', '.join(kept)}) select {values} from src.{table} s {joined}"  # noqa: S608
            f" where {where} order by {order} {conflict}"
        )
        return self.connection.execute(statement).rowcount

    def number(self, kind: str, table: str, same: str, joined: str = "") -> None:
        """Note which row ``m`` of the new database each row ``s`` of the source became.

        Args:
            kind: of the numbers.
            table: of both databases.
            same: what holds of the two rows, as SQL.
            joined: tables that the source's is joined with, as SQL.
        """
        key = "epoch" if table == "config_epochs" else "seq"
        self.connection.execute(
            f"insert into temp.seqs select ?, s.{key}, m.{key} from src.{table} s {joined}"  # noqa: S608
            f" join main.{table} m on {same} where true on conflict do nothing",
            (kind,),
        )


@contextmanager
def writing(place: Path) -> Iterator[None]:
    """Say of a full disk that it is that of the new run, and not of one that is read.

    Raises:
        StoreFailed: there is no room left.
    """
    try:
        yield
    except sqlite3.OperationalError as error:
        if primary_code(error) != sqlite3.SQLITE_FULL:
            raise
        raise StoreFailed(f"{place} could not be written: {error}", no_room(place)) from error


def numbered(kind: str, column: str, name: str = "", *, optional: bool = False) -> str:
    """Return the join that gives the new number of what a column refers to, as ``<name>.new``.

    Args:
        kind: of the numbers, also the name unless another is given.
        column: e.g. ``s.dialogue``.
        name: how the join is called.
        optional: keep rows whose number is not known, with null in its place.
    """
    name = name or kind
    how = "left join" if optional else "join"
    return f" {how} temp.seqs {name} on {name}.kind = '{kind}' and {name}.old = {column}"
