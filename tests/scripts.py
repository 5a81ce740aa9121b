"""Scripts that run in this process: what they import is imported once for all of them."""

from __future__ import annotations

import io
import runpy
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from scenarios.plugins import PLUGINS


def run_script(script: Path, folder: Path, *arguments: str) -> str:
    """Run a script in a folder as ``python SCRIPT ARGUMENTS`` does, and return what it prints.

    The plugins that it loads are forgotten when it has ended.
    """
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()) as out:
        patch.chdir(folder)
        patch.setenv("HF_HUB_OFFLINE", "1")
        patch.setattr(sys, "argv", [str(script), *arguments])
        patch.syspath_prepend(script.parent)
        patch.setattr(PLUGINS, "files", {})
        patch.setattr(PLUGINS, "stored", [])
        try:
            runpy.run_path(str(script), run_name="__main__")
        except SystemExit as left:
            if left.code:
                raise
    return out.getvalue()
