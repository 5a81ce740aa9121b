"""The packages of the extra ``stats``, imported where a statistic first needs one."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from scenarios.errors import UsageError


def statistics_package(module: str) -> Any:
    """Import an optional module, e.g. ``scipy.stats``.

    Raises:
        UsageError: its package is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise UsageError(
            f"these statistics need the package {module.partition('.')[0]!r}",
            "pip install 'hipo[stats]'",
        ) from error
