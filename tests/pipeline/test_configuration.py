"""What makes two configurations of a run the same, and how a difference is told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.run_identity import describe, differences, joined
from scenarios.arms import Arm, ModelSpec, Parameters
from scenarios.catalogue import Catalogue
from scenarios.errors import UsageError
from scenarios.run_configuration import RunConfiguration, RunIdentity
from scenarios.schemes.registry import load_scheme
from scenarios.spec import Scenario

SCENARIOS = Catalogue.load().scenarios


def arm(strategy: str = "direct", temperature: float = 0.2, **settings: Any) -> Arm:
    spec = ModelSpec("openai", "gpt", parameters=Parameters(temperature=temperature))
    return Arm(strategy, dict.fromkeys(("initiator", "responder"), spec), settings)


def config(
    *, arms: tuple[Arm, ...] = (arm(),), scenarios: tuple[str, ...] = ("used_car",), **changes: Any
) -> RunIdentity:
    fields: dict[str, Any] = {
        "scheme": load_scheme("hipo"),
        "templates": "a" * 64,
        "arms": arms,
        "scenarios": [SCENARIOS[name] for name in scenarios],
        "tactics": "free",
        "openings": "shared",
        "variation": {"style": "x"},
        "seed": 1,
        "real_names": False,
        "plugins": {},
    }
    return describe(**(fields | changes))


def test_a_configuration_does_not_differ_from_itself() -> None:
    assert differences(config(), config()) == []


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"seed": 2}, ["seed: 1 → 2"]),
        ({"tactics": "balanced"}, ["tactics: free → balanced"]),
        ({"openings": "by-goal"}, ["openings: shared → by-goal"]),
        ({"real_names": True}, ["real_names: False → True"]),
        ({"templates": "b" * 64}, ["prompt templates: aaaaaaaaaaaa → bbbbbbbbbbbb"]),
        ({"variation": {"style": "y"}}, ["variation axis style: its values have changed"]),
        ({"scheme": load_scheme("hipo").model_copy(update={"version": 9})},
         ["scheme hipo: its content has changed"]),
        ({"scheme": load_scheme("hipo").model_copy(update={"version": 9}), "templates": "b" * 64},
         ["scheme hipo: its content has changed"]),
        ({"arms": (arm(temperature=0.7),)},
         ["initiator temperature (direct): 0.2 → 0.7", "responder temperature (direct): 0.2 → 0.7"]),
        ({"arms": (arm("consistency"),)}, ["strategy: direct → consistency"]),
    ],
)  # fmt: skip
def test_every_change_is_told_in_one_line(changes: dict[str, Any], told: list[str]) -> None:
    assert differences(config(), config(**changes)) == told


def test_another_setting_of_a_strategy_is_told_by_its_name() -> None:
    voting = config(arms=(arm("consistency", k=4),))
    assert differences(voting, config(arms=(arm("consistency", k=5),))) == [
        "k (consistency): 4 → 5"
    ]


@given(
    before=st.sets(st.sampled_from(sorted(SCENARIOS)), min_size=1),
    now=st.sets(st.sampled_from(sorted(SCENARIOS)), min_size=1),
)
def test_which_scenarios_are_selected_is_no_difference(before: set[str], now: set[str]) -> None:
    first, second = config(scenarios=tuple(before)), config(scenarios=tuple(now))
    assert differences(first, second) == []
    assert set(joined([first, second]).scenarios) == before | now


def test_a_changed_scenario_is_named_where_both_have_it() -> None:
    changed: Scenario = SCENARIOS["used_car"].model_copy(update={"title": "Another"})
    now = replace(config(), scenarios={"used_car": changed.fingerprint, "wedding_ring": "new"})
    assert differences(config(), now) == ["scenario used_car: its content has changed"]


def test_an_arm_that_an_earlier_epoch_had_is_no_difference() -> None:
    history = joined([config(), config(arms=(arm("reflective"),))])
    assert differences(history, config()) == []
    assert differences(history, config(arms=(arm(), arm("reflective")))) == []


def test_a_configuration_is_read_back_as_it_was_stored() -> None:
    stored = RunConfiguration({"scenario_dirs": ["mine"]}, config(), cases=3)
    read = RunConfiguration.from_fields(stored.fields())
    assert read == stored
    assert read.fingerprint == config().fingerprint


def test_a_plugin_that_changed_is_named_and_one_that_is_not_used_changes_nothing() -> None:
    def used(fingerprint: str) -> RunIdentity:
        plugin = {"origin": "mine.py", "fingerprint": fingerprint}
        return config(plugins={"provider mine": plugin})

    assert "plugins" not in config().fields()
    assert RunIdentity.from_fields(used("a").fields()) == used("a")
    assert used("a").fingerprint != used("b").fingerprint
    assert differences(used("a"), used("b")) == ["provider mine: its plugin has changed (mine.py)"]


def test_of_a_package_that_changed_both_versions_are_named() -> None:
    one, two = (
        config(plugins={"gate mine": {"origin": f"mine {v}", "fingerprint": v}}) for v in ("1", "2")
    )
    assert differences(one, two) == ["gate mine: its plugin has changed (mine 1 → mine 2)"]


def test_a_configuration_with_a_field_missing_is_refused_by_name() -> None:
    fields = RunConfiguration(identity=config()).fields()
    del fields["configuration"]["templates"]
    with pytest.raises(UsageError, match="templates"):
        RunConfiguration.from_fields(fields)
