"""Start the command line: ``hipo`` and ``python -m hipo``."""

from __future__ import annotations

import signal
import sys
from importlib import import_module

from hipo.cli.streams import make_forgiving
from hipo.name_clash import check_names


def main() -> None:
    """Run the command line with the process's arguments and leave with its exit code."""
    try:
        make_forgiving()
        try:
            check_names()
        except ImportError as error:  # before anything is imported that may be hidden
            sys.exit(_ended(f"error: {error}", 2))
        code = import_module("hipo.cli.main").run(sys.argv[1:])
    except KeyboardInterrupt:  # while the command line itself was imported, or when it was leaving
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        code = _ended("stopped: interrupted", 3)
    sys.exit(code)


def _ended(message: str, code: int) -> int:
    sys.stderr.write(f"{message}\n")
    return code


if __name__ == "__main__":
    main()
