"""Pages of the viewer over a quarter of a million dialogues, and of one that is being written.

A verified run is multiplied in its database: the viewer reads rows and does not mind that many
dialogues are alike. Pages are asked for over HTTP, one after the other, each the first time and
again: how long the reader waits, and, where the system tells, how much of a processor it took.
"""

from __future__ import annotations

import http.client
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.machine import free_port
from benchmarks.report import Goal, Row
from hipo.app.generation.generate import generate
from hipo.app.options.verification import VerificationOverrides
from hipo.app.verification.verify import verify
from pipeline.recipes.recipe import Recipe
from pipeline.store.sqlite import DATABASE

DIALOGUES = 250_000
QUICK = 20_000
SEEDS = 250
"""Dialogues that are generated; the rest are their copies."""
# Numbers of a copy are those of its original and a step as wide as what is copied, times its own.
_COPIES = (
    """insert into cases select seq + :step * k.times, printf('%06x', k.times) || substr(id, 7),
        scheme, scenario, scenario_fingerprint, fact, goal, turns, language, variation,
        repetition + k.times, seed
        from cases, (select value as times from json_each(:copies)) k where seq <= :step""",
    """insert into dialogues (seq, case_seq, arm_seq, status, code, reason, retry_epoch,
            config_epoch, finished_at)
        select seq + :step * k.times, case_seq + :step * k.times, arm_seq, status, code, reason,
            retry_epoch, config_epoch, finished_at
        from dialogues, (select value as times from json_each(:copies)) k where seq <= :step""",
    """insert into turns select dialogue + :step * k.times, turn, role, kind, text, declared_goal,
        labelled from turns, (select value as times from json_each(:copies)) k where dialogue <= :step""",
    """insert into annotations (source, dialogue, turn, pass, position, dimension, value, carried,
            rationale, raw, last_turn, part, second)
        select source, dialogue + :step * k.times, turn, 0, position, dimension, value, carried,
            rationale, raw, last_turn, part, second
        from annotations, (select value as times from json_each(:copies)) k where dialogue <= :step and source in (1, 2)""",
    """insert into assessments select seq + :step * k.times, dialogue + :step * k.times, config,
        flagged, assessed_at from assessments, (select value as times from json_each(:copies)) k where seq <= :step""",
    """insert into flags select assessment + :step * k.times, position, turn, code, reason, severity
        from flags, (select value as times from json_each(:copies)) k where assessment <= :step""",
    """insert into decisions select seq + :step * k.times, dialogue + :step * k.times, verdict, by,
        reason, note, decided_at from decisions, (select value as times from json_each(:copies)) k where seq <= :step""",
)


def large_run(folder: Path, dialogues: int) -> None:
    """Make a run of so many dialogues, with labels, flags and verdicts."""
    recipe = Recipe.model_validate(
        {"n": SEEDS, "turns": [1, 2, 3], "models": {"default": "offline/rules"}}
    )
    generate(recipe, output=folder)
    # The viewer shows no embedding, and making them takes longer than all the rest.
    verify(folder, judges=["offline/judge"], overrides=VerificationOverrides(embeddings=False))
    multiply(folder, dialogues)


def multiply(folder: Path, dialogues: int) -> None:
    """Copy what a run holds within its database until it has so many dialogues."""
    with closing(sqlite3.connect(folder / DATABASE, isolation_level=None)) as connection:
        connection.execute("pragma synchronous=off")
        (step,) = connection.execute("select max(seq) from dialogues").fetchone()
        copies = list(range(1, dialogues // step))
        connection.execute("begin")
        for statement in _COPIES:
            connection.execute(statement, {"step": step, "copies": str(copies)})
        connection.execute("commit")


@contextmanager
def _viewed(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Serve a run until the block ends, and give the link that lets one in."""
    command = [sys.executable, "-m", "hipo", "view", str(folder), "--port", str(free_port())]
    serving = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        for line in serving.stderr or ():
            if "/enter?" in line:
                yield serving, line.split()[-1]
                return
        raise RuntimeError("the viewer ended")
    finally:
        serving.terminate()
        serving.wait(30)


class _Reader:
    """A browser that keeps its cookie and one connection."""

    def __init__(self, link: str) -> None:
        parts = urlsplit(link)
        self._connection = http.client.HTTPConnection(parts.netloc)
        self._headers: dict[str, str] = {}
        self._connection.request("GET", f"{parts.path}?{parts.query}")
        answer = self._connection.getresponse()
        answer.read()
        self._headers["cookie"] = str(answer.getheader("set-cookie")).partition(";")[0]

    def page(self, path: str) -> tuple[float, str]:
        """Return how many seconds a page took, and what it says."""
        started = time.perf_counter()
        self._connection.request("GET", path, headers=self._headers)
        answer = self._connection.getresponse()
        body = answer.read().decode()
        if answer.status != 200:
            raise RuntimeError(f"{path}: {answer.status}")
        return time.perf_counter() - started, body


def _processor_seconds(serving: subprocess.Popen[str]) -> float | None:
    """Return the processor time of the thread that answers; None where the system keeps it back."""
    kept = Path(f"/proc/{serving.pid}/task/{serving.pid}/schedstat")
    return int(kept.read_text().split()[0]) / 1e9 if kept.exists() else None


def _page_rows(
    serving: subprocess.Popen[str], reader: _Reader, name: str, path: str
) -> Iterator[Row]:
    """Ask for a page once, and five more times."""
    began = _processor_seconds(serving)
    first, _ = reader.page(path)
    answered = _processor_seconds(serving)
    again = sorted(reader.page(path)[0] for _ in range(5))[2]
    ended = _processor_seconds(serving)
    yield Row(f"viewer: {name}, first", first * 1000, " ms", Goal.below(200))
    yield Row(f"viewer: {name}, median", again * 1000, " ms", Goal.below(200))
    if began is not None and answered is not None and ended is not None:
        yield Row(f"viewer: {name}, first, CPU", (answered - began) * 1000, " ms")
        yield Row(f"viewer: {name}, mean of five, CPU", (ended - answered) / 5 * 1000, " ms")


def _paths(reader: _Reader) -> dict[str, str]:
    """Return the pages that are measured."""
    _, listing = reader.page("/1/dialogues")
    dialogue = listing.partition('<ol class="dialogues"')[2].partition('href="')[2].split('"')[0]
    case = dialogue.split("/")[3]
    return {
        "list": "/1/dialogues",
        "list, three filters": "/1/dialogues?goal=deception&label.veracity=Quality&verdict=accepted",
        "list, last page": "/1/dialogues?page=999999",
        "list, a common word": "/1/dialogues?text=the",
        "list, a phrase": "/1/dialogues?text=%22this+minute%22",
        "dialogue": dialogue,
        "dialogue, within a filter": f"{dialogue}?label.veracity=None",
        "prompts": dialogue.replace("/dialogue/", "/prompts/"),
        "side by side": f"/1/compare/{case}",
        "by scenario": "/1/scenarios",
        "by fact": "/1/scenarios?by=fact",
        "label by label": "/1/labels",
        "progress": "/1/progress",
    }


def _until(done: Callable[[], bool]) -> float:
    started = time.perf_counter()
    while not done():
        time.sleep(0.2)
    return time.perf_counter() - started


def run(*, quick: bool = False) -> list[Row]:
    """Measure every page when it is asked for the first time, and the median of five more times."""
    dialogues = QUICK if quick else DIALOGUES
    rows = []
    with tempfile.TemporaryDirectory() as base:
        folder = Path(base) / "run"
        large_run(folder, dialogues)
        before = (folder / DATABASE).read_bytes()[:100]
        started = time.perf_counter()
        with _viewed(folder) as (serving, link):
            rows.append(Row(f"viewer: start, {dialogues:,}", time.perf_counter() - started, " s"))
            reader = _Reader(link)
            waited = _until(
                lambda: "still being read" not in reader.page("/1/dialogues?text=the")[1]
            )
            rows.append(Row("viewer: words indexed after", waited, " s"))
            for name, path in _paths(reader).items():
                rows += _page_rows(serving, reader, name, path)
        started = time.perf_counter()
        with _viewed(folder):
            rows.append(Row("viewer: second start", time.perf_counter() - started, " s"))
        unchanged = (folder / DATABASE).read_bytes()[:100] == before
        rows.append(Row("viewer: the run was changed", float(not unchanged), "", Goal.below(0)))
    return rows
