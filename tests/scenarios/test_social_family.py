"""The family ``social``: 25 scenes for one remark, over subtypes, settings and standings."""

from __future__ import annotations

from itertools import product

import pytest

from scenarios.inspection import inspect_files
from scenarios.pack import LIBRARY, LIBRARY_PLUS, read_scenario, scenario_files
from scenarios.schemes.registry import load_scheme

CEI = load_scheme("cei")
FAMILIES = LIBRARY.parent / "families"


def of_scheme(root):
    read = [read_scenario(path, root)[0] for path in scenario_files(root)]
    return [scenario for scenario in read if scenario.scheme == "cei"]


SCENARIOS = of_scheme(FAMILIES)


def test_the_family_has_no_problem_and_no_warning():
    for setting in CEI.categories:
        assert inspect_files([FAMILIES / setting]).problems == ()


def test_every_subtype_stands_in_every_setting_and_in_every_standing():
    places = {(s.goals, s.category) for s in SCENARIOS}
    assert places == {((g,), c) for g, c in product(CEI.goals, CEI.categories)}
    standings = {(s.goals, s.tags) for s in SCENARIOS}
    assert standings == {((g,), (t,)) for g, t in product(CEI.goals, CEI.tags)}
    assert {(s.category, s.tags) for s in SCENARIOS} == {
        (c, (t,)) for c, t in product(CEI.categories, CEI.tags)
    }
    assert len(SCENARIOS) == 25


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.id)
def test_one_speaks_and_is_labelled_and_the_other_listens(scenario):
    assert scenario.labelled_roles == ("speaker",)
    assert not scenario.roles["listener"].speaks
    assert [phase.who for phase in scenario.flow] == [("speaker",)]
    assert scenario.facts == ()
    assert scenario.sources == "fictional"


def test_worked_examples_come_from_scenes_of_their_own():
    examples = of_scheme(LIBRARY_PLUS)
    assert len(examples) >= 3
    assert len({s.goals for s in examples}) == len(examples)
    assert not {s.background for s in examples} & {s.background for s in SCENARIOS}
