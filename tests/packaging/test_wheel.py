"""The built wheel is complete; test_demo_sets.py beside this runs the demo from it."""

from __future__ import annotations

import zipfile
from pathlib import Path

from tests.packaging.conftest import ROOT

PACKAGES = ("hipo", "scenarios", "prompts", "pipeline", "quality", "outputs")


def test_every_yaml_file_and_template_of_the_packages_ships(wheel: Path) -> None:
    expected = {
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for pattern in ("*.yaml", "*.j2", "*.sql", "*.py")
        for path in (ROOT / package).rglob(pattern)
    }
    shipped = set(zipfile.ZipFile(wheel).namelist())
    assert len(expected) > 50
    assert expected - shipped == set()
    assert {f"{package}/py.typed" for package in PACKAGES} <= shipped
