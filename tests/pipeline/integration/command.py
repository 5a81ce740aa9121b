"""The command line as a user runs it: a process of its own, in a folder of the test's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]


def environment(**more: str) -> dict[str, str]:
    """Return this process's environment without any key, importing the code under test."""
    inherited = {k: v for k, v in os.environ.items() if not k.endswith("_API_KEY")}
    return {**inherited, "PYTHONPATH": str(ROOT), **more}


@dataclass(frozen=True)
class Hipo:
    """Runs ``hipo`` in one folder."""

    folder: Path

    def __call__(
        self, *arguments: str, code: int = 0, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run one command and check its exit code."""
        done = subprocess.run(
            [sys.executable, "-m", "hipo", *arguments],
            cwd=self.folder,
            env=environment(**(env or {})),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == code, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start one command and leave it running."""
        return subprocess.Popen(
            [sys.executable, "-m", "hipo", *arguments],
            cwd=self.folder,
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def state(self, run: str) -> dict[str, Any]:
        """Return ``hipo runs show RUN --format json``."""
        state: dict[str, Any] = json.loads(self("runs", "show", run, "--format", "json").stdout)
        return state
