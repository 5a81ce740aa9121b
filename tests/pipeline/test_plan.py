from __future__ import annotations

from collections import Counter
from itertools import islice, pairwise
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import scenarios
from pipeline.planning.plan import Plan
from pipeline.tactics.contexts import Context
from scenarios.catalogue import Catalogue
from scenarios.errors import UsageError
from scenarios.fixed_lines import Opening
from scenarios.schemes.model import Scheme
from scenarios.spec import Fact, Scenario
from scenarios.variation import load_axes

HOME = Path(scenarios.__file__).parent
HIPO = Scheme.model_validate(yaml.safe_load((HOME / "schemes/data/hipo.yaml").read_text()))
USED_CAR = Scenario.model_validate(
    yaml.safe_load((HOME / "library/products/used_car.yaml").read_text())
)
DECEPTION, NON_DISCLOSURE = HIPO.goal.values
LIBRARY_SHAPE = {
    "relationships": (3, 20),
    "products": (9, 56),
    "finance": (6, 34),
    "privacy": (6, 35),
    "integrity": (7, 44),
}


def scenario(name: str, facts: int, category: str = "products", **update) -> Scenario:
    """A scenario of the given size; the texts are those of the used car."""
    own = tuple(Fact(id=f"fact_{i}", about="it", text="It is so.") for i in range(facts))
    return USED_CAR.model_copy(update={"id": name, "category": category, "facts": own, **update})


def library() -> list[Scenario]:
    """As many scenarios and facts per category as the library has."""
    return [
        scenario(f"{category}_{i}", facts // count + (i < facts % count), category)
        for category, (count, facts) in LIBRARY_SHAPE.items()
        for i in range(count)
    ]


def small(n: int | None, *, facts=(2, 3), turns=(1, 2, 3), seed=0, selected=None, **more) -> Plan:
    """A plan over a few small scenarios."""
    chosen = [scenario(f"s{i}", count) for i, count in enumerate(facts)]
    return Plan(HIPO, chosen, turns=turns, n=n, seed=seed, facts=selected, **more)


shapes = st.fixed_dictionaries(
    {
        "facts": st.lists(st.integers(1, 7), min_size=1, max_size=4),
        "turns": st.lists(st.integers(1, 9), min_size=1, max_size=4, unique=True),
        "seed": st.integers(0, 2**31 - 1),
    }
)


def test_one_cycle_holds_every_combination_once():
    plan = small(None)
    seen = Counter((c.scenario, c.fact, c.goal, c.turns) for c in plan)
    assert len(plan) == plan.cycle == 5 * 2 * 3
    assert len(seen) == 30
    assert set(seen.values()) == {1}


@given(shape=shapes, n=st.integers(1, 400))
def test_n_cases_are_exactly_n_different_cases(shape, n):
    plan = small(n, **shape)
    ids = [case.id for case in plan]
    assert len(plan) == len(ids) == len(set(ids)) == n


@given(shape=shapes, n=st.integers(1, 300), more=st.integers(0, 200))
def test_a_smaller_plan_is_part_of_a_larger_one(shape, n, more):
    assert {c.id for c in small(n, **shape)} <= {c.id for c in small(n + more, **shape)}


@given(shape=shapes, n=st.integers(1, 300))
def test_exchanges_are_those_of_the_cases_without_making_them(shape, n):
    plan = small(n, **shape)
    assert plan.exchanges == sum(case.turns for case in plan)


@given(shape=shapes, n=st.integers(1, 300), smaller=st.integers(0, 400), skip=st.integers(0, 400))
def test_what_a_plan_has_beyond_a_smaller_one_is_the_difference_of_both(shape, n, smaller, skip):
    plan = small(n, **shape)
    held = {c.id for c in small(smaller, **shape)} if smaller else set()
    beyond = [case for case in plan if case.id not in held]
    assert list(plan.beyond(smaller, skip)) == beyond[skip:]
    turns = plan.improvised_beyond(smaller, skip)
    assert turns.labelled == sum(case.turns for case in beyond[skip:])
    assert turns.others == sum(plan.questions(case) for case in beyond[skip:])


@given(shape=shapes, n=st.integers(1, 300))
def test_scenarios_come_one_after_the_other(shape, n):
    order = [case.scenario for case in small(n, **shape)]
    assert sum(a != b for a, b in pairwise(order)) == len(set(order)) - 1


@given(shape=shapes, n=st.integers(1, 300))
def test_goals_are_even_to_within_one(shape, n):
    counts = Counter(case.goal for case in small(n, **shape))
    assert abs(counts[DECEPTION] - counts[NON_DISCLOSURE]) <= 1


@given(shape=shapes, n=st.integers(1, 200))
def test_no_combination_is_repeated_before_every_other_was_had(shape, n):
    plan = small(n, **shape)
    counts = Counter((c.scenario, c.fact, c.goal, c.turns) for c in plan)
    most = max(counts.values())
    assert most == -(-n // plan.cycle)
    assert {c.repetition for c in plan} == set(range(most))


@pytest.mark.parametrize("seed", range(20))
def test_sixty_cases_of_the_library_touch_every_category_goal_and_length(seed):
    chosen = library()
    assert (len(chosen), sum(len(s.facts) for s in chosen)) == (31, 189)
    category = {s.id: s.category for s in chosen}
    cases = list(Plan(HIPO, chosen, n=60, seed=seed))
    assert {category[c.scenario] for c in cases} == set(LIBRARY_SHAPE)
    assert Counter(c.goal for c in cases) == {DECEPTION: 30, NON_DISCLOSURE: 30}
    assert Counter(c.turns for c in cases) == {1: 20, 2: 20, 3: 20}
    assert len({c.scenario for c in cases}) >= 28


def test_sixty_cases_of_the_library_that_ships_touch_everything():
    shipped = Catalogue.load(environment={}).scenarios
    cases = list(Plan(HIPO, list(shipped.values()), n=60))
    assert {shipped[c.scenario].category for c in cases} == set(HIPO.categories)
    assert {c.goal for c in cases} == set(HIPO.goal.values)
    assert {c.turns for c in cases} == {1, 2, 3}


def test_the_subset_depends_on_the_seed_and_on_nothing_else():
    assert [c.id for c in small(7)] == [c.id for c in small(7)]
    pick = [[(c.scenario, c.fact, c.goal, c.turns) for c in small(7, seed=s)] for s in (0, 1)]
    assert pick[0] != pick[1]


def test_a_plan_can_be_walked_again_and_started_without_listing_it():
    plan = small(10**12)
    assert len(plan) == 10**12
    assert [c.id for c in islice(plan, 5)] == [c.id for c in islice(plan, 5)]


def test_repetitions_multiply_the_cycle_when_no_number_is_given():
    plan = small(None, repetitions=3)
    assert len(plan) == len({c.id for c in plan}) == 90
    assert {c.repetition for c in plan} == {0, 1, 2}


def test_languages_and_goals_span_the_plan_too():
    plan = small(None, languages=("en", "de"), goals=(DECEPTION,))
    assert Counter((c.language, c.goal) for c in plan) == {
        ("en", DECEPTION): 15,
        ("de", DECEPTION): 15,
    }


def test_every_axis_asked_for_is_drawn_into_the_case():
    axes = {"opening": load_axes()["opening"]}
    drawn = {case.variation for case in small(None, axes=axes)}
    assert len(drawn) > 1
    assert all({name for name, _ in pairs} == {"opening"} for pairs in drawn)


def test_only_facts_of_the_responder_are_played():
    facts = tuple(
        Fact(id=f"f{i}", about="it", text="So.", owner=owner)
        for i, owner in enumerate(["initiator", "responder"])
    )
    plan = Plan(HIPO, [USED_CAR.model_copy(update={"facts": facts})])
    assert {case.fact for case in plan} == {"f1"}


@given(shape=shapes)
def test_context_shares_are_those_of_the_responder_turns_of_a_cycle(shape):
    plan = small(None, **shape)
    turns = Counter(
        {goal: sum(c.turns for c in plan if c.goal == goal) for goal in HIPO.goal.values}
    )
    cases = Counter(c.goal for c in plan)
    total = sum(turns.values())
    assert plan.contexts() == pytest.approx(
        {
            Context(DECEPTION, must=(0,)): cases[DECEPTION] / total,
            Context(NON_DISCLOSURE): turns[NON_DISCLOSURE] / total,
        }
        | (
            {Context(DECEPTION): (turns[DECEPTION] - cases[DECEPTION]) / total}
            if turns[DECEPTION] > cases[DECEPTION]
            else {}
        )
    )


def test_context_shares_do_not_depend_on_n():
    assert small(3).contexts() == small(1000).contexts()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scenarios": []}, "no scenario"),
        ({"turns": (0, 1)}, "from 1 up"),
        ({"turns": ()}, "from 1 up"),
        ({"turns": (1, 1)}, "twice"),
        ({"languages": ()}, "no language"),
        ({"goals": ("honesty",)}, "unknown goal 'honesty'"),
        ({"goals": ()}, "no goal"),
        ({"n": 0}, "at least 1, got 0"),
        ({"repetitions": 0}, "at least 1, got 0"),
    ],
)
def test_what_cannot_be_planned_is_refused(change, message):
    with pytest.raises(UsageError, match=message):
        Plan(**{"scheme": HIPO, "scenarios": [USED_CAR], **change})


def test_a_scenario_without_a_statement_for_the_goal_is_refused_by_name():
    opening = Opening.model_validate(
        {"question": "Why?", "statements": {DECEPTION: {"text": "No."}}}
    )
    silent = USED_CAR.model_copy(update={"opening": opening})
    with pytest.raises(
        UsageError, match=r"no opening statement for .*disclosure' in scenario used_car"
    ):
        Plan(HIPO, [silent])


def test_a_scenario_without_a_fact_of_the_responder_is_refused_by_name():
    fact = Fact(id="f", about="it", text="So.", owner="initiator")
    with pytest.raises(UsageError, match="'used_car' has no fact that the responder owns"):
        Plan(HIPO, [USED_CAR.model_copy(update={"facts": (fact,)})])


def test_a_plan_can_keep_to_some_facts():
    kept = {("s0", "fact_1"), ("s1", "fact_0"), ("s1", "fact_2")}
    plan = small(None, facts=(2, 3), selected=kept)
    assert {(c.scenario, c.fact) for c in plan} == kept
    assert len(plan) == 3 * 2 * 3
    with pytest.raises(UsageError, match="'s1' has no selected fact"):
        small(None, facts=(2, 3), selected={("s0", "fact_1")})
