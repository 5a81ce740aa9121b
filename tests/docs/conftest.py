"""A small verified run that the examples of the documentation are tried on."""

from __future__ import annotations

from pathlib import Path

import pytest

from hipo import generate, load_recipe, verify


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run of eight dialogues by rules, two strategies, judged."""
    folder = tmp_path_factory.mktemp("docs") / "runs" / "trial"
    changes = {
        "n": 4, "seed": 1, "strategies": ["direct", "reflective"], "tactics": "balanced",
        "models": {"default": "offline/rules"}, "scenarios": ["used_car", "quit_smoking"],
    }  # fmt: skip
    verify(
        generate(load_recipe("hipo-paper").with_changes(changes), output=folder),
        judges=["offline/judge"],
    )
    return folder
