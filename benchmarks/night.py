"""A night in the small: every fault of an endpoint at once, outages, and a run that is killed.

2,000 cases are played by three strategies through :mod:`benchmarks.night_server`. Afterwards every
dialogue has to be there or to have failed with a reason, what the endpoint served has to be what
the store holds, and the bill has to agree with the endpoint's own ledger to the cent.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from benchmarks.report import Goal, Row
from benchmarks.server import own_process
from tests.pipeline.integration.records import rows as rows_in

STRATEGIES = ("direct", "reflective", "consistency")
CONCURRENCY = 64
USD_PER_MILLION = (1.0, 4.0)
"""Prompt and completion."""
AGAIN = frozenset({3, 5})
"""Exit codes after which the same command is worth a retry."""
MOST_STARTS = 12
PRICES = "prices:\n  compatible/night: {input: 1.0, output: 4.0}\n"


@dataclass(frozen=True, slots=True)
class Size:
    """How large a night is."""

    cases: int
    outage_s: float
    kills_at: tuple[int, ...]
    """After how many requests at the endpoint the run is killed."""
    outages_at: tuple[int, int]


FULL = Size(2000, 20.0, (3000, 7000, 11000), (1500, 5000))
QUICK = Size(100, 5.0, (150, 300, 450), (80, 380))


@dataclass(slots=True)
class Night:
    """What was seen of one night."""

    seconds: float = 0.0
    exits: list[int] = field(default_factory=list)
    ledger: list[dict[str, object]] = field(default_factory=list)


@contextmanager
def night_server(plan: Mapping[str, object]) -> Iterator[str]:
    """Start the endpoint in a process of its own; yield its address, without ``/v1``."""
    with own_process("benchmarks.night_server", orjson.dumps(plan).decode()) as port:
        yield f"http://127.0.0.1:{port}"


def _get(url: str) -> object:
    for _ in range(600):  # while it pretends to be away it does not even say how much it served
        try:
            with urllib.request.urlopen(url, timeout=60) as reply:
                return orjson.loads(reply.read())
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"{url} does not answer")


def count_served(url: str) -> int:
    """Return how many requests have arrived at an endpoint."""
    return int(str(_get(f"{url}/count")))


def command_line(run: Path, cases: int, base_url: str, prices: Path) -> list[str]:
    """Return what ``hipo`` is called with."""
    return [
        "generate", "-q", "-o", str(run), "--model", "compatible/night", "--base-url", base_url,
        "-n", str(cases), "--turns", "1",
        *(word for name in STRATEGIES for word in ("--strategy", name)),
        "--prices", str(prices), "--budget-usd", "1000", "--timeout", "3",
        "--max-concurrency", str(CONCURRENCY),
    ]  # fmt: skip


def _play(folder: Path, size: Size) -> Night:
    """Start the run until it is done, killing it where the plan says so."""
    night, kills = Night(), list(size.kills_at)
    prices = folder / "prices.yaml"
    prices.write_text(PRICES, encoding="utf-8")
    started = time.perf_counter()
    first, second = size.outages_at
    outages = [(first, size.outage_s, "closed"), (second, size.outage_s, "503")]
    with night_server({"outages": outages}) as base_url:
        arguments = command_line(folder / "run", size.cases, f"{base_url}/v1", prices)
        command = [sys.executable, "-m", "hipo", *arguments]
        while len(night.exits) < MOST_STARTS:
            process = subprocess.Popen(command, env={**os.environ, "HF_HUB_OFFLINE": "1"})
            while process.poll() is None:
                time.sleep(0.1)
                if kills and count_served(base_url) >= kills[0]:
                    kills.pop(0)
                    process.send_signal(signal.SIGKILL)
            night.exits.append(process.returncode)
            if process.returncode not in AGAIN and process.returncode != -signal.SIGKILL:
                break
        night.seconds = time.perf_counter() - started
        ledger = _get(f"{base_url}/ledger")
        assert isinstance(ledger, list)
        night.ledger = ledger
    return night


def _usd(prompt: int, completion: int) -> float:
    return (prompt * USD_PER_MILLION[0] + completion * USD_PER_MILLION[1]) / 1e6


def _reconcile(ledger: Sequence[Mapping[str, object]], run: Path) -> list[Row]:
    """Compare what the endpoint noted with what the run stored, request by request."""
    rows = rows_in(
        run,
        "select request_id, code, cost_usd, charged_usd, prompt_tokens, completion_tokens "
        "from requests",
    )
    entries = {str(entry["id"]): entry for entry in ledger}
    named = {str(row[0]): row for row in rows if row[0] in entries}
    without_id = [row for row in rows if row[0] not in entries]
    codes = Counter(str(row[1]) for row in without_id)
    free = sum(1 for row in without_id if row[1] == "unreachable" and row[2] == 0)
    lost, broken = codes["lost"], len(without_id) - codes["lost"] - free
    unnamed = len(entries) - len(named)  # requests that arrived and are in no row under their id
    wrong = sum(
        (row[4], row[5]) != (entries[name]["prompt_tokens"], entries[name]["completion_tokens"])
        for name, row in named.items()
        if row[4] is not None
    )
    known = sum(float(str(row[2])) for row in rows if row[2] is not None)
    charged = sum(float(str(row[3])) for row in rows if row[3] is not None)
    billed_known = sum(
        _usd(int(str(entries[name]["prompt_tokens"])), int(str(entries[name]["completion_tokens"])))
        for name, row in named.items()
        if row[2] is not None
    )
    billed = sum(
        _usd(int(str(entry["prompt_tokens"])), int(str(entry["completion_tokens"])))
        for entry in ledger
    )
    fates = Counter(str(entry["fate"]) for entry in ledger)
    print(f"  endpoint: {dict(fates)}", file=sys.stderr)
    print(f"  store, rows without its id: {dict(codes)}, never sent {free}", file=sys.stderr)
    return [
        Row("night: requests the endpoint served", float(len(ledger))),
        Row("night: of them in no row of the store", max(0.0, float(unnamed - broken - lost)),
            goal=Goal.below(0)),
        Row("night: rows of the store the endpoint knows nothing of",
            max(0.0, float(broken - unnamed)), goal=Goal.below(0)),
        Row("night: answers stored with other tokens than served", float(wrong),
            goal=Goal.below(0)),
        Row("night: |known cost - the endpoint's ledger|", abs(known - billed_known), " $",
            Goal.below(0.005)),
        Row("night: served value", billed, " $"),
        Row("night: charged / served value (a bound where usage is unknown)", charged / billed,
            "x", Goal.above(1.0)),
        Row("night: lost to kills, charged at their bound", float(lost),
            goal=Goal.below(float(3 * 2 * CONCURRENCY))),
    ]  # fmt: skip


def _dialogues(run: Path, planned: int) -> list[Row]:
    """Count how the cases ended."""
    ends = rows_in(run, "select coalesce(code, status), count(*) from dialogues group by 1")
    counts = {str(code): int(str(count)) for code, count in ends}
    print(f"  dialogues: {counts}", file=sys.stderr)
    generated = counts.get("generated", 0)
    return [
        Row("night: dialogues neither generated nor failed", float(planned - sum(counts.values())),
            goal=Goal.below(0)),
        Row("night: generated", generated / planned * 100, " %", Goal.above(97.0)),
        Row("night: failed for 429, 503 or no connection",
            float(counts.get("rate_limited", 0) + counts.get("unreachable", 0)),
            goal=Goal.below(0)),
        Row("night: failed through a fault of hipo", float(counts.get("internal_error", 0)),
            goal=Goal.below(0)),
    ]  # fmt: skip


def run(*, quick: bool = False) -> list[Row]:
    """Play one night and reconcile it."""
    size = QUICK if quick else FULL
    with tempfile.TemporaryDirectory() as folder:
        night = _play(Path(folder), size)
        played = Path(folder) / "run"
        print(f"  exits: {night.exits}", file=sys.stderr)
        sound = rows_in(played, "pragma integrity_check") == [("ok",)]
        rows = _dialogues(played, size.cases * len(STRATEGIES))
        rows += _reconcile(night.ledger, played)
    return [
        Row("night: seconds", night.seconds, " s"),
        Row("night: starts, kills included", float(len(night.exits)),
            goal=Goal.below(len(size.kills_at) + 1)),
        Row("night: the last exit code", float(night.exits[-1]), goal=Goal.below(1)),
        Row("night: the database is sound", float(sound), goal=Goal.above(1)),
        *rows,
    ]  # fmt: skip
