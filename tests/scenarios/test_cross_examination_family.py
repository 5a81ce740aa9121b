"""The family ``cross_examination``: four trials and one examination by the witness's own side."""

from __future__ import annotations

import pytest

from quality.strategic.moves import MAXIMS, read_move
from scenarios.inspection import inspect_files
from scenarios.lines.library import flow_lines
from scenarios.pack import FAMILIES, read_scenario, scenario_files
from scenarios.schemes.registry import load_scheme
from scenarios.spec import Scenario
from scenarios.wording import numbers

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
    control = family()[CONTROL]
    assert {tuple(fact.knowers) for fact in control.facts} == {("witness", "questioner")}
    assert not control.roles["opponent"].speaks
    assert all(scenario.sources == "fictional" for scenario in family().values())


def test_the_friendly_witness_knows_every_number_and_paper_that_she_speaks_of() -> None:
    control, lines = family()[CONTROL], flow_lines(CONTROL)
    assert lines is not None
    facts = " ".join(fact.text for fact in control.private("witness"))
    told = f"{control.background} {control.roles['witness'].description} {facts}"
    said = [
        line.text for phase in lines.flow.values() for moment in phase["witness"] for line in moment
    ]
    assert numbers(" ".join(said))
    assert [text for text in said if not numbers(text) <= numbers(told)] == []
    assert "maker's paper" in facts, "she is to bring one"


def answers(name: str) -> list[dict[str, object]]:
    """Return the labels of every authored answer of a scenario, alternatives included."""
    lines = flow_lines(name)
    assert lines is not None
    return [
        dict(line.labels)
        for phase in lines.flow.values()
        for moment in phase["witness"]
        for line in moment
    ]


def test_an_admission_is_honest_before_it_is_held_against_what_was_said_before() -> None:
    quality = load_scheme("cobra").dimension("quality")
    first, second, *_ = quality.steps
    assert "admission" in load_scheme("cobra").terms
    assert (first.label, "admission" in first.when, "takes back" in first.when) == ("1", True, True)
    assert (second.label, "cannot stand beside" in second.when) == ("4", True)
    assert {line.label for line in quality.contrast} == {"1", "4"}
    for name in ("warehouse_fire", "nine_days", "round_book"):
        taken_back = [move for move in map(read_move, answers(name)) if move.inconsistent]
        assert {move.rating("quality") for move in taken_back} <= {1, 4}, name


def test_what_is_routine_counts_for_the_witness_before_anything_else_is_asked() -> None:
    outcome = load_scheme("cobra").dimension("outcome")
    assert (outcome.steps[0].label, "routine" in outcome.steps[0].when) == ("witness", True)
    routine = [labels for name in family() for labels in answers(name)]
    routine = [labels for labels in routine if labels["commitment"] == "neutral"]
    assert routine
    assert {labels["outcome"] for labels in routine} == {"witness"}


@pytest.mark.parametrize("name", sorted(family()))
def test_every_authored_answer_carries_every_label(name: str) -> None:
    asked = {dimension.id for dimension in load_scheme("cobra").utterance_dimensions}
    assert asked
    for labels in answers(name):
        assert labels.keys() == asked


def test_trials_have_evasions_admissions_and_contradictions_and_the_control_has_none() -> None:
    for name in family():
        moves = [read_move(labels) for labels in answers(name)]
        kinds = {move.commitment for move in moves}
        contradicts = any(move.inconsistent for move in moves)
        violated = any(move.rating(maxim) >= 3 for move in moves for maxim in MAXIMS)
        if name == CONTROL:
            assert (kinds, contradicts, violated) == ({"beneficial", "neutral"}, False, False)
        else:
            assert kinds == {"beneficial", "detrimental", "neutral", "none"}, name
            assert violated, name
            assert contradicts or name == "wet_road"
