"""Checks of lines that are written for a scenario with a flow."""

from __future__ import annotations

import pytest

from scenarios.catalogue import Catalogue
from scenarios.lines.flow_checks import flow_problems
from scenarios.lines.model import FlowLines
from scenarios.pack import FAMILIES
from scenarios.schemes.registry import load_scheme
from scenarios.yaml_source import read_yaml_text, validate_model

LINE = {"text": "Is the shop open?"}


def problems(**phases):
    scenario = Catalogue.load([FAMILIES], environment={}).entries["two_counters"].scenario
    located = read_yaml_text(f"scenario: two_counters\nflow: {phases}".replace("'", '"'), "lines")
    lines = validate_model(FlowLines, located)
    found = flow_problems(scenario, load_scheme(scenario.scheme), lines, located)
    return [f"{p.field}: {p.found}; {p.expected} [{p.code}]" for p in found]


def test_a_moment_for_each_round_of_everybody_is_enough():
    assert (
        problems(well={"baker": [LINE, LINE], "grocer": [LINE, LINE]}, form={"baker": [LINE]}) == []
    )


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"well": {"baker": [LINE], "grocer": [LINE, LINE]}}, "1 moments of 'baker' in 'well'"),
        ({"talk": {"baker": [LINE]}}, "'talk'; a phase without fixed words: well, form"),
        ({"form": {"grocer": [LINE], "baker": [LINE]}}, "'grocer'; who speaks in it: baker"),
        ({"form": {"baker": [{**LINE, "goal": "gain"}]}}, "the goal 'gain'; one of none"),
        ({"form": {"baker": [{**LINE, "labels": {"mood": "x"}}]}}, "a label of 'mood'"),
    ],
)
def test_what_does_not_fit_the_flow_is_told(changed, problem):
    good = {"well": {"baker": [LINE, LINE], "grocer": [LINE, LINE]}, "form": {"baker": [LINE]}}
    found = problems(**{**good, **changed})
    assert len(found) == 1
    assert problem in found[0]
