"""A plan of a million cases: time until the first dialogue, memory, and what lists and states take.

The run of a million finished dialogues is made by the store: its cases one by one as they are
planned, then one dialogue, which SQL copies to every other case.
"""

from __future__ import annotations

import asyncio
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import orjson

from benchmarks.machine import peak_mib
from benchmarks.report import Goal, Row
from hipo.app.generation.generate import PlayContext, generate, generate_prepared, play_plan
from hipo.app.generation.plan_estimates import estimate_plan
from hipo.app.preparation.prepared import prepare
from hipo.app.running.watching import Silent
from hipo.app.runs.resumption import opened, prepare_for
from pipeline.chunks import chunks
from pipeline.planning.progress import PlanProgress
from pipeline.playing.runner import Progress, RunOutcome
from pipeline.recipes.recipe import Recipe
from pipeline.stopping.stop import Stop
from pipeline.store.sqlite import DATABASE

_CHUNK = 2_000
ROUNDS = 3
_COPIES = (
    """insert into dialogues
        (status, retry_epoch, config_epoch, finished_at, case_seq, arm_seq)
    select d.status, d.retry_epoch, d.config_epoch, d.finished_at, c.seq, d.arm_seq
    from cases c, dialogues d where d.seq = 1 and c.seq <> d.case_seq order by c.seq""",
    """insert into turns select d.seq, t.turn, t.role, t.kind, t.text, t.declared_goal, t.labelled
    from dialogues d, turns t where t.dialogue = 1 and d.seq > 1""",
)


def _recipe(n: int) -> Recipe:
    return Recipe.model_validate(
        {"n": n, "turns": [1, 2, 3], "models": {"default": "offline/rules"}}
    )


async def _settle(folder: Path, n: int, settled: int) -> None:
    """Make a run of ``n`` planned cases, the first ``settled`` of which have a dialogue."""
    generate_one = prepare(_recipe(1))
    await generate_prepared(generate_one, folder)
    prepared = prepare(_recipe(n))
    with opened(folder, prepared) as store:
        progress = PlanProgress(store, prepared.plan, [arm.id for arm in prepared.arms])
        for chunk in chunks(islice(progress.cases(), settled - 1), _CHUNK):
            await store.add_cases(chunk)
            progress.begin(len(chunk), [])
        store.set_state("stopped:interrupted")
    connection = sqlite3.connect(folder / DATABASE)
    for statement in _COPIES:
        connection.execute(statement)
    connection.commit()
    connection.close()


class _UntilFirst(Silent):
    """Stops the run as soon as a dialogue is stored."""

    def __init__(self, stop: Stop) -> None:
        self._stop = stop
        self.at: float | None = None

    def see(self, progress: Progress) -> None:
        """Note the time of the first dialogue."""
        if progress.kind == "done" and self.at is None:
            self.at = time.perf_counter()
            self._stop.request("there is a first dialogue")


def _first_dialogue(folder: Path, n: int) -> dict[str, float]:
    """Begin or go on with a run as the command does; measure until the first dialogue is stored."""
    began = time.perf_counter()
    at: list[float] = []

    async def play(stage: PlayContext) -> RunOutcome:
        watching = _UntilFirst(stage.stop)
        outcome = await play_plan(replace(stage, watching=watching))
        at.append(watching.at or float("nan"))
        return outcome

    prepared = prepare_for(folder, _recipe(n))
    estimate_plan(prepared, folder)
    run = asyncio.run(generate_prepared(prepared, folder, play=play))
    if run.state().planned != n:
        raise RuntimeError(f"{run.state().planned} dialogues are planned instead of {n}")
    return {"seconds": at[0] - began, "peak_mib": peak_mib()}


def _child(*arguments: str | int | Path) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.million", *map(str, arguments)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    measured: dict[str, float] = orjson.loads(done.stdout.splitlines()[-1])
    return measured


def _command_s(arguments: Sequence[str | Path]) -> float:
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "hipo", *map(str, arguments)],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return time.perf_counter() - began


def _first_rows(folder: Path, many: int, few: int) -> list[Row]:
    """Rows of the first dialogue: of a new run, of one that goes on, of one that is extended."""
    rows = []
    for what, name, sizes in (
        ("begun", "new", (few, many)),
        ("gone on with", "run", (few, many)),
        ("extended by a hundredth", "run", (few + few // 100, many + many // 100)),
    ):
        small, large = (
            _child("first", folder / f"{name}-{size}", n)
            for size, n in zip((few, many), sizes, strict=True)
        )
        rows += [
            Row(
                f"million: first dialogue of a plan of {many:,}, {what}",
                large["seconds"],
                " s",
                Goal.below(5.0),
            ),
            Row(
                f"million: peak memory, {what}, {many:,} / {few:,}",
                large["peak_mib"] / small["peak_mib"],
                "x",
                Goal.below(1.3),
            ),
        ]
    return rows


def _command_rows(folder: Path, many: int, few: int) -> list[Row]:
    rows = []
    for name in (("runs", "--dir"), ("runs", "show"), ("show",)):
        times: dict[int, list[float]] = {few: [], many: []}
        for _ in range(ROUNDS):
            for size, seen in times.items():
                run = folder / f"run-{size}"
                target = folder / f"only-{size}" if "--dir" in name else run
                seen.append(_command_s((*name, target)))
        ratio = statistics.median(b / a for a, b in zip(times[few], times[many], strict=True))
        command = " ".join(name).removesuffix(" --dir")
        rows += [
            Row(f"million: hipo {command}, {many:,} / {few:,}", ratio, "x", Goal.below(1.3)),
            Row(
                f"million: hipo {command}, {many:,}",
                statistics.median(times[many]),
                " s",
                Goal.below(1.0),
            ),
        ]
    return rows


def run(*, quick: bool = False) -> list[Row]:
    """Compare a run of a million dialogues with one of a thousand, in processes of their own."""
    many, few = (50_000 if quick else 1_000_000), 1_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for size in (few, many):
            _child("settle", folder / f"run-{size}", size, size - size // 100)
            (folder / f"only-{size}").mkdir()
            (folder / f"only-{size}" / "run").symlink_to(folder / f"run-{size}")
        return _first_rows(folder, many, few) + _command_rows(folder, many, few)


def _main(what: str, folder: str, *counts: str) -> None:
    if what == "settle":
        n, settled = map(int, counts)
        asyncio.run(_settle(Path(folder), n, settled))
        print("{}")
    else:
        generate(_recipe(1), output=Path(folder).with_name("warm-up"))  # imports are not measured
        print(orjson.dumps(_first_dialogue(Path(folder), int(counts[0]))).decode())


if __name__ == "__main__":
    _main(*sys.argv[1:])
