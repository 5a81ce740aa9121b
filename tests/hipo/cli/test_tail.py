"""Following a run that somebody else plays: everything once, in order, and its end."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hipo.app.runs.tail import follow
from pipeline.store.queries.endings import Ending
from pipeline.store.queries.status import RunState
from pipeline.store.run_store import RunStore
from scenarios.dialogue import Dialogue, Turn
from scenarios.run_configuration import RunConfiguration
from tests.factories import make_case
from tests.hipo.cli.conftest import Hipo

ROOT = Path(__file__).resolve().parents[3]


class Writer:
    """Plays a run step by step, one step between two looks of a reader."""

    def __init__(self, folder: Path) -> None:
        self.store = RunStore.create(folder, RunConfiguration())
        self.store.add_arm("a", {"strategy": "direct"})
        self.store.set_state("running")
        self.steps = iter(
            [
                lambda: self.generate(1),
                lambda: (self.generate(2), self.fail(3, epoch=0)),
                lambda: self.fail(3, epoch=1),
                lambda: self.generate(3, epoch=2),
                lambda: self.store.set_state("stopped:budget"),
            ]
        )

    def generate(self, number: int, epoch: int = 0) -> None:
        case = make_case(repetition=number)
        dialogue = Dialogue(case, "a", (Turn(0, "initiator", "Well?", "opening"),))
        asyncio.run(self._add(case, self.store.finish(dialogue, epoch)))

    def fail(self, number: int, *, epoch: int) -> None:
        case = make_case(repetition=number)
        asyncio.run(self._add(case, self.store.fail(case, "a", "empty", "nothing", epoch)))

    async def _add(self, case, written):  # type: ignore[no-untyped-def]
        await self.store.add_cases([case])
        await written

    def step(self) -> None:
        next(self.steps)()


def told(event: Ending | RunState) -> tuple[object, ...]:
    if isinstance(event, RunState):
        return (event.state, event.generated, sum(event.failed.values()))
    return (event.case.repetition, event.status, event.epoch)


@pytest.mark.parametrize(("count", "shown"), [(10, [(0, "generated", 0)]), (0, [])])
def test_every_ending_is_shown_once_also_of_cases_that_are_tried_again(
    tmp_path: Path, count: int, shown: list[tuple[object, ...]]
) -> None:
    writer = Writer(tmp_path / "run")
    writer.generate(0)
    events = [told(event) for event in follow(tmp_path / "run", count, wait=writer.step)]
    writer.store.close()
    assert events == [
        *shown,
        (1, "generated", 0),
        (2, "generated", 0),
        (3, "failed", 0),
        (3, "failed", 1),
        (3, "generated", 2),
        ("stopped:budget", 4, 0),
    ]


def test_the_last_ones_of_a_run_that_is_over_are_listed_with_its_state(
    offline: Hipo, hipo: Hipo
) -> None:
    assert offline("-n", "5", "-o", "run", "-q").code == 0
    lines = hipo("runs", "tail", "run", "-n", "3").out.splitlines()
    assert len(lines) == 4
    assert all("  generated  " in line and " used_car " in line for line in lines[:3])
    assert lines[3].endswith("finished: 5 generated, 0 failed, 0 pending")
    events = [
        json.loads(line)
        for line in hipo("runs", "tail", "run", "--format", "json", "--no-follow").out.splitlines()
    ]
    assert [event["event"] for event in events] == ["generated"] * 5 + ["state"]
    page = (ROOT / "docs" / "overnight.md").read_text(encoding="utf-8")
    failed, state = (json.loads(line) for line in page.splitlines() if line.startswith('{"event"'))
    assert list(failed) == list(events[0])
    assert list(state) == list(events[-1])


def test_an_interrupt_ends_the_command_and_not_the_run(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "run")
    writer.generate(0)
    with subprocess.Popen(
        [sys.executable, "-m", "hipo", "runs", "tail", "run"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert "generated" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert writer.store.state().state == "running"
    writer.store.close()
