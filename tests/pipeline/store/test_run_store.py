from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from dataclasses import replace

import pytest
import yaml

from pipeline.store.call_rows import CallReport
from pipeline.store.locks import RunLock
from pipeline.store.reading import RECIPE
from pipeline.store.run_store import RunStore
from pipeline.store.sqlite import connect_readonly
from scenarios.errors import UsageError
from tests.factories import ARM, make_choice_row, make_dialogue, make_run
from tests.pipeline.store.samples import CONFIG, begun, case, dialogue, request


def test_a_new_run_is_a_folder_with_a_database_and_a_recipe_to_read(tmp_path):
    with RunStore.create(tmp_path / "a" / "first", CONFIG) as store:
        state = store.state()
        assert (state.name, state.state, state.planned, state.pending) == ("first", "new", 0, 0)
        assert store.config.config == CONFIG
    assert yaml.safe_load((tmp_path / "a" / "first" / "run.yaml").read_text()) == CONFIG.recipe
    assert RunStore.exists(tmp_path / "a" / "first")


def test_a_folder_that_holds_a_run_is_not_begun_again(tmp_path):
    begun(tmp_path).close()
    with pytest.raises(UsageError, match="holds a run already"):
        RunStore.create(tmp_path, CONFIG)
    RunStore.open(tmp_path).close()


def test_what_is_left_of_a_run_that_never_began_is_no_obstacle(tmp_path):
    (tmp_path / "run.sqlite").touch()
    assert not RunStore.exists(tmp_path)
    with RunStore.create(tmp_path, CONFIG) as store:
        assert store.state().state == "new"


def test_a_missing_run_and_a_file_that_is_none_are_named(tmp_path):
    with pytest.raises(UsageError, match="there is no run"):
        RunStore.open(tmp_path, readonly=True)
    (tmp_path / "run.sqlite").write_text("this is not a database at all, " * 100)
    with pytest.raises(UsageError, match="not a database"):
        RunStore.open(tmp_path)


def test_two_writers_cannot_share_a_run_but_readers_can_look_on(tmp_path):
    with begun(tmp_path) as store:
        with pytest.raises(UsageError, match="being written by process"):
            RunStore.open(tmp_path)
        with RunStore.open(tmp_path, readonly=True) as reader:
            store.set_state("running")
            assert reader.state().state == "running"


def test_a_failed_opening_leaves_no_lock_behind(tmp_path):
    begun(tmp_path).close()
    with closing(sqlite3.connect(tmp_path / "run.sqlite")) as connection:
        connection.execute("pragma user_version = 99")
    with pytest.raises(UsageError, match="newer hipo"):
        RunStore.open(tmp_path)
    RunLock(tmp_path).release()


def test_a_run_whose_configuration_is_damaged_leaves_no_thread_and_no_lock_behind(tmp_path):
    begun(tmp_path).close()
    with closing(sqlite3.connect(tmp_path / "run.sqlite")) as connection:
        connection.execute("update config_epochs set config = '{garbage'")
        connection.commit()
    before = set(threading.enumerate())
    with pytest.raises(UsageError, match="the configuration 1 of the run"):
        RunStore.open(tmp_path)
    assert set(threading.enumerate()) <= before
    RunLock(tmp_path).release()


def test_a_run_on_a_network_disk_is_refused_before_anything_is_made(tmp_path):
    mounts = tmp_path / "mounts"
    mounts.write_text(f"server:/x {tmp_path} nfs rw 0 0\n")
    with pytest.raises(UsageError, match="network file system"):
        RunStore.create(tmp_path / "run", CONFIG, mounts=mounts)
    assert not (tmp_path / "run").exists()


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot be written"):
        RunStore.create(tmp_path / "file" / "run", CONFIG)


def test_a_run_whose_process_ended_without_a_word_was_interrupted(tmp_path):
    store = begun(tmp_path)
    store.set_state("running")
    assert store.state().state == "running"
    store.close()
    with RunStore.open(tmp_path, readonly=True) as reader:
        assert reader.state().state == "interrupted"
    with RunStore.open(tmp_path) as store:
        store.set_state("stopped:budget")
    with RunStore.open(tmp_path, readonly=True) as reader:
        assert reader.state().state == "stopped:budget"


def test_a_state_nobody_knows_is_refused(tmp_path):
    with begun(tmp_path) as store, pytest.raises(ValueError, match="cannot be 'asleep'"):
        store.set_state("asleep")


@pytest.mark.anyio
async def test_dialogues_remember_the_configuration_they_were_made_under(tmp_path):
    with begun(tmp_path) as store:
        await store.add_cases([case(0), case(1)])
        await store.finish(dialogue(0), 0)
        assert store.record_config(CONFIG) == 1
        assert store.record_config(replace(CONFIG, recipe={"seed": 8})) == 2
        await store.finish(dialogue(1), 0)
    with RunStore.open(tmp_path, readonly=True) as store:
        assert [(c.epoch, c.config.recipe["seed"]) for c in store.configs()] == [(1, 7), (2, 8)]
        assert [e.config_epoch for e in store.reader.endings()] == [1, 2]
    assert yaml.safe_load((tmp_path / "run.yaml").read_text())["seed"] == 8


@pytest.mark.anyio
async def test_the_state_adds_up_what_the_rows_say(tmp_path):
    with begun(tmp_path, ARM, "arm-b") as store:
        await store.add_cases([case(i) for i in range(3)])
        await store.finish(dialogue(0), 0)
        await store.finish(dialogue(0, arm="arm-b"), 0)
        await store.fail(case(1), ARM, "timeout", "no answer", 0)
        await store.fail(case(2), ARM, "invalid", "no label", 0)
        unknown = request(cost_usd=None, charged_usd=0.25, charged_tokens=900, prompt_tokens=None,
                          completion_tokens=None, cached_tokens=None, reasoning_tokens=None,
                          code="timeout", n_got=0)  # fmt: skip
        await store.calls.record(
            CallReport(b"k", [("user", ["x"])], [request(), unknown], [make_choice_row()])
        )
        state = store.state()
        assert (state.planned, state.generated, state.pending) == (6, 2, 2)
        assert state.failed == {"timeout": 1, "invalid": 1}
        assert [(a.id, a.generated, a.failed) for a in state.arms] == [(ARM, 1, 2), ("arm-b", 1, 0)]
        assert (state.calls, state.prompt_tokens, state.completion_tokens) == (2, 100, 20)
        assert (state.cached_tokens, state.reasoning_tokens) == (64, 4)
        assert (state.cost_usd, state.unpriced_calls) == (0.001, 1)
        assert store.spent() == (pytest.approx(0.251), 1020)
        assert state.updated >= state.created


@pytest.mark.anyio
async def test_the_counters_agree_with_a_count_of_the_rows(tmp_path):
    with begun(tmp_path) as store:
        await store.add_cases([case(i) for i in range(4)])
        for i in range(3):
            await store.fail(case(i), ARM, "timeout", "no answer", 0)
        await store.fail(case(0), ARM, "invalid", "no label", 1)
        await store.finish(dialogue(1), 1)
        await store.finish(dialogue(3), 0)
    with closing(sqlite3.connect(tmp_path / "run.sqlite")) as connection:
        counted = connection.execute(
            "select arm_seq, status, coalesce(code, ''), count(*) from dialogues group by 1, 2, 3"
        ).fetchall()
        tally = connection.execute("select * from tally where n > 0").fetchall()
    assert sorted(counted) == sorted(tally)


def test_closing_twice_is_harmless_and_leaves_one_file(tmp_path):
    store = begun(tmp_path)
    store.close()
    store.close()
    assert not (tmp_path / "run.sqlite-wal").exists()


def test_a_recipe_that_a_killed_process_did_not_write_is_there_once_the_run_goes_on(tmp_path):
    begun(tmp_path / "run").close()
    recipe = tmp_path / "run" / RECIPE
    written = recipe.read_bytes()
    for left in (None, b"scenarios: [other]\n"):
        recipe.unlink() if left is None else recipe.write_bytes(left)
        with RunStore.open(tmp_path / "run") as store:
            store.record_config(CONFIG)
        assert recipe.read_bytes() == written


def test_nothing_stays_open_where_the_writer_cannot_start(tmp_path, monkeypatch):
    begun(tmp_path / "run").close()
    opened = []

    def remembered(path):
        opened.append(connect_readonly(path))
        return opened[-1]

    def refused(_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("pipeline.store.opening.connect_readonly", remembered)
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refused)
        with pytest.raises(RuntimeError, match="new thread"):
            RunStore.open(tmp_path / "run")
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        opened[0].execute("select 1")
    RunStore.open(tmp_path / "run").close()


@pytest.mark.parametrize(
    "statement",
    [
        "insert into decisions values (1, 1, 'pending', 'x', '', '', :at)",
        "insert into passes values (1, 1, 1, 0, 1, 1, :at)",
        "insert into adjudications values (1, 1, 1, 'accepted', :at, null, null)",
        "insert into reviews values (1, 1, null, '', 0, :at, null)",
    ],
    ids=lambda statement: statement.split()[2],
)
def test_a_run_was_last_changed_by_whoever_judged_or_answered_last(tmp_path, statement):
    folder = make_run(tmp_path / "run", [make_dialogue("Why?", "So.")])
    with RunStore.open(folder, readonly=True) as store:
        before = store.state()
    with closing(sqlite3.connect(folder / "run.sqlite")) as connection, connection:
        connection.execute(statement, {"at": before.updated + 60})
    with RunStore.open(folder, readonly=True) as store:
        after = store.state()
    assert after.updated == before.updated + 60
    assert after.worked_until == before.worked_until
