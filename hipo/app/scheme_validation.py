"""Check scheme files with what no room alone knows: the functions of derived dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from quality.derived import check_derived
from scenarios.inspection import Inspection
from scenarios.scheme_inspection import inspect_schemes


def validated_schemes(roots: Sequence[Path] = ()) -> Inspection:
    """Check scheme files as :func:`scenarios.scheme_inspection.inspect_schemes` does, and functions.

    Raises:
        UsageError: a root does not exist, there is no file under any, or a plugin is broken.
    """
    return inspect_schemes(roots, [check_derived])
