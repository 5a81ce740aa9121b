"""Start the command line: ``hipo`` and ``python -m hipo``."""

from __future__ import annotations

import sys

from hipo.cli.main import run


def main() -> None:
    """Run the command line with the process's arguments and leave with its exit code."""
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
