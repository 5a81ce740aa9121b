"""Labels that hardly go together: wanted tactics join them only where a file asks for it."""

from __future__ import annotations

from collections import Counter

import pytest

from pipeline.planning.plan import Plan
from pipeline.tactics.design import TargetDistribution, drawable
from pipeline.tactics.tactics import TacticDesign
from scenarios.pack import FAMILIES, read_scenario, scenario_files
from scenarios.schemes.model import Scheme
from scenarios.schemes.registry import load_scheme
from tests.pipeline.test_tactics import SHIPPED, drawn, scenario_list


def rare(wanted, scheme=SHIPPED) -> bool:
    """Return whether labels are wanted together that hardly go together."""
    return any(
        all(wanted.get(name) in labels for name, labels in rule.labels.items())
        for rule in scheme.rarely_together
    )


def test_no_witness_is_asked_for_answers_that_nobody_could_give():
    scheme = load_scheme("cobra")
    trials = scenario_files(FAMILIES / "cross_examination")
    plan = Plan(scheme, [read_scenario(path, FAMILIES)[0] for path in trials], repetitions=5)
    design = TacticDesign.balanced(scheme, plan.contexts())
    by_id = {scenario.id: scenario for scenario in plan.scenarios}
    turns = [
        dict(design.wanted(case, by_id[case.scenario], turn, "witness"))
        for case in plan
        for turn in range(case.turns)
    ]
    assert len(turns) > 200
    assert scheme.rarely_together
    assert sum(rare(wanted, scheme) for wanted in turns) < len(turns) / 20
    assert {wanted["manner"] for wanted in turns} == {"1", "2", "3", "4"}


def test_labels_that_hardly_go_together_are_not_asked_for_together():
    plan = Plan(SHIPPED, scenario_list(), repetitions=10)
    design = TacticDesign.balanced(SHIPPED, plan.contexts())
    turns = [wanted for _, _, turns in drawn(design, plan) for wanted in turns]
    assert SHIPPED.rarely_together
    assert sum(map(rare, turns)) < len(turns) / 500
    assert {wanted["intention"] for wanted in turns} == {"Inform", "Convince", "Motivate", "Affect"}


def test_what_hardly_goes_with_a_label_of_the_goal_tells_the_goal_by_no_other_label():
    plan = Plan(SHIPPED, scenario_list(), repetitions=3)
    design = TacticDesign.balanced(SHIPPED, plan.contexts())
    others: dict[str, list[list[tuple[str, str]]]] = {}
    for case, _, turns in drawn(design, plan):
        told = [(wanted["intention"], wanted["illocutionary"]) for wanted in turns]
        others.setdefault(case.pair, []).append(told)
    assert all(one == other for one, other in others.values())


def margin(name, labels):
    return TargetDistribution((name,), {(label,): 1.0 for label in labels})


@pytest.mark.parametrize("veracity", ["Quality", "Quantity"])
def test_contexts_that_a_file_leaves_nothing_to_tell_no_goal_and_join_nothing_odd(veracity):
    """One goal forbids Quality, and some turns of the other require it: these begin afresh."""
    plan = Plan(SHIPPED, scenario_list(), repetitions=3)
    targets = [margin(d.id, d.values) for d in drawable(SHIPPED) if d.id != "veracity"]
    design = TacticDesign(SHIPPED, plan.contexts(), [*targets, margin("veracity", [veracity])])
    others: dict[str, list[list[tuple[str, str]]]] = {}
    forced = afresh = 0
    for case, _, turns in drawn(design, plan):
        told = [(wanted["intention"], wanted["illocutionary"]) for wanted in turns]
        others.setdefault(case.pair, []).append(told)
        for wanted in turns:
            afresh += wanted["veracity"] != veracity
            forced += wanted["veracity"] != veracity and rare(wanted)
    assert all(one == other for one, other in others.values())
    assert afresh > 200
    assert forced <= 4


def test_a_rule_on_what_is_not_drawn_ties_nothing_to_the_goal():
    plan = Plan(SHIPPED, scenario_list(), repetitions=3)
    names = ("veracity", "illocutionary")
    targets = [margin(name, SHIPPED.dimension(name).values) for name in names]
    design = TacticDesign(SHIPPED, plan.contexts(), targets)
    others: dict[str, list[list[str]]] = {}
    for case, _, turns in drawn(design, plan):
        others.setdefault(case.pair, []).append([wanted["illocutionary"] for wanted in turns])
    assert all(one == other for one, other in others.values())


def test_what_a_quota_asks_for_and_a_file_never_has_is_not_joined_with_what_hardly_goes_with_it():
    plan = Plan(SHIPPED, scenario_list(), repetitions=3)
    targets = [margin("intention", ["Inform", "Affect"]), margin("veracity", ["None"])]
    design = TacticDesign(SHIPPED, plan.contexts(), targets)
    by_id = {scenario.id: scenario for scenario in plan.scenarios}
    asked = {"veracity": "Quantity"}
    told = [dict(design.aimed(c, by_id[c.scenario], 0, "", asked)) for c in plan if c.turns > 1]
    assert sum(len(wanted) == 2 for wanted in told) > 100
    assert sum(map(rare, told)) <= 2


def test_dimensions_with_the_same_labels_are_drawn_apart():
    steps = [{"id": x, "definition": x} for x in ("low", "mid", "high")]
    scale = {"level": "utterance", "measurement": "ordinal", "question": "?", "labels": steps}
    scheme = Scheme.model_validate(
        {"id": "x", "title": "x", "dimensions": [{"id": "warmth"} | scale, {"id": "pace"} | scale]}
    )
    plan = Plan(scheme, scenario_list()[:1], repetitions=5, openings="shared")
    design = TacticDesign.balanced(scheme, plan.contexts())
    wanted = [turn for _, _, turns in drawn(design, plan) for turn in turns]
    both = Counter((one["warmth"], one["pace"]) for one in wanted)
    assert len(both) == 9
    assert min(both.values()) > len(wanted) / 18


def test_a_file_may_ask_for_what_hardly_goes_together():
    contexts = Plan(SHIPPED, scenario_list()).contexts()
    free = {context: 1.0 for context in contexts if not context.must and not context.felicitous}
    pair = {("Affect", "Quantity"): 1.0, ("Inform", "None"): 1.0}
    joint = TacticDesign(SHIPPED, free, [TargetDistribution(("intention", "veracity"), pair)])
    assert joint.unmet == ()
    both = [
        TargetDistribution(("intention",), {("Affect",): 1.0}),
        TargetDistribution(("illocutionary",), {("Declarations",): 1.0}),
    ]
    assert TacticDesign(SHIPPED, free, both).unmet == ()
