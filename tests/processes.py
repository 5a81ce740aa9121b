"""Processes that a test has started, and those that these have started."""

from __future__ import annotations

from pathlib import Path


def children(pid: int) -> list[int]:
    """Return the processes that a process has started and that still run, the oldest first."""
    listed = Path(f"/proc/{pid}/task").glob("*/children")
    return sorted(int(child) for file in listed for child in file.read_text().split())


def is_alive(pid: int) -> bool:
    """Whether a process runs: it is there, and no zombie."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"
