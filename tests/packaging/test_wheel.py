"""The built wheel is complete: installed elsewhere, it runs the demo from another folder."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from hipo.app.run import Run

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("hipo", "scenarios", "prompts", "pipeline", "quality", "outputs")


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (built,) = folder.glob("hipo-*.whl")
    return built


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


def test_the_demo_runs_from_the_installed_wheel_in_another_folder(
    wheel: Path, tmp_path: Path
) -> None:
    site = tmp_path / "site"
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--no-compile",
         "--target", str(site), str(wheel)],
        check=True,
    )  # fmt: skip
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(site)}
    where = subprocess.run(
        [sys.executable, "-c", "import pipeline, scenarios; print(pipeline.__file__)"],
        cwd=elsewhere, env=environment, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert where.startswith(str(site))
    done = subprocess.run(
        [sys.executable, "-m", "hipo", "demo", "-o", "demo"],
        cwd=elsewhere, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    state = Run(elsewhere / "demo").state()
    assert state.generated >= 60
    assert state.failed == {}
