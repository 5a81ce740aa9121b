"""Chromium, and servers of the author's form."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmarks.machine import free_port
from quality.web.server import Address
from scenarios.scaffold import new_scenario
from scenarios.schemes.registry import load_scheme
from scenarios.schemes.scaffold import new_scheme
from tests.quality.authoring.serving import served

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    # make quick does without playwright
    from tests.quality.review.chromium import chromium  # noqa: PLC0415 - as said

    with chromium() as found:
        yield found


@pytest.fixture
def address(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """Serve the form of an empty folder; yields its address and the token of a link."""
    with served(Address(port=free_port()), tmp_path / "pack") as found:
        yield found


@pytest.fixture
def three_people(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """Serve a folder with a scheme and a scenario with a flow and three roles, stairs.yaml."""
    folder = tmp_path / "pack"
    folder.mkdir()
    scheme = folder / "advice.yaml"
    scheme.write_text(new_scheme("advice", flow=True), encoding="utf-8")
    text = new_scenario("stairs", load_scheme(str(scheme)))
    third = "  caretaker:\n    name: caretaker\n    description: Sweeps.\n    aim: go home\n"
    (folder / "stairs.yaml").write_text(
        text.replace("# Phases in order", f"{third}# Phases in order", 1), encoding="utf-8"
    )
    with served(Address(port=free_port()), folder) as found:
        yield found
