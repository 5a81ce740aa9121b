"""A run that is killed at random moments: what was acknowledged is there, and nothing is torn."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from pipeline.spending.budget import Ledger
from pipeline.store.call_rows import CallReport
from pipeline.store.run_store import RunStore
from pipeline.store.texts import parted
from scenarios.run_configuration import RunConfiguration
from tests.factories import ARM, make_choice_row
from tests.forked import ROOT, Forked, forked
from tests.pipeline.store.samples import case, dialogue, request

pytestmark = pytest.mark.slow


def write_on(arguments):
    """Record calls and dialogues without end, and print which are acknowledged."""
    folder, first = arguments
    store = RunStore.open(Path(folder))
    store.set_state("running")

    async def play(number):
        key = number.to_bytes(32, "big")
        messages = [("system", "# Task\nAct.\n"), ("user", f"# Now\n{number}\n")]
        choice = make_choice_row(text=f"text {number}")
        await store.calls.record(CallReport(key, parted(messages), [request()], [choice]))
        print("call", number, flush=True)
        await store.add_cases([case(number)])
        await store.finish(dialogue(number), 0)
        print("dialogue", number, flush=True)

    async def everything():
        for start in range(int(first), int(first) + 100_000, 20):
            await asyncio.gather(*(play(number) for number in range(start, start + 20)))

    asyncio.run(everything())


def die_in_flight(arguments):
    """Reserve what a call may cost, and die before it has ended."""
    store = RunStore.open(Path(arguments[0]))
    usd, tokens = store.spent()
    ledger = Ledger(budget_usd=1.0, spent_usd=usd, spent_tokens=tokens, log=store.calls)

    async def send():
        await ledger.reserve(0.25, 1000)
        os.kill(os.getpid(), signal.SIGKILL)

    asyncio.run(send())


def killed_while_writing(folder, first, lines):
    """Run until ``lines`` acknowledgements were read, kill, and return all that were made."""
    told = folder.with_name(f"told-{first}")
    os.mkfifo(told)
    child = Forked(write_on, [str(folder), str(first)], ROOT, os.environ, str(told))
    with told.open() as pipe:
        read = [pipe.readline() for _ in range(lines)]
        child.send_signal(signal.SIGKILL)
        read += pipe.readlines()
    child.communicate()
    assert child.returncode == -signal.SIGKILL
    return [tuple(line.split()) for line in read if line.endswith("\n")]


def test_no_acknowledged_row_is_lost_in_kills_at_random_moments(tmp_path):
    folder = tmp_path / "run"
    with RunStore.create(folder, RunConfiguration()) as store:
        store.add_arm(ARM, {})
    rng = random.Random()
    acknowledged = set()
    for round_number in range(3):
        lines = killed_while_writing(folder, round_number * 100_000, rng.randint(1, 400))
        assert lines
        acknowledged.update(lines)
        with RunStore.open(folder, readonly=True) as store:
            assert store.state().state == "interrupted"
    with RunStore.open(folder) as store:
        dialogues = {d.case.repetition for d in store.dialogues()}
        for kind, number in acknowledged:
            if kind == "dialogue":
                assert int(number) in dialogues
            else:
                known = store.calls.choices(int(number).to_bytes(32, "big"), [0], 0)
                assert known[0].text == f"text {number}"
        assert store.state().generated == len(dialogues)
    with closing(sqlite3.connect(folder / "run.sqlite")) as connection:
        assert connection.execute("pragma integrity_check").fetchall() == [("ok",)]
        assert connection.execute("pragma foreign_key_check").fetchall() == []
        torn = """select seq from dialogues where seq not in
            (select dialogue from turns group by dialogue having count(*) = 4)"""
        assert connection.execute(torn).fetchall() == []


@pytest.mark.parametrize("deaths", [1, 2])
def test_every_request_in_flight_at_a_kill_stays_charged_at_its_worst(tmp_path, deaths):
    with RunStore.create(tmp_path / "run", RunConfiguration()):
        pass
    for _ in range(deaths):
        done = forked(die_in_flight, [str(tmp_path / "run")], ROOT, os.environ)
        assert done.returncode == -signal.SIGKILL
    with RunStore.open(tmp_path / "run") as store:
        assert store.spent() == (0.25 * deaths, 1000 * deaths)
        assert store.state().calls == deaths
