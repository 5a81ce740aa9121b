"""On what a benchmark ran: a figure that nobody can place is of no use."""

from __future__ import annotations

import os
import platform
import resource
import secrets
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.report import Row, table

LIBRARIES = ("hipo", "aiohttp", "httpx", "openai", "orjson", "pydantic", "numpy", "torch", "ray")
"""Those whose version decides how fast something is."""
_LOWEST_PORT, _HANDED_OUT = 15_000, 32_768
"""Linux gives connections ports from the second number on, other systems from higher ones."""


def machine() -> dict[str, str]:
    """Return what this machine is and what it runs, and how busy it is at the moment."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "cores": str(os.cpu_count()),
        "CPU": _field(Path("/proc/cpuinfo"), "model name") or platform.machine(),
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.1f} GiB",
        "system": platform.platform(terse=True),
        "Python": platform.python_version(),
        "libraries": ", ".join(f"{name} {_version(name)}" for name in LIBRARIES),
        "load before": f"{os.getloadavg()[0]:.2f} (processes at work in the minute before)",
    }


def results_page(
    rows: Sequence[Row],
    facts: Mapping[str, str],
    seconds: Mapping[str, float],
    *,
    quick: bool,
    names: Sequence[str] = (),
) -> str:
    """Return a Markdown page of one run of the benchmarks.

    Args:
        rows: what was measured.
        facts: of the machine, taken before.
        seconds: by benchmark, how long it ran.
        quick: whether the benchmarks were the smaller, noisier ones.
        names: of the benchmarks that were asked for; none where all were.
    """
    goals = [row for row in rows if row.goal is not None]
    met = f"{sum(row.ok for row in goals)} of {len(goals)} goals met."
    command = " ".join(["python -m benchmarks", *names, *(["--quick"] if quick else [])])
    whole = sum(seconds.values())
    took = ", ".join(f"{name} {round(took)} s" for name, took in seconds.items())
    lines = [
        "# Results of the benchmarks",
        "",
        f"Written by `{command}`. Ratios compare what ran side by side in this one run; goals are for them.",
        "",
        *(f"- {name}: {value}" for name, value in facts.items()),
        f"- took: {whole / 60:.1f} min ({took})",
        "",
        met,
        "",
        table(rows),
    ]
    return "\n".join(lines) + "\n"


def free_port() -> int:
    """Return a port of 127.0.0.1 that nothing uses.

    It is below those that the system hands out: any connection could be given one of these before
    who asked for it listens there.
    """
    while True:
        port = _LOWEST_PORT + secrets.randbelow(_HANDED_OUT - _LOWEST_PORT)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def peak_mib() -> float:
    """Return the most memory that this process has had at once.

    ``getrusage`` would also count what the process that started it had at that moment.
    """
    held = _field(Path("/proc/self/status"), "VmHWM")
    if held is None:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return int(held.split()[0]) / 1024


def _field(path: Path, name: str) -> str | None:
    """Return the first value of a field of a file of ``name : value`` lines."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    pairs = (line.partition(":") for line in lines)
    return next((value.strip() for key, _, value in pairs if key.strip() == name), None)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
