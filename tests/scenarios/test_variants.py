"""A scenario that tells another one anew says so, and is then no copy by mistake."""

from __future__ import annotations

import pytest

from scenarios.checks.alike_scenarios import PlacedScenario, check_alike
from scenarios.located import Located
from tests.factories import make_scenario


def placed(name: str, variant_of: str | None = None) -> PlacedScenario:
    scenario = make_scenario().model_copy(update={"id": name, "variant_of": variant_of})
    return PlacedScenario(scenario, Located({}, f"{name}.yaml"))


def codes(*scenarios: PlacedScenario) -> list[tuple[int, str]]:
    return [(index, problem.code) for index, problem in check_alike(scenarios, None)]


def test_a_copy_is_warned_of_unless_one_of_both_is_a_declared_variant():
    assert codes(placed("one"), placed("other")) == [(1, "near-duplicate-scenario")]
    assert codes(placed("one"), placed("other", "one")) == []
    assert codes(placed("one", "other"), placed("other")) == []


@pytest.mark.parametrize("original", ["nowhere", "other"])
def test_a_variant_of_nothing_there_or_of_itself_is_warned_of(original):
    found = codes(placed("other", original))
    assert found == [(0, "unknown-variant")]


def test_a_scenario_that_is_no_variant_keeps_its_fingerprint():
    scenario = make_scenario()
    again = type(scenario).model_validate(scenario.model_dump())
    assert "variant_of" in scenario.model_dump()
    assert again.fingerprint == scenario.fingerprint
    assert scenario.model_copy(update={"variant_of": "x"}).fingerprint != scenario.fingerprint
