"""A run that is killed at random moments: what was acknowledged is there, and nothing is torn."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from pipeline.store.run_store import RunStore
from scenarios.run_configuration import RunConfiguration

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
ARM = "arm-a"

WRITES = """
import asyncio, sys
from pathlib import Path
from pipeline.store.call_rows import CallReport
from pipeline.store.run_store import RunStore
from pipeline.store.texts import parted
from tests.factories import ARM, make_choice_row
from tests.pipeline.store.samples import case, dialogue, request

first = int(sys.argv[2])
folder = Path(sys.argv[1])
store = RunStore.open(folder)
store.set_state("running")

async def play(number):
    key = number.to_bytes(32, "big")
    messages = [("system", "# Task\\nAct.\\n"), ("user", f"# Now\\n{number}\\n")]
    await store.calls.record(CallReport(key, parted(messages), [request()], [make_choice_row(text=f"text {number}")]))
    print("call", number, flush=True)
    await store.add_cases([case(number)])
    await store.finish(dialogue(number), 0)
    print("dialogue", number, flush=True)

async def everything():
    for start in range(first, first + 100_000, 20):
        await asyncio.gather(*(play(number) for number in range(start, start + 20)))

asyncio.run(everything())
"""

DIES_IN_FLIGHT = """
import asyncio, os, signal, sys
from pathlib import Path
from pipeline.spending.budget import Ledger
from pipeline.store.run_store import RunStore
store = RunStore.open(Path(sys.argv[1]))
usd, tokens = store.spent()
ledger = Ledger(budget_usd=1.0, spent_usd=usd, spent_tokens=tokens, log=store.calls)

async def send():
    await ledger.reserve(0.25, 1000)
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(send())
"""


def killed_while_writing(folder, first, lines):
    """Run until ``lines`` acknowledgements were read, kill, and return all that were made."""
    child = subprocess.Popen(
        [sys.executable, "-c", WRITES, str(folder), str(first)],
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    read = [child.stdout.readline() for _ in range(lines)]
    child.send_signal(signal.SIGKILL)
    read += child.stdout.readlines()
    child.stdout.close()
    assert child.wait() == -signal.SIGKILL
    return [tuple(line.decode().split()) for line in read if line.endswith(b"\n")]


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
        done = subprocess.run(
            [sys.executable, "-c", DIES_IN_FLIGHT, str(tmp_path / "run")], cwd=ROOT, check=False
        )
        assert done.returncode == -signal.SIGKILL
    with RunStore.open(tmp_path / "run") as store:
        assert store.spent() == (0.25 * deaths, 1000 * deaths)
        assert store.state().calls == deaths
