"""The same calls through Bespoke Curator, datatrove and hipo, each against a bare aiohttp loop.

``make bench-peers`` installs both in environments of their own, in versions that are written down in
``benchmarks/peer_scripts``. Everyone sends the same bodies to the same server, 3,000 calls, answered
after 0.2 s, 256 in flight, reads the JSON of every answer, and keeps it as is its habit; imports and a
few first calls are not timed. All have their turn in each round, and are compared within it. hipo
plays dialogues, whose calls wait for each other; the calls of the others do not.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson

from benchmarks.plain_loop import plain_loop
from benchmarks.report import Goal, Row
from benchmarks.server import running_server
from benchmarks.throughput import played, sent_bodies

ROOT = Path(__file__).parent.parent
ENVIRONMENTS = ROOT / ".venv-peers"
SCRIPTS = ROOT / "benchmarks" / "peer_scripts"
DELAY_S = 0.2
IN_FLIGHT = 256
DIALOGUES = 1_000
CHUNK = 500
"""Documents in a checkpoint of datatrove."""
LONGEST_S = 900
"""Seconds after which a peer that has not ended is taken to wait for ever."""
HIPO = "hipo, compatible/, durable"


@dataclass(frozen=True, slots=True)
class Peer:
    """Who is measured beside hipo, and how."""

    name: str
    how: str
    environment: str
    script: str
    arguments: tuple[str, ...] = ()
    durable: bool = True
    """Whether an answer outlives a kill in mid-run."""


PEERS = (
    Peer("Curator", "its cache on", "curator", "ask_curator.py"),
    Peer("datatrove", "checkpoints", "datatrove", "ask_datatrove.py", (str(CHUNK),)),
    Peer("datatrove", "no checkpoints", "datatrove", "ask_datatrove.py", durable=False),
)


@dataclass(frozen=True, slots=True)
class Took:
    """What all calls took."""

    seconds: float
    cpu_s: float


def _interpreter(peer: Peer) -> Path:
    """Return the Python of a peer's environment.

    Raises:
        RuntimeError: the environment is not there.
    """
    python = ENVIRONMENTS / peer.environment / "bin" / "python"
    if not python.exists():
        raise RuntimeError(f"{peer.environment} is not installed: make bench-peers")
    return python


def _environment(home: Path) -> dict[str, str]:
    """Return what keeps a peer to this machine: nothing reported, nothing fetched."""
    kept = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "NO_PROXY": "*",
        "DO_NOT_TRACK": "1",
        "TELEMETRY_ENABLED": "false",
        "CURATOR_DISABLE_RICH_DISPLAY": "1",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "HF_HUB_OFFLINE": "1",
    }
    # Curator counts tokens by a file that is fetched, unless it is found; litellm brings it along.
    for folder in ENVIRONMENTS.glob(
        "curator/lib/*/site-packages/litellm/litellm_core_utils/tokenizers"
    ):
        kept["TIKTOKEN_CACHE_DIR"] = str(folder)
    return kept


def _asked(peer: Peer, base_url: str, bodies: Path, calls: int) -> tuple[Took, str]:
    """Let a peer make all calls; return what they took, and its version.

    Raises:
        RuntimeError: it broke off, does not end, or answers are missing.
    """
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                [
                    _interpreter(peer), SCRIPTS / peer.script, base_url, bodies, str(IN_FLIGHT),
                    folder, *peer.arguments,
                ],
                env=_environment(Path(folder)), cwd=folder, capture_output=True, text=True,
                check=False, timeout=LONGEST_S,
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise RuntimeError(f"{peer.name} did not end within {LONGEST_S} s") from error
    if done.returncode != 0:
        raise RuntimeError(f"{peer.name} ended with {done.returncode}: {done.stderr[-500:]}")
    found = orjson.loads(done.stdout.splitlines()[-1])
    if found["answers"] != calls:
        raise RuntimeError(f"{peer.name} has {found['answers']} of {calls} answers")
    return Took(found["seconds"], found["cpu"]), found["version"]


def _round(
    base_url: str, sample: list[dict[str, object]], bodies_file: Path, dialogues: int
) -> tuple[dict[str, Took], int]:
    """Let everyone have a turn; return what it took each, and how many calls there were."""
    own = played("compatible", base_url, dialogues, IN_FLIGHT)
    calls, took = own.calls, {HIPO: Took(own.seconds, own.cpu_s)}
    bodies = [{**sample[i % len(sample)], "seed": i} for i in range(calls)]
    bodies_file.write_bytes(orjson.dumps(bodies))
    began = time.process_time()
    *_, seconds = asyncio.run(plain_loop(base_url, bodies, IN_FLIGHT))
    took[""] = Took(seconds, time.process_time() - began)
    for peer in PEERS:
        measured, version = _asked(peer, base_url, bodies_file, calls)
        took[f"{peer.name} {version}, {peer.how}"] = measured
    return took, calls


def run(*, quick: bool = False) -> list[Row]:
    """Return for everyone the median ratio to the plain loop of the same round."""
    for peer in PEERS:
        _interpreter(peer)
    rounds, dialogues = (1, DIALOGUES // 5) if quick else (3, DIALOGUES)
    seen: dict[str, list[Took]] = defaultdict(list)
    with running_server(DELAY_S) as base_url, tempfile.TemporaryDirectory() as folder:
        sample = sent_bodies(base_url)  # loads and warms, too
        for _ in range(rounds):
            took, calls = _round(base_url, sample, Path(folder) / "bodies.json", dialogues)
            for name, one in took.items():
                seen[name].append(one)
    return compared(seen, calls)


def compared(seen: Mapping[str, Sequence[Took]], calls: int) -> list[Row]:
    """Lay out what everyone took, round by round; the name of the plain loop is empty."""
    title, plain = f"peers: {calls:,} calls", seen[""]
    rows = [Row(f"{title}, plain aiohttp loop", statistics.median(p.seconds for p in plain), " s")]
    for name, all_took in seen.items():
        if not name:
            continue
        pairs = list(zip(all_took, plain, strict=True))
        wall = statistics.median(one.seconds / loop.seconds for one, loop in pairs)
        cpu = statistics.median(one.cpu_s / loop.cpu_s for one, loop in pairs)
        goal = Goal.below(1.15) if name == HIPO else None
        rows += [
            Row(f"{title}, {name}: time / plain aiohttp loop", wall, "x", goal),
            Row(f"{title}, {name}: CPU / plain aiohttp loop", cpu, "x"),
        ]
    keeping = {peer.how for peer in PEERS if peer.durable}
    rivals = [took for name, took in seen.items() if name.partition(", ")[2] in keeping]
    fastest = [min(one.seconds for one in of_round) for of_round in zip(*rivals, strict=True)]
    ratios = [ours.seconds / other for ours, other in zip(seen[HIPO], fastest, strict=True)]
    ratio = statistics.median(ratios)
    return [*rows, Row(f"{title}: hipo / the fastest durable peer", ratio, "x", Goal.below(1.0))]
