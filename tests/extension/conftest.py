"""A process that has loaded no plugin, and a third party's package that can be installed in it."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from scenarios.plugins import PLUGINS
from tests.hipo.cli.conftest import Hipo, hipo

__all__ = ["Hipo", "hipo"]

PACKAGE = Path(__file__).parent / "package"


@pytest.fixture(autouse=True)
def no_plugins(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Forget every plugin; again when what is returned is called, as in a new process."""

    def forget() -> None:
        monkeypatch.setattr(PLUGINS, "files", {})
        monkeypatch.setattr(PLUGINS, "packages", None)
        monkeypatch.setattr(PLUGINS, "stored", [])

    forget()
    return forget


@pytest.fixture
def installed(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put the package on the path, with what pip leaves beside an installed package."""
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    site = tmp_path_factory.mktemp("site")
    (site / "hipo_extras").symlink_to(PACKAGE / "hipo_extras")
    info = site / f"hipo_extras-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    points = "".join(f"{k} = {v}\n" for k, v in project["entry-points"]["hipo.plugins"].items())
    (info / "entry_points.txt").write_text(f"[hipo.plugins]\n{points}")
    monkeypatch.syspath_prepend(site)
    for module in [name for name in sys.modules if name.startswith("hipo_extras")]:
        monkeypatch.delitem(sys.modules, module)
    return site
