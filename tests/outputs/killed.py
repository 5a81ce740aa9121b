"""``hipo`` killed by its own hand at a step of the folder it is making."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence

from hipo.cli.main import run

STEPS = {"open", "os.rename", "os.remove", "os.rmdir", "os.mkdir"}


def killed_at(arguments: Sequence[str]) -> None:
    """Run ``hipo``, which dies at its n-th step on the folder ``out``, or prints how many there are.

    Args:
        arguments: n, and those of ``hipo``.
    """
    last, *rest = arguments
    steps = 0

    def step(event: str, details: tuple[object, ...]) -> None:
        nonlocal steps
        if event in STEPS and "/.out." in str(details):
            steps += 1
            if steps == int(last):
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(step)
    code = run(rest)
    print(steps)
    sys.exit(code)
