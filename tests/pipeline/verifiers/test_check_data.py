"""Data of scenarios, checked by the verifiers that are there: those of plugins, too."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from scenarios.pack import FAMILIES
from scenarios.plugins import PLUGINS
from tests.hipo.cli.conftest import Hipo, hipo

__all__ = ["hipo"]

PLUGIN = """
from pipeline.verifiers.registry import VerifierExtension
from scenarios.errors import UsageError

class Prices:
    def __init__(self, prices):
        self.prices = prices

    def question(self, templates, text):
        raise NotImplementedError

    def verify(self, claims):
        raise NotImplementedError


def build(scenario, role):
    prices = scenario.data["prices"]
    if not isinstance(prices, dict):
        raise UsageError(f"{prices!r} is no price list", "write prices: {bread: 3}")
    return Prices({item: float(price) for item, price in prices.items()})

EXTENSIONS = [VerifierExtension("prices", build)]
"""


@pytest.fixture
def scene(hipo: Hipo, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(PLUGINS, "files", {})
    monkeypatch.setattr(PLUGINS, "packages", ())
    Path("prices.py").write_text(PLUGIN)
    path = Path("one_shop.yaml")
    text = (FAMILIES / "dilemma" / "one_lane.yaml").read_text()
    path.write_text(text.replace("id: one_lane", "id: one_shop"))
    return path


def with_data(path: Path, data: object) -> None:
    path.write_text(yaml.safe_dump({**yaml.safe_load(path.read_text()), "data": data}))


def validated(hipo: Hipo, path: Path, *options: str) -> tuple[int, str]:
    result = hipo("scenarios", "validate", str(path), "--no-embeddings", *options)
    problems = [line for line in result.out.splitlines() if ": data." in line]
    return result.code, "\n".join(problems)


def test_data_that_a_verifier_of_a_plugin_cannot_use_is_an_error_with_its_line(hipo, scene):
    with_data(scene, {"prices": [1]})
    assert validated(hipo, scene) == (0, "")  # nobody knows what it is for
    code, told = validated(hipo, scene, "--plugin", "prices.py")
    assert code == 1
    assert "data.prices: found [1] is no price list" in told
    assert told.endswith("write prices: {bread: 3}")
    with_data(scene, {"prices": {"bread": "dear"}})
    assert "prices.py:20: ValueError" in validated(hipo, scene, "--plugin", "prices.py")[1]
    with_data(scene, {"prices": {"bread": 3}, "note": "of a shop"})
    assert validated(hipo, scene, "--plugin", "prices.py") == (0, "")


def test_so_are_payoffs_that_are_none(hipo, scene):
    assert validated(hipo, scene) == (0, "")
    with_data(scene, {"payoffs": {"matrix": {"R": {"R": [1, 1]}}}})
    code, told = validated(hipo, scene)
    assert (code, told.count("\n")) == (1, 0)
    assert "data.payoffs: found" in told
