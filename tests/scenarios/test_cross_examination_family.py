"""The family ``cross_examination``: four trials and one examination by the witness's own side."""

from __future__ import annotations

import pytest

from scenarios.inspection import inspect_files
from scenarios.pack import FAMILIES, read_scenario, scenario_files
from scenarios.spec import Scenario

FOLDER = FAMILIES / "cross_examination"
CONTROL = "hail_direct"


def family() -> dict[str, Scenario]:
    scenarios = [read_scenario(path, FAMILIES)[0] for path in scenario_files(FOLDER)]
    return {scenario.id: scenario for scenario in scenarios}


def test_the_family_has_no_problem_and_no_warning() -> None:
    assert inspect_files([FOLDER]).problems == ()


@pytest.mark.parametrize("name", sorted(family()))
def test_a_witness_is_sworn_and_then_asked_ten_to_fourteen_times(name: str) -> None:
    scenario = family()[name]
    oath, sworn, *others = scenario.flow
    assert (oath.who, len(oath.text)) == (("questioner",), 1)
    assert sworn.who == ("witness",)
    assert all(phase.who == ("questioner", "witness") for phase in others)
    least, most = (1 + sum(phase.rounds[end] for phase in others) for end in (0, 1))
    assert 10 <= least <= most <= 14
    assert scenario.labelled_roles == ("witness",)


def test_there_are_four_trials_and_a_control_in_which_nobody_hides_anything() -> None:
    trials = {name: scenario for name, scenario in family().items() if name != CONTROL}
    assert len(trials) >= 4
    for scenario in trials.values():
        assert len(scenario.private("witness")) >= 2, scenario.id
        assert scenario.private("questioner"), scenario.id
    assert family()[CONTROL].facts == ()
    assert all(scenario.sources == "fictional" for scenario in family().values())
