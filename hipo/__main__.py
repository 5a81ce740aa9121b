"""Start the command line: ``hipo`` and ``python -m hipo``."""

from __future__ import annotations

import gc
import signal
import sys
from importlib import import_module
from types import FrameType

from hipo.cli.terminal.streams import make_forgiving
from hipo.name_clash import check_names

ENDING = (signal.SIGTERM, signal.SIGHUP)
"""Signals that stand for Ctrl-C, unless whoever started the process has them ignored."""

INTERRUPTED = 3
"""Exit code of a command that a signal has stopped."""


def main() -> None:
    """Run the command line with the process's arguments and leave with its exit code."""
    try:
        for number in ENDING:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, _interrupt)
        make_forgiving()
        try:
            check_names()
        except ImportError as error:  # before anything is imported that may be hidden
            sys.exit(_ended(f"error: {error}", 2))
        code = import_module("hipo.cli.main").run(sys.argv[1:])
        if code == INTERRUPTED:
            _heed_no_more()
    except KeyboardInterrupt:  # while the command line itself was imported, or when it was leaving
        _heed_no_more()
        code = _ended("stopped: interrupted", INTERRUPTED)
    gc.freeze()  # else Python looks for garbage in all there is once more before it ends
    exec("")  # noqa: S102 - Python ends by SIGINT where that came in a text it executed, until the next
    sys.exit(code)


def _heed_no_more() -> None:
    """Leave as one who was interrupted, though another signal may come while Python ends."""
    for number in (signal.SIGINT, *ENDING):
        signal.signal(number, signal.SIG_IGN)


def _interrupt(_: int, frame: FrameType | None) -> None:
    """Do what Ctrl-C would do at this moment."""
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler):  # it is ignored, in a job in the background for one
        raise KeyboardInterrupt
    handler(signal.SIGINT, frame)


def _ended(message: str, code: int) -> int:
    sys.stderr.write(f"{message}\n")
    return code


if __name__ == "__main__":
    main()
