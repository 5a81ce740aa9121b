"""Parts of LLaMA-Factory that read what is exported for it."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import types
from pathlib import Path

import pytest


@pytest.fixture
def llama_factory(monkeypatch):
    """Return the modules ``parser`` and ``converter`` of LLaMA-Factory's data package.

    The package imports audio libraries that converting text does not need, so it is passed by.
    """
    found = importlib.util.find_spec("llamafactory")
    if found is None:
        pytest.skip("LLaMA-Factory is not installed (make test installs it)")
    package = types.ModuleType("llamafactory.data")
    package.__path__ = [str(Path(found.origin).parent / "data")]
    monkeypatch.setitem(sys.modules, "llamafactory.data", package)
    return [
        importlib.import_module(f"llamafactory.data.{name}") for name in ("parser", "converter")
    ]
