"""The command line as a user runs it, in a folder of the test's: a process of its own, or this one."""

from __future__ import annotations

import io
import json
import os
import subprocess
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hipo.cli.main import run
from tests.forked import Forked, command, forked

ROOT = Path(__file__).resolve().parents[3]


def environment(**more: str) -> dict[str, str]:
    """Return this process's environment without any key, importing the code under test."""
    inherited = {k: v for k, v in os.environ.items() if not k.endswith("_API_KEY")}
    return {**inherited, "PYTHONPATH": str(ROOT), **more}


@dataclass(frozen=True)
class Hipo:
    """Runs ``hipo`` in one folder."""

    folder: Path

    def __call__(self, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        """Run one command in a process of its own and check its exit code."""
        return checked(forked(command, arguments, self.folder, environment()), code)

    def here(
        self, *arguments: str, code: int = 0, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run one command in this process, for which models are loaded once; check its exit code."""
        with (
            pytest.MonkeyPatch.context() as patch,
            redirect_stdout(_stream()) as out,
            redirect_stderr(_stream()) as err,
        ):
            patch.chdir(self.folder)
            for name in set(os.environ) - set(environment()):
                patch.delenv(name)
            for name, value in (env or {}).items():
                patch.setenv(name, value)
            ended = run(arguments)
        told = (_printed(stream) for stream in (out, err))
        return checked(subprocess.CompletedProcess(arguments, ended, *told), code)

    def start(self, *arguments: str) -> Forked:
        """Start one command in a process of its own and leave it running."""
        return Forked(command, arguments, self.folder, environment())

    def state(self, run: str) -> dict[str, Any]:
        """Return ``hipo runs show RUN --format json``."""
        state: dict[str, Any] = json.loads(
            self.here("runs", "show", run, "--format", "json").stdout
        )
        return state


def checked(done: subprocess.CompletedProcess[str], code: int) -> subprocess.CompletedProcess[str]:
    """Return what has ended with the expected exit code."""
    assert done.returncode == code, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)


def _printed(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()
