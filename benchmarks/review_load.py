"""Eight annotators at once over HTTP, while a generation writes the same run.

Every item must have exactly its answers, none lost and none twice. The annotators answer without a
pause to think; how long pages take is measured at them, who share the machine with the server, the
generation, and the model it talks to (32 requests in flight, half a second each).
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.machine import free_port
from benchmarks.report import Goal, Row
from benchmarks.review_client import AnnotatorClient, all_at_once
from benchmarks.server import running_server
from pipeline.store.reviews import ReviewStore

ANNOTATORS = 8
PER_ITEM = 3
MODEL_S = 0.5
HEAD_START_S = 3.0
"""Lets the generation get under way."""


def _generate(folder: Path, n: int, *model: str) -> list[str]:
    return [
        sys.executable, "-m", "hipo", "generate", "--turns", "1,2", "-n", str(n), "-q",
        "-o", str(folder), "--model", *(model or ("offline/rules",)),
    ]  # fmt: skip


@contextmanager
def _generation(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Go on with the run with a model that takes its time, until the block ends."""
    with running_server(MODEL_S) as base_url:
        model = ("compatible/bench", "--base-url", base_url, "--resume", "always")
        process = subprocess.Popen(_generate(folder, 200_000, *model))
        try:
            yield process
        finally:
            process.terminate()
            process.wait(60)


@contextmanager
def served(folder: Path, items: int) -> Iterator[subprocess.Popen[str]]:
    """Serve a run's dialogues for review until the block ends."""
    serving = subprocess.Popen(
        [
            sys.executable, "-m", "hipo", "review", "serve", str(folder), "--mode", "quiz",
            "--all", "-n", str(items), "--per-item", str(PER_ITEM), "--port", str(free_port()),
        ],
        stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    try:
        yield serving
    finally:
        serving.terminate()
        serving.wait(30)


def link_of(serving: subprocess.Popen[str]) -> str:
    """Read what the server says until it names the next link for annotators."""
    for line in serving.stderr or ():
        if line.strip().startswith("annotator:"):
            return line.split()[-1]
    raise RuntimeError("the server ended")


def _come_in(serving: subprocess.Popen[str]) -> list[AnnotatorClient]:
    clients = []
    for number in range(ANNOTATORS):
        link = link_of(serving)
        client = AnnotatorClient(link, f"Annotator {number}")
        client.come_in()
        clients.append(client)
    return clients


def _quantile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] * 1000


def run(*, quick: bool = False) -> list[Row]:
    """Let eight clients answer all items, and count what the store holds afterwards."""
    items = 40 if quick else 200
    with tempfile.TemporaryDirectory() as base:
        folder = Path(base) / "run"
        subprocess.run(_generate(folder, items), check=True)
        with served(folder, items) as serving:
            clients = _come_in(serving)
            with _generation(folder) as beside:
                time.sleep(HEAD_START_S)
                started = time.perf_counter()
                all_at_once(clients)
                seconds = time.perf_counter() - started
                if beside.poll() is not None:
                    raise RuntimeError("the generation ended before the annotators did")
        with ReviewStore.open(folder) as store:
            generated = sum(1 for _ in store.dialogues.endings(status="generated")) - items
            study = store.studies.get("quiz")
            sheets = list(store.sheets.sheets(study))
            of_item = Counter(sheet.item.seq for sheet in sheets)
            wrong = sum(answers != PER_ITEM for _, answers in store.sheets.items(study))
    acknowledged = sum(len(client.sent) for client in clients)
    twice = sum(n - 1 for n in Counter((s.item.seq, s.annotator) for s in sheets).values())
    pages = [second for client in clients for second in client.pages]
    saves = [second for client in clients for second in client.saves]
    return [
        Row("review: items without exactly three answers", wrong, "", Goal.below(0)),
        Row("review: answers acknowledged and lost", acknowledged - len(sheets), "", Goal.below(0)),
        Row("review: answers given twice", twice, "", Goal.below(0)),
        Row("review: items answered", len(of_item), "", Goal.above(items)),
        Row("review: p95 of a page", _quantile(pages, 0.95), " ms", Goal.below(100)),
        Row("review: median of a page", _quantile(pages, 0.5), " ms"),
        Row("review: p95 until an answer is saved", _quantile(saves, 0.95), " ms"),
        Row("review: answers a second", len(sheets) / seconds),
        Row("review: dialogues generated meanwhile", generated),
    ]
