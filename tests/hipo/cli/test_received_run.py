"""A run that somebody sent: what stands in its database is text, and nothing is written through it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.hipo.cli.conftest import Hipo


def test_a_fact_that_no_scenario_has_is_shown_by_its_id(hipo: Hipo) -> None:
    assert hipo("generate", "-m", "offline/rules", "-n", "1", "-o", "run", "-q").code == 0
    with closing(sqlite3.connect("run/run.sqlite")) as database:
        database.execute("update cases set fact = 'no_such_fact'")
        database.commit()
        (case,) = database.execute("select id from cases").fetchone()
    shown = hipo("show", "run", case)
    assert shown.code == 0, shown.err
    assert "private fact: no_such_fact\n" in shown.out


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("run.lock", ("verify", "run")),
        ("run.sqlite", ("verify", "run")),
        ("people.sqlite", ("review", "user", "list", "run")),
        ("view-words.sqlite", ("view", "run")),
    ],
)
def test_no_command_writes_through_a_link_in_a_run(
    hipo: Hipo, name: str, command: tuple[str, ...]
) -> None:
    assert hipo("generate", "-m", "offline/rules", "-n", "1", "-o", "run", "-q").code == 0
    link, elsewhere = Path("run", name), Path("elsewhere")
    elsewhere.write_bytes(link.read_bytes() if name == "run.sqlite" else b"precious")
    elsewhere.chmod(0o755)
    before = elsewhere.read_bytes(), elsewhere.stat()
    link.unlink(missing_ok=True)
    link.symlink_to(elsewhere.resolve())
    refused = hipo(*command)
    assert refused.code == 2
    assert f"{link} is a link to another file\n  put a copy" in refused.err
    after = elsewhere.stat()
    assert (elsewhere.read_bytes(), after.st_mode) == (before[0], before[1].st_mode)
