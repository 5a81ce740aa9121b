from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.store.schema import create_tables
from pipeline.store.texts import PromptComposer, TextTable, parted, sections

lines = st.lists(st.sampled_from(["# Task", "# ", "#no", "text", "", " # x", "## y", "ü\r"]))
contents = lines.map("\n".join) | st.text()


@pytest.fixture
def database():
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        create_tables(connection)
        yield connection


@given(contents)
def test_sections_put_together_are_the_message(content):
    parts = sections(content)
    assert "".join(parts) == content
    assert all(part.startswith("# ") for part in parts[1:])


@given(st.lists(st.tuples(st.sampled_from(["system", "user"]), contents)))
def test_a_prompt_is_restored_as_it_was(messages):
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        create_tables(connection)
        (layout,) = TextTable().layouts(connection, [parted(messages)])
        assert PromptComposer(connection).compose(layout) == tuple(messages)


def test_sections_that_prompts_share_are_stored_once(database):
    table = TextTable()
    shared = "# Task\nSpeak.\n# Rules\nBriefly.\n"
    for turn in range(3):
        table.layouts(database, [parted([("system", shared), ("user", f"# Now\nTurn {turn}.\n")])])
    assert database.execute("select count(*) from texts").fetchone() == (5,)


def test_another_process_finds_the_number_a_text_has_already(database):
    prompts = [parted([("user", "# Task\n")]), parted([("user", "# Task\n# Now\n")])]
    first = TextTable().layouts(database, prompts)
    assert TextTable().layouts(database, prompts) == first
    assert database.execute("select count(*) from texts").fetchone() == (2,)


def test_numbers_of_an_undone_transaction_are_not_remembered(database):
    table = TextTable()
    database.execute("begin")
    table.layouts(database, [parted([("user", "# Lost\n")])])
    database.execute("rollback")
    table.forget()
    (layout,) = table.layouts(database, [parted([("user", "# Lost\n")])])
    assert PromptComposer(database).compose(layout) == (("user", "# Lost\n"),)
