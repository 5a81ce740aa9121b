from contextlib import closing

import pytest

from pipeline.store.answering_models import changed_models, read_answering_models
from pipeline.store.call_rows import CallReport
from pipeline.store.migrations import MIGRATIONS, migrate
from pipeline.store.run_store import RunStore
from pipeline.store.sqlite import connect
from scenarios.run_configuration import RunConfiguration
from tests.factories import make_request_row


def rows_of(*said):
    return [
        make_request_row(sent_at=float(i), reply_model=model, system_fingerprint=print_)
        for i, (model, print_) in enumerate(said)
    ]


async def recorded(tmp_path, *said):
    with RunStore.create(tmp_path / "run", RunConfiguration()) as store:
        await store.calls.record(CallReport(b"key", (("user", ("hi",)),), rows_of(*said), []))
        return store.state().answering


@pytest.mark.anyio
async def test_who_answered_is_counted_with_the_first_and_the_last_time(tmp_path):
    first, second = await recorded(tmp_path, ("a", "x"), (None, None), ("b", None), ("a", "x"))
    assert (first.reply_model, first.system_fingerprint, first.requests) == ("a", "x", 2)
    assert (first.first_at, first.last_at) == (0.0, 3.0)
    assert (second.reply_model, second.system_fingerprint, second.requests) == ("b", "", 1)


@pytest.mark.anyio
async def test_only_what_was_said_and_differs_is_a_change(tmp_path):
    same = await recorded(tmp_path, ("a", "x"), ("a", None), (None, "x"))
    assert changed_models(same) == {}
    other = await recorded(tmp_path / "other", ("a", "x"), ("a", "y"))
    assert list(changed_models(other).values()) == [["a x", "a y"]]


@pytest.mark.anyio
async def test_an_endpoint_with_a_new_name_for_every_reply_does_not_fill_the_table(tmp_path):
    answering = await recorded(tmp_path, *((f"name {i}", None) for i in range(100)))
    assert len(answering) == 20


def test_a_run_from_before_is_brought_up_to_date_and_knows_of_nobody(tmp_path):
    path = tmp_path / "run.sqlite"
    with closing(connect(path)) as connection:
        before = MIGRATIONS[: [step.__name__ for step in MIGRATIONS].index("add_answering_models")]
        migrate(connection, path, before)
        columns = [
            row[1] for row in connection.execute("pragma table_info(requests)") if row[1] != "seq"
        ]
        kinds = {"cost_usd": 0.5, "sent_at": 1.0, "latency_s": 1.0, "message": "", "prompt": None}
        connection.execute(
            f"insert into requests ({', '.join(columns)}) values ({', '.join('?' * len(columns))})",
            [kinds.get(name, 0) for name in columns],
        )
        migrate(connection, path)
        assert read_answering_models(connection) == ()
        found = connection.execute(
            "select cost_usd, reply_model, system_fingerprint, unread from requests"
        ).fetchall()
        assert found == [(0.5, None, None, None)]
