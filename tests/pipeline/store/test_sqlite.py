"""Whoever waits at the review page gets a turn beside a generation."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

import pytest

from pipeline.store import sqlite
from pipeline.store.sqlite import POLL_S, EagerConnection, connect


def test_it_begins_as_soon_as_the_other_writer_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, eager = (
        connect(tmp_path / "a.sqlite", kind) for kind in (sqlite3.Connection, EagerConnection)
    )
    other.execute("begin immediate")
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            other.execute("commit")

    monkeypatch.setattr(time, "sleep", wait)
    eager.execute("begin immediate")
    assert eager.in_transaction
    assert waits == [POLL_S] * 3
    other.close()
    eager.close()


def test_it_gives_up_with_the_usual_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "BUSY_TIMEOUT_MS", 20)
    other, eager = (
        connect(tmp_path / "a.sqlite", kind) for kind in (sqlite3.Connection, EagerConnection)
    )
    other.execute("begin immediate")
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        eager.execute("begin immediate")
    assert eager.execute("pragma busy_timeout").fetchone() == (20,)
    other.close()
    eager.close()


def test_a_mistake_is_not_mistaken_for_waiting(tmp_path: Path) -> None:
    eager = connect(tmp_path / "a.sqlite", EagerConnection)
    eager.execute("begin immediate")
    with pytest.raises(sqlite3.OperationalError, match="within a transaction"):
        eager.execute("begin immediate")
    eager.close()
