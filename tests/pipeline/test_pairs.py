"""The two goals of a case differ in the goal, and in what a goal decides, and in nothing else."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.planning.plan import Plan
from pipeline.tactics.contexts import context_at
from pipeline.tactics.design import TargetDistribution, allowed_combinations, drawable
from pipeline.tactics.tactics import TacticDesign
from prompts.role_views import initiator_view
from scenarios.case import Case
from scenarios.openings import opening_lines
from scenarios.schemes.model import Scheme
from scenarios.terms import Openings
from scenarios.variation import load_axes, manner_lines
from tests.factories import DECEPTION, TRUTHFUL, library, make_new_scenario, make_scheme

HIPO = make_scheme()
AXES = load_axes()
NEW = [make_new_scenario("watering"), make_new_scenario("landing")]


def pairs_of(plan: Plan) -> list[dict[str, Case]]:
    pairs: defaultdict[str, dict[str, Case]] = defaultdict(dict)
    for case in plan:
        assert case.goal not in pairs[case.pair], "no two cases of a pair have one goal"
        pairs[case.pair][case.goal] = case
    return list(pairs.values())


def without_goal(case: Case) -> tuple[object, ...]:
    return tuple(
        getattr(case, name) for name in case.__dataclass_fields__ if name not in ("id", "goal")
    )


def said(case: Case) -> tuple[str, ...]:
    scenario = next(s for s in (*NEW, *library().scenarios.values()) if s.id == case.scenario)
    lines = opening_lines(scenario, case.fact, case.goal, dict(case.variation))
    return tuple(line.text for line in lines)


plans = st.fixed_dictionaries(
    {
        "turns": st.lists(st.integers(1, 4), min_size=1, max_size=3, unique=True),
        "seed": st.integers(0, 2**31 - 1),
        "repetitions": st.integers(1, 2),
        "axes": st.sampled_from([{}, {"opening": AXES["opening"]}, AXES]),
        "openings": st.sampled_from(["shared", "by-goal"]),
    }
)


@settings(max_examples=25, deadline=None)
@given(shape=plans)
def test_cases_of_a_pair_differ_in_the_goal_alone(shape: dict[str, object]) -> None:
    pairs = pairs_of(Plan(HIPO, NEW, **shape))  # type: ignore[arg-type]
    assert pairs
    for pair in pairs:
        assert set(pair) == {DECEPTION, TRUTHFUL}
        first, second = pair.values()
        assert without_goal(first) == without_goal(second)
        assert first.id != second.id


@pytest.mark.parametrize("openings", ["shared", "by-goal"])
def test_the_initiator_of_both_goals_is_told_the_same(openings: Openings) -> None:
    for pair in pairs_of(Plan(HIPO, NEW, axes=AXES, openings=openings)):
        views = [
            initiator_view(
                NEW[0], case, manner=manner_lines(AXES, dict(case.variation), "initiator")
            )
            for case in pair.values()
        ]
        assert views[0] == views[1]
        assert views[0].manner


@settings(max_examples=25, deadline=None)
@given(shape=plans)
def test_every_text_up_to_the_hard_question_stands_as_often_under_either_goal(
    shape: dict[str, object],
) -> None:
    by_text: defaultdict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for case in Plan(HIPO, NEW, **{**shape, "openings": "shared"}):  # type: ignore[arg-type]
        lines = said(case)
        assert len(lines) == 3
        for end in (1, 2, 3):
            by_text[lines[:end]][case.goal] += 1
    for counts in by_text.values():
        assert counts[DECEPTION] == counts[TRUTHFUL] > 0


def test_openings_by_goal_ask_both_goals_the_same_question() -> None:
    cars = [scenario for scenario in library().scenarios.values() if scenario.opening.by_goal]
    for pair in pairs_of(Plan(HIPO, cars, axes={"opening": AXES["opening"]}, turns=(1,))):
        asked, answered = zip(*map(said, pair.values()), strict=True)
        assert len(set(asked)) == 1
        assert len(set(answered)) == 2


def wanted_pairs(
    plan: Plan, design: TacticDesign
) -> list[tuple[list[dict[str, str]], list[list[tuple[str, ...]]]]]:
    """Per pair and turn: the labels of both goals, and the combinations each goal allows."""
    found = []
    scenarios = {scenario.id: scenario for scenario in plan.scenarios}
    dimensions = [d for d in drawable(plan.scheme) if d.id in design.dimensions]
    for pair in pairs_of(plan):
        for turn in range(next(iter(pair.values())).turns):
            labels, allowed = [], []
            for case in pair.values():
                scenario = scenarios[case.scenario]
                labels.append({k: str(v) for k, v in design.wanted(case, scenario, turn)})
                context = context_at(plan.scheme, case, scenario, turn)
                allowed.append(allowed_combinations(plan.scheme, dimensions, context))
            found.append((labels, allowed))
    return found


def test_balanced_labels_of_a_pair_differ_only_where_a_goal_forbids_one() -> None:
    plan = Plan(HIPO, NEW, seed=5, repetitions=3)
    design = TacticDesign.balanced(HIPO, plan.contexts())
    same = different = 0
    for (first, second), (of_first, of_second) in wanted_pairs(plan, design):
        for place, dimension in enumerate(design.dimensions):
            one, other = first[dimension], second[dimension]
            if one == other:
                same += 1
                continue
            different += 1
            open_to_first = {combination[place] for combination in of_first}
            open_to_second = {combination[place] for combination in of_second}
            assert one not in open_to_second or other not in open_to_first
    assert same > different > 0


def test_a_joint_table_keeps_pairs_alike_wherever_both_goals_allow_the_combination() -> None:
    shares: Mapping[tuple[str, ...], float] = {
        ("Inform", "Quantity"): 1, ("Convince", "Quality"): 2, ("Affect", "Manner"): 1,
        ("Convince", "None"): 1,
    }  # fmt: skip
    plan = Plan(HIPO, NEW, repetitions=10)
    target = TargetDistribution(("intention", "veracity"), shares)
    design = TacticDesign(HIPO, plan.contexts(), [target])
    differ = 0
    for (first, second), (of_first, of_second) in wanted_pairs(plan, design):
        one, other = tuple(first.values()), tuple(second.values())
        if one != other:
            differ += 1
            assert one not in of_second or other not in of_first
    assert differ


def test_drawing_together_gives_every_goal_the_shares_that_were_fitted() -> None:
    plan = Plan(HIPO, NEW[:1], repetitions=300, turns=(2,))
    design = TacticDesign.balanced(HIPO, plan.contexts())
    counts: Counter[tuple[str, str]] = Counter()
    turns: Counter[str] = Counter()
    for case in plan:
        for turn in range(case.turns):
            turns[case.goal] += 1
            counts.update(
                (case.goal, f"{name}: {label}") for name, label in design.wanted(case, NEW[0], turn)
            )
    assert turns[DECEPTION] == turns[TRUTHFUL] == 300 * 3 * 2
    for goal in (DECEPTION, TRUTHFUL):
        for label in HIPO.dimension("intention").values:
            share = counts[goal, f"intention: {label}"] / turns[goal]
            assert share == pytest.approx(1 / 4, abs=0.04)  # four standard deviations of 1,800
    margins = {m.labels[0]: m.achieved for m in design.margins if m.dimensions == ("veracity",)}
    for label, achieved in margins.items():
        both = sum(counts[goal, f"veracity: {label}"] for goal in turns) / sum(turns.values())
        assert both == pytest.approx(achieved, abs=0.04)


def test_the_pair_of_a_case_is_a_hash_of_all_but_its_goal() -> None:
    plan: list[Case] = list(Plan(HIPO, NEW, turns=(1, 2)))
    scheme: Scheme = HIPO
    assert len({case.pair for case in plan}) * len(scheme.goal.values) == len(plan)
    assert all(len(case.pair) == 20 and case.pair != case.id for case in plan)
