"""Two hundred kills, every fault at once, and a clock that jumps: what must not be lost, is not.

Not part of the tests: it takes hours in full. ``kill -9`` falls at random moments into generating,
verifying, studying, evaluating, exporting and reviewing; the endpoint behind the first four is
:mod:`benchmarks.night_server` with all its faults. The kills of workers and of batches follow.
"""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import ray_kills, worker_kills
from benchmarks.batch_kills import batch_kills
from benchmarks.night import AGAIN, count_served, night_server
from benchmarks.report import Goal, Row, broken_off
from benchmarks.review_client import AnnotatorClient
from benchmarks.review_load import link_of, served
from pipeline.store.sqlite import DATABASE, EVALUATION
from tests.pipeline.integration.records import rows as rows_in

CONCURRENCY = 16
REPEATED = Goal.below(2 * CONCURRENCY)
"""What was in flight at a kill: twice as many dialogues are alive as there are places."""
TASK = "judge-turn"
"""Of the evaluation: one of those that the engines behind the endpoint answer."""
MOST_STARTS = 400
FAKETIME = "*/faketime/libfaketimeMT.so.1"
"""In /usr/lib: where Debian's package libfaketime has it, on every architecture."""
JUMPS = ("+1d", "-1d", "+3650d", "+0", "-3h")
_CLOCKED = """
import threading, time
# where the monotonic clock is left alone, libfaketime breaks the call that sleeping is made of
time.sleep = lambda seconds: threading.Event().wait(seconds)
import runpy
runpy.run_module("hipo", run_name="__main__")
"""


@dataclass(frozen=True, slots=True)
class Kills:
    """How often each command is killed, and how much it has to do."""

    generate: int
    verify: int
    study: int
    evaluate: int
    export: int
    review: int
    cases: int
    in_workers: worker_kills.WorkerKills
    in_ray: worker_kills.WorkerKills
    in_batches: int
    """At every step of a batch."""


FULL = Kills(105, 15, 15, 15, 30, 20, 1500, worker_kills.FULL, worker_kills.FULL, 20)
QUICK = Kills(5, 3, 3, 3, 3, 3, 200, worker_kills.QUICK, worker_kills.QUICK, 1)


def _hipo(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "hipo", *arguments]


def _killed(
    command: Sequence[str], kills: int, dice: random.Random, moved: Callable[[], object]
) -> tuple[int, int]:
    """Kill a command again and again, at a random moment after it began to work; then let it end.

    Args:
        command: what to run.
        kills: how often to kill it, if it lives that long.
        dice: draws the moments.
        moved: something that changes once the command is at work.

    Returns:
        Kills that fell into the work, and the last exit code.
    """
    done, code = 0, -1
    for _ in range(MOST_STARTS):
        before = moved()
        process = subprocess.Popen(command, stderr=subprocess.PIPE)
        while done < kills and process.poll() is None and moved() == before:
            time.sleep(0.05)
        if done < kills:
            time.sleep(dice.uniform(0.0, 0.5))
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                done += 1
        _, said = process.communicate()
        code = process.returncode
        if code not in AGAIN and code != -signal.SIGKILL:
            if code not in {0, 1}:
                print(said.decode(errors="replace"), file=sys.stderr)
            break
    return done, code


def _number(folder: Path, query: str, database: str = DATABASE) -> float:
    return float(str(rows_in(folder, query, database=database)[0][0]))


def _rows(name: str, kills: int, wanted: int, code: int, checks: Mapping[str, float]) -> list[Row]:
    return [
        Row(f"soak: {name}: kills", float(kills), goal=Goal.above(wanted)),
        Row(f"soak: {name}: exit code of the last start", float(code), goal=Goal.below(1)),
        *(
            Row(f"soak: {name}: {what}", value, goal=Goal.below(0))
            for what, value in checks.items()
        ),
    ]


def _unsound(folder: Path, database: str = DATABASE) -> float:
    return float(rows_in(folder, "pragma integrity_check", database=database) != [("ok",)])


def _repeated(served: int, kills: int, folder: Path, database: str = DATABASE) -> float:
    """Return how many requests a kill were served whose answer is not stored: they are asked again."""
    stored = _number(
        folder, "select count(*) from requests where code not in ('lost', 'unreachable')", database
    )
    return (served - stored) / max(1, kills)


def generated(folder: Path, cases: int, base_url: str) -> list[str]:
    """Return what ``hipo`` is called with for a run that is killed."""
    return [
        "generate", "-q", "-o", str(folder), "--model", "compatible/night", "--base-url", base_url,
        "-n", str(cases), "--turns", "1,2", "--strategy", "direct", "--timeout", "3",
        "--max-concurrency", str(CONCURRENCY), "--resume", "always",
    ]  # fmt: skip


def generated_offline(folder: Path, cases: int) -> list[str]:
    """Return what ``hipo`` is called with for a run whose clock jumps."""
    return ["generate", "-q", "-o", str(folder), "--model", "offline/rules", "-n", str(cases)]


def _generate(folder: Path, size: Kills, dice: random.Random, url: str) -> list[Row]:
    command = _hipo(*generated(folder, size.cases, f"{url}/v1"))
    before = count_served(url)
    kills, code = _killed(command, size.generate, dice, lambda: count_served(url))
    repeated = _repeated(count_served(url) - before, kills, folder)
    checks = {
        "cases lost": size.cases - _number(folder, "select count(*) from dialogues"),
        "cases ended twice": _number(
            folder, "select count(*) - count(distinct case_seq) from dialogues"
        ),
        "failed through a fault of hipo": _number(
            folder, "select count(*) from dialogues where code = 'internal_error'"
        ),
        "database unsound": _unsound(folder),
    }
    rows = _rows("generate", kills, size.generate, code, checks)
    return [*rows, Row("soak: generate: requests repeated a kill", repeated, goal=REPEATED)]


def _verify(run: Path, size: Kills, dice: random.Random, url: str) -> list[Row]:
    command = _hipo(
        "verify", str(run), "-q", "--no-self", "--judge", "compatible/judge", "--judge-base-url",
        f"{url}/v1", "--policy", "auto", "--max-concurrency", str(CONCURRENCY),
    )  # fmt: skip
    kills, code = _killed(command, size.verify, dice, lambda: count_served(url))
    undecided = _number(
        run,
        "select count(*) from dialogues d where status = 'generated' and not exists"
        " (select 1 from decisions where dialogue = d.seq)",
    )
    return _rows(
        "verify", kills, size.verify, code,
        {"dialogues without a decision": undecided, "database unsound": _unsound(run)},
    )  # fmt: skip


def _study(folder: Path, size: Kills, dice: random.Random, url: str) -> list[Row]:
    command = _hipo(
        "study", "-q", "-o", str(folder), "--models", "compatible/a,compatible/b", "--base-url",
        f"{url}/v1", "-n", str(max(size.cases // 25, 20)), "--turns", "1", "--strategy", "direct",
        "--strategy", "reflective", "--timeout", "3", "--max-concurrency", str(CONCURRENCY),
        "--no-self", "--judge", "compatible/judge", "--judge-base-url", f"{url}/v1",
    )  # fmt: skip
    kills, code = _killed(command, size.study, dice, lambda: count_served(url))
    runs = [path.parent for path in folder.rglob("run.sqlite")]
    checks = {
        "reports missing": float(not (folder / "study.html").exists()),
        "databases unsound": sum(map(_unsound, runs)),
    }
    return _rows("study", kills, size.study, code, checks)


def evaluated(run: Path, folder: Path, base_url: str) -> list[str]:
    """Return what ``hipo`` is called with for an evaluation that is killed."""
    return [
        "evaluate", str(run), "-q", "--any", "--task", TASK, "--model", "compatible/judge",
        "--base-url", base_url, "--timeout", "3", "--max-concurrency", str(CONCURRENCY),
        "-o", str(folder),
    ]  # fmt: skip


def _evaluate(run: Path, folder: Path, size: Kills, dice: random.Random, url: str) -> list[Row]:
    """Kill an evaluation: every line has one answer, and what was stored was asked about once."""
    command = _hipo(*evaluated(run, folder, f"{url}/v1"))
    before = count_served(url)
    kills, code = _killed(command, size.evaluate, dice, lambda: count_served(url))
    repeated = _repeated(count_served(url) - before, kills, folder, EVALUATION)
    items = _number(folder, "select count(*) from answers", EVALUATION)
    lines = (folder / "results.jsonl").read_bytes().splitlines()
    checks = {
        "items without one answer": abs(
            _number(
                run,
                "select count(*) from labelled_turns where dialogue in"
                " (select seq from dialogues where status = 'generated')",
            )
            - items
        ),
        "rows lost or doubled": abs(len(set(lines)) - items) + len(lines) - len(set(lines)),
        "database unsound": _unsound(folder, EVALUATION),
    }
    return [
        *_rows("evaluate", kills, size.evaluate, code, checks),
        Row("soak: evaluate: requests repeated a kill", repeated, goal=REPEATED),
    ]


def _digest(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _export(run: Path, folder: Path, size: Kills, dice: random.Random) -> list[Row]:
    """Kill exports into one folder: it holds the earlier one whole, or the new one whole."""
    arguments = ("export", str(run), "--any", "--to", "sft", "--overwrite", "-q")
    whole = folder / "whole" / "set"
    subprocess.run(_hipo(*arguments, "-o", str(whole)), check=True)
    wanted, target = _digest(whole), folder / "killed" / "set"
    torn = kills = 0
    for _ in range(size.export):
        process = subprocess.Popen(_hipo(*arguments, "-o", str(target)))
        time.sleep(dice.uniform(0.5, 3.0))
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            kills += 1
        process.wait()
        torn += target.exists() and _digest(target) != wanted
    code = subprocess.run(_hipo(*arguments, "-o", str(target)), check=False).returncode
    checks = {
        "folders half written": float(torn),
        "differs from an undisturbed one": float(_digest(target) != wanted),
        "left over": float(len(list(target.parent.iterdir())) - 1),
    }
    return _rows("export", kills, 1, code, checks)


def _review(run: Path, size: Kills, dice: random.Random) -> list[Row]:
    """Kill the server while an annotator saves: what was acknowledged is there afterwards."""
    acknowledged = kills = 0
    for number in range(size.review):
        with served(run, items=40) as serving:
            client = AnnotatorClient(link_of(serving), f"Annotator {number}")
            client.come_in()
            stop_after = dice.randrange(1, 4)
            try:
                client.work(lambda c=client, n=stop_after, s=serving: _kill_after(c, n, s))
            except OSError:
                kills += 1
            acknowledged += len(client.sent)
    stored = _number(run, "select count(*) from reviews")
    checks = {
        "acknowledged answers lost": max(0.0, acknowledged - stored),
        "database unsound": _unsound(run),
    }
    return _rows("review", kills, size.review, 0, checks)


def _kill_after(client: AnnotatorClient, answers: int, serving: subprocess.Popen[str]) -> None:
    if len(client.sent) >= answers:
        serving.kill()


def _clock(folder: Path, cases: int) -> list[Row]:
    """Generate while the clock of the machine jumps by days and years, both ways."""
    library = next(Path("/usr/lib").glob(FAKETIME), None)
    if library is None:
        print("  no libfaketime (apt-get install libfaketime): no clock jumps", file=sys.stderr)
        return []
    clock = folder.parent / "clock"
    clock.write_text("+0", encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-c", _CLOCKED, *generated_offline(folder, cases)],
        env={
            **os.environ,
            "LD_PRELOAD": str(library),
            "FAKETIME_TIMESTAMP_FILE": str(clock),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        },
    )  # fmt: skip
    jumps = 0
    while process.poll() is None:
        clock.write_text(JUMPS[jumps % len(JUMPS)], encoding="utf-8")
        jumps += 1
        time.sleep(0.2)
    checks = {
        "cases lost": cases
        - _number(folder, "select count(*) from dialogues where status = 'generated'"),
        "negative durations": _number(
            folder, "select count(*) from requests where latency_s < 0 or latency_s > 3600"
        ),
        "database unsound": _unsound(folder),
    }
    rows = _rows("clock jumps", jumps, 1, process.returncode, checks)
    return [Row("soak: clock jumps: jumps", float(jumps)), *rows[1:]]


def run(*, quick: bool = False) -> list[Row]:
    """Kill every command that writes, one after the other."""
    size, dice = (QUICK if quick else FULL), random.Random(29)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as base, night_server({"latency_s": 0.05}) as url:
        folder = Path(base)
        (folder / "killed").mkdir()
        played = folder / "run"
        parts: dict[str, Callable[[], list[Row]]] = {
            "generate": lambda: _generate(played, size, dice, url),
            "verify": lambda: _verify(played, size, dice, url),
            "study": lambda: _study(folder / "study", size, dice, url),
            "evaluate": lambda: _evaluate(played, folder / "evaluation", size, dice, url),
            "export": lambda: _export(played, folder, size, dice),
            "review": lambda: _review(played, size, dice),
            "workers": lambda: size.in_workers.measure(folder / "workers", dice, url),
            "Ray": lambda: ray_kills.measured(folder / "ray", size.in_ray, dice),
            "batches": lambda: batch_kills(folder / "batches", size.in_batches),
            "clock": lambda: _clock(folder / "clocked", min(size.cases, 100)),
        }
        for name, part in parts.items():
            rows += _told(name, part)
    return rows


def _told(name: str, part: Callable[[], list[Row]]) -> list[Row]:
    """Run one part; one that breaks off is told in a row, and what the others found stays."""
    started = time.perf_counter()
    try:
        rows = part()
    except Exception as error:  # noqa: BLE001 - whatever one of them raises
        traceback.print_exc()
        rows = [broken_off(f"soak: {name}", error)]
    print(f"  soak: {name}: {time.perf_counter() - started:.0f} s", file=sys.stderr)
    return rows
