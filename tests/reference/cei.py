"""Where the data lies that the authors of the papers released."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def reference_folder(name: str) -> Path:
    """Return a folder of released data, or skip the test that asks for it."""
    root = os.environ.get("HIPO_REFERENCE_DATA") or str(
        Path(__file__).parents[2].parent / "shared" / "reference"
    )
    folder = Path(root) / name
    if not folder.is_dir():
        pytest.skip(f"released data not found at {folder}; set HIPO_REFERENCE_DATA to its parent")
    return folder
