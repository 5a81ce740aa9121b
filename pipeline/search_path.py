"""Where Python looks for modules, as a new interpreter is told."""

from __future__ import annotations

import os
import sys


def module_path() -> str:
    """Return where a new interpreter has to look to find the modules that this process finds."""
    return os.pathsep.join(entry or os.getcwd() for entry in sys.path)  # noqa: PTH109 - as text
