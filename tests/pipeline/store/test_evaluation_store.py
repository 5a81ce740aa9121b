from __future__ import annotations

import asyncio
from contextlib import closing

import pytest

from pipeline.store.answers import EvaluationSeat, StoredAnswer
from pipeline.store.evaluation_store import EvaluationStore
from pipeline.store.migrations import MIGRATIONS, migrate
from pipeline.store.run_store import RunStore
from pipeline.store.sqlite import EVALUATION, connect
from scenarios.errors import UsageError
from tests.pipeline.store.samples import begun

SEAT = EvaluationSeat("hipo-utterance", "zero-shot", 0, 0, "offline/judge", "c")
CONTENT = {"reply": "{}", "labels": {"veracity": "Quality"}}


def finish(store, *answers, seat=SEAT):
    async def all_of_them():
        for answer in answers:
            await store.answers.finish(seat, answer)

    asyncio.run(all_of_them())


def test_what_was_answered_is_there_when_the_evaluation_is_opened_again(tmp_path):
    with EvaluationStore.begin(tmp_path / "e") as store:
        store.record_identity({"set": "s"})
        store.answers.add_seats([SEAT])
        finish(store, StoredAnswer("b", "answered", content=CONTENT), StoredAnswer("a", "refused"))
    assert EvaluationStore.exists(tmp_path / "e")
    with EvaluationStore.open(tmp_path / "e") as store:
        assert store.identity == {"set": "s"}
        assert [(a.item, a.status, a.content) for a in store.answers.of(SEAT)] == [
            ("a", "refused", None),
            ("b", "answered", CONTENT),
        ]
        assert store.answers.seats() == [SEAT]
        assert store.answers.counts([SEAT]) == {"answered": 1, "refused": 1}


def test_an_evaluation_of_an_older_hipo_is_brought_up_to_date_by_whoever_looks_at_it(tmp_path):
    path = tmp_path / EVALUATION
    with closing(connect(path)) as connection:
        migrate(connection, path, MIGRATIONS[:-1])
        connection.execute(
            "insert into meta values ('name', 'e'), ('created', '0'), ('state', 'new')"
        )
        connection.execute("insert into config_epochs values (1, 'f', '{\"set\":\"s\"}', 0)")
    with EvaluationStore.open(tmp_path) as store:
        assert store.identity == {"set": "s"}
    backup = f"evaluation.schema-{len(MIGRATIONS) - 1}.backup.sqlite"
    assert [found.name for found in tmp_path.glob("*backup*")] == [backup]


def test_only_what_failed_is_asked_again_and_an_answer_is_never_overwritten(tmp_path):
    with EvaluationStore.begin(tmp_path) as store:
        store.answers.add_seats([SEAT])
        finish(
            store,
            StoredAnswer("a", "failed", code="timed_out", reason="too slow"),
            StoredAnswer("b", "unreadable"),
        )
        assert store.answers.pending(SEAT, ["b", "a", "c"]) == [("c", 0)]
        again = store.answers.pending(SEAT, ["b", "a", "c"], retry_failed=True)
        assert again == [("a", 1), ("c", 0)]
        finish(
            store, StoredAnswer("a", "answered", 1, content=CONTENT), StoredAnswer("b", "failed")
        )
        statuses = {a.item: (a.status, a.retry_epoch) for a in store.answers.of(SEAT)}
        assert statuses == {"a": ("answered", 1), "b": ("unreadable", 0)}


def test_the_newest_identity_counts_and_one_in_force_is_not_written_again(tmp_path):
    with EvaluationStore.begin(tmp_path) as store:
        assert store.identity is None
        for identity in ({"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": 2}):
            store.record_identity(identity)
        assert store.identity == {"a": 2}
        assert store._connection.execute("select count(*) from config_epochs").fetchone() == (2,)


def test_an_evaluation_begins_in_no_folder_of_a_run_and_no_run_where_there_is_none(tmp_path):
    begun(tmp_path / "run").close()
    with pytest.raises(UsageError, match="holds a run"):
        EvaluationStore.begin(tmp_path / "run")
    assert not (tmp_path / "run" / EVALUATION).exists()
    with pytest.raises(UsageError, match="there is no evaluation"):
        EvaluationStore.open(tmp_path / "run")
    EvaluationStore.begin(tmp_path / "e").close()
    assert not RunStore.exists(tmp_path / "e")


def test_one_process_at_a_time_writes_an_evaluation(tmp_path):
    with EvaluationStore.begin(tmp_path):
        with pytest.raises(UsageError, match="being written by process"):
            EvaluationStore.begin(tmp_path)
        with EvaluationStore.open(tmp_path) as reader:
            assert reader.charges().calls == 0


def test_seats_that_nobody_made_known_cannot_answer(tmp_path):
    with (
        EvaluationStore.begin(tmp_path) as store,
        pytest.raises(ValueError, match="not been added"),
    ):
        finish(store, StoredAnswer("a", "answered"))
