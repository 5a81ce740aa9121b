"""A run that somebody sent: what stands in its database is text, and drives no terminal."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from tests.hipo.cli.conftest import Hipo


def test_the_name_of_a_run_cannot_drive_the_terminal(hipo: Hipo) -> None:
    assert hipo("generate", "-m", "offline/rules", "-n", "1", "-o", "run", "-q").code == 0
    with closing(sqlite3.connect("run/run.sqlite")) as database:
        database.execute("update meta set value = ? where key = 'name'", ("\x1b[31mred",))
        database.commit()
    shown = hipo("runs", "show", "run")
    assert shown.out.startswith(r"\x1b[31mred  (run)")
    assert "\x1b" not in shown.out
