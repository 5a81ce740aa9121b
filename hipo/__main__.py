"""Start the command line: ``hipo`` and ``python -m hipo``."""

from __future__ import annotations

import sys
from importlib import import_module

from hipo.name_clash import check_names


def main() -> None:
    """Run the command line with the process's arguments and leave with its exit code."""
    try:
        check_names()
    except ImportError as error:  # before anything is imported that may be hidden
        sys.exit(_refused(str(error)))
    sys.exit(import_module("hipo.cli.main").run(sys.argv[1:]))


def _refused(message: str) -> int:
    sys.stderr.write(f"error: {message}\n")
    return 2


if __name__ == "__main__":
    main()
