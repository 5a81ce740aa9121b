"""Packages that pages in a browser need, and hipo alone does not have."""

from __future__ import annotations

from importlib.util import find_spec

from scenarios.errors import UsageError


def check_page_packages(page: str) -> None:
    """Do nothing where the packages that serve pages are installed.

    Raises:
        UsageError: one is missing; says that ``page`` needs it.
    """
    missing = [name for name in ("fastapi", "uvicorn") if find_spec(name) is None]
    if missing:
        raise UsageError(f"{page} needs {' and '.join(missing)}", 'pip install "hipo[review]"')
