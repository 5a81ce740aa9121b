"""Processes that are forked are processes of their own, as others are."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.forked import Forked, forked


def tell(arguments: Sequence[str]) -> None:
    print(arguments[0], Path.cwd(), sorted(os.environ))
    print("aside", file=sys.stderr)
    sys.exit(3)


def wait(arguments: Sequence[str]) -> None:
    Path(arguments[0]).touch()
    signal.pause()


def test_it_has_a_folder_an_environment_streams_and_an_exit_code(tmp_path: Path) -> None:
    done = forked(tell, ["ü"], tmp_path, {"ONLY": "this"})
    assert done.returncode == 3
    assert done.stdout == f"ü {tmp_path} ['ONLY']\n"
    assert done.stderr == "aside\n"


def test_it_ends_with_a_signal(tmp_path: Path) -> None:
    for number in (signal.SIGKILL, signal.SIGTERM):
        there = tmp_path / number.name
        process = Forked(wait, [str(there)], tmp_path, {})
        while not there.exists():
            time.sleep(0.005)
        assert process.poll() is None
        process.send_signal(number)
        assert process.communicate() == (None, "")
        assert process.returncode == -number


def test_an_interrupt_is_one_in_python(tmp_path: Path) -> None:
    process = Forked(wait, [str(tmp_path / "there")], tmp_path, {})
    while not (tmp_path / "there").exists():
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert said.endswith("KeyboardInterrupt\n")
    assert process.returncode == 1
