from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import scenarios
from pipeline.planning.plan import Plan
from pipeline.tactics.contexts import Context, context_at
from pipeline.tactics.design import TargetDistribution, allowed_combinations, drawable, fit
from pipeline.tactics.tactics import TacticDesign
from scenarios.catalogue import Catalogue
from scenarios.errors import UsageError
from scenarios.fixed_lines import Opening
from scenarios.schemes.model import Requirement, Scheme
from scenarios.spec import Fact, Scenario

HOME = Path(scenarios.__file__).parent
SHIPPED = Scheme.model_validate(yaml.safe_load((HOME / "schemes/data/hipo.yaml").read_text()))
USED_CAR = Scenario.model_validate(
    yaml.safe_load((HOME / "library/products/used_car.yaml").read_text())
)
DECEPTION, NON_DISCLOSURE = SHIPPED.goal.values
ACTS = SHIPPED.dimension("illocutionary").values
MANIPULATED = {"Quantity", "Quality", "Relevance", "Manner"}
HIPO = SHIPPED.model_copy(
    update={
        "requirements": (
            Requirement(
                when={"goal": (DECEPTION,)},
                some_turn={"veracity": tuple(sorted(MANIPULATED))},
                reason="A deception manipulates something.",
            ),
        )
    }
)
"""With a requirement that leaves an even design within reach."""

MOOD = Scheme.model_validate(
    {
        "id": "mood",
        "title": "A scheme of another kind",
        "assigned": "stance",
        "dimensions": [
            {
                "id": "stance",
                "level": "dialogue",
                "question": "Which side?",
                "labels": [{"id": "for", "definition": "+"}, {"id": "against", "definition": "-"}],
            },
            {
                "id": "warmth",
                "level": "utterance",
                "measurement": "ordinal",
                "question": "How warm?",
                "labels": [{"id": x, "definition": x} for x in ("cold", "mild", "warm")],
            },
            {
                "id": "valence",
                "level": "utterance",
                "measurement": "interval",
                "range": [-1, 1],
                "question": "How pleasant?",
            },
            {
                "id": "colours",
                "level": "utterance",
                "measurement": "multi",
                "question": "Which?",
                "labels": [{"id": "red", "definition": "r"}, {"id": "blue", "definition": "b"}],
            },
        ],
        "contradictions": [
            {"labels": {"stance": ["against"], "warmth": ["warm"]}, "reason": "Not both."}
        ],
        "requirements": [
            {
                "when": {"stance": ["against"]},
                "some_turn": {"warmth": ["cold"]},
                "reason": "Coldness once.",
            },
            {
                "when": {"stance": ["against"]},
                "some_turn": {"warmth": ["mild"]},
                "reason": "Mildness once.",
            },
        ],
    }
)


def scenario_list(facts=12) -> list[Scenario]:
    """One scenario where every act is open, and one where declarations are not."""
    own = tuple(Fact(id=f"fact_{i}", about="it", text="It is so.") for i in range(facts))
    return [
        USED_CAR.model_copy(update={"id": "free", "facts": own}),
        USED_CAR.model_copy(update={"id": "bound", "facts": own, "felicitous": ACTS[:4]}),
    ]


PLAN = Plan(HIPO, scenario_list())
BALANCED = TacticDesign.balanced(HIPO, PLAN.contexts())


def drawn(design: TacticDesign, plan: Plan):
    """Every (case, scenario, wanted tactics of its turns) of a plan."""
    by_id = {s.id: s for s in plan.scenarios}
    for case in plan:
        scenario = by_id[case.scenario]
        yield case, scenario, [dict(design.wanted(case, scenario, t)) for t in range(case.turns)]


def test_the_contexts_of_a_plan_are_the_contexts_that_are_drawn_from():
    counts: Counter[Context] = Counter()
    for case, scenario, turns in drawn(BALANCED, PLAN):
        counts.update(context_at(HIPO, case, scenario, t) for t in range(len(turns)))
    total = sum(counts.values())
    assert {c: n / total for c, n in counts.items()} == pytest.approx(PLAN.contexts())


def test_no_wanted_tactic_contradicts_itself_or_the_standing_of_the_role():
    plan = Plan(HIPO, scenario_list(), repetitions=5, seed=3)
    for case, scenario, turns in drawn(BALANCED, plan):
        for wanted in turns:
            assert list(wanted) == ["intention", "veracity", "illocutionary"]
            assert not (case.goal == NON_DISCLOSURE and wanted["veracity"] == "Quality")
            assert wanted["illocutionary"] in (scenario.felicitous or ACTS)


def test_every_deception_wants_a_manipulated_turn_and_not_always_the_same():
    places = Counter()
    plan = Plan(HIPO, scenario_list(), goals=(DECEPTION,), repetitions=5)
    for case, scenario, turns in drawn(BALANCED, plan):
        contexts = [context_at(HIPO, case, scenario, t) for t in range(case.turns)]
        (required,) = [t for t, context in enumerate(contexts) if context.must]
        assert turns[required]["veracity"] in MANIPULATED
        places[case.turns, required] += 1
    assert {place for turns, place in places if turns == 3} == {0, 1, 2}


def test_every_deception_of_the_shipped_scheme_wants_a_lie_as_its_steps_have_it():
    plan = Plan(SHIPPED, scenario_list(), goals=(DECEPTION,), repetitions=5)
    design = TacticDesign.balanced(SHIPPED, plan.contexts())
    for _, _, turns in drawn(design, plan):
        assert "Quality" in {wanted["veracity"] for wanted in turns}


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_corpus_meets_the_balanced_target_within_sampling_error(seed):
    plan = Plan(HIPO, scenario_list(), repetitions=10, seed=seed)
    assert BALANCED.unmet == ()
    counts: Counter[tuple[str, str]] = Counter()
    turns = 0
    for _, _, wanted in drawn(BALANCED, plan):
        turns += len(wanted)
        for tactic in wanted:
            counts.update(tactic.items())
    for dimension in drawable(HIPO):
        expected = turns / len(dimension.values)
        observed = [counts[dimension.id, label] for label in dimension.values]
        chi_square = sum((count - expected) ** 2 / expected for count in observed)
        # 0.1 % of corpora exceed 18.5 with 4 degrees of freedom; cases of a pair draw together.
        assert chi_square < 2 * 18.5


def test_a_corpus_of_the_library_is_as_the_margins_foretell():
    chosen = list(Catalogue.load(environment={}).scenarios.values())
    plan = Plan(SHIPPED, chosen)
    design = TacticDesign.balanced(SHIPPED, plan.contexts())
    counts: Counter[tuple[str, str]] = Counter()
    turns = 0
    for _, _, wanted in drawn(design, plan):
        turns += len(wanted)
        for tactic in wanted:
            counts.update(tactic.items())
    assert turns == 189 * 2 * (1 + 2 + 3)
    for dimension in drawable(HIPO):
        margins = [m for m in design.margins if m.dimensions == (dimension.id,)]
        chi_square = sum(
            (counts[dimension.id, m.labels[0]] - turns * m.achieved) ** 2 / (turns * m.achieved)
            for m in margins
        )
        assert len(margins) == len(dimension.values)
        assert chi_square < 2 * 18.5  # cases of a pair draw together


def test_the_draw_is_the_same_every_time_and_for_every_design_alike():
    again = TacticDesign.balanced(HIPO, Plan(HIPO, scenario_list(), n=5).contexts())
    assert again.fingerprint == BALANCED.fingerprint
    assert list(drawn(again, PLAN)) == list(drawn(BALANCED, PLAN))
    other = Plan(HIPO, scenario_list(), seed=1)
    assert [w for _, _, w in drawn(BALANCED, PLAN)] != [w for _, _, w in drawn(BALANCED, other)]


def test_a_scenario_outside_the_design_is_refused_by_name():
    design = TacticDesign.balanced(HIPO, {Context(DECEPTION): 1.0})
    case = next(c for c in PLAN if c.goal == NON_DISCLOSURE)
    with pytest.raises(UsageError, match="does not cover scenario 'free'"):
        design.wanted(case, scenario_list()[0], 0)


def test_margins_out_of_reach_are_reported_with_what_is_achieved():
    contexts = {Context(NON_DISCLOSURE): 0.5, Context(DECEPTION): 0.5}
    target = TargetDistribution(("veracity",), {("Quality",): 0.8, ("None",): 0.2})
    design = TacticDesign(HIPO, contexts, [target])
    assert {m.labels[0]: round(m.achieved, 3) for m in design.unmet} == {
        "Quality": 0.5,
        "None": 0.5,
    }
    met = TacticDesign(
        HIPO, contexts, [TargetDistribution(("veracity",), {("Quality",): 4, ("None",): 6})]
    )
    assert met.unmet == ()


def test_a_label_that_few_contexts_allow_does_not_fill_them():
    contexts = {Context(NON_DISCLOSURE): 0.1, Context(NON_DISCLOSURE, ACTS[:4]): 0.9}
    design = TacticDesign.balanced(HIPO, contexts)
    achieved = {m.labels[0]: m.achieved for m in design.margins if m.dimensions[0][:3] == "ill"}
    assert achieved == pytest.approx(
        {"Declarations": 0.1 * 2 / 3} | dict.fromkeys(ACTS[:4], (1 - 0.1 * 2 / 3) / 4)
    )
    assert ("Declarations",) in {m.labels for m in design.unmet}


def test_a_label_without_alternative_is_not_held_back():
    contexts = {Context(NON_DISCLOSURE, ("Directives",)): 0.9, Context(NON_DISCLOSURE): 0.1}
    design = TacticDesign.balanced(HIPO, contexts)
    achieved = {m.labels[0]: m.achieved for m in design.margins if m.dimensions[0][:3] == "ill"}
    assert achieved["Directives"] == pytest.approx(0.9, abs=0.001)
    assert achieved["Declarations"] == pytest.approx(0.025, abs=0.001)


def test_a_target_that_forbids_all_that_a_context_allows_leaves_the_context_as_it_was():
    contexts = {Context(DECEPTION, must=(0,)): 1.0}
    result = fit(
        HIPO, drawable(HIPO), contexts, [TargetDistribution(("veracity",), {("None",): 1.0})]
    )
    (distribution,) = result.distributions.values()
    assert len(distribution) == 4 * 4 * 5
    assert dict(distribution) == pytest.approx(
        dict(*fit(HIPO, drawable(HIPO), contexts, []).distributions.values())
    )
    assert [m.achieved for m in result.margins if m.labels == ("None",)] == [0.0]


def test_a_joint_table_is_met_and_the_dimensions_it_does_not_name_stay_free():
    shares = {("Inform", "Quantity"): 1, ("Convince", "None"): 1, ("Affect", "Manner"): 2}
    design = TacticDesign(
        HIPO, PLAN.contexts(), [TargetDistribution(("intention", "veracity"), shares)]
    )
    assert design.dimensions == ("intention", "veracity")
    assert design.unmet == ()
    assert {(m.labels, m.target) for m in design.margins if m.target} == {
        (("Inform", "Quantity"), 0.25),
        (("Convince", "None"), 0.25),
        (("Affect", "Manner"), 0.5),
    }


def test_two_requirements_fall_on_two_turns_where_there_are_two():
    scenarios_of_mood = [
        USED_CAR.model_copy(
            update={
                "scheme": "mood",
                "felicitous": (),
                "opening": Opening.model_validate(
                    {"by_goal": [{"question": "Why?", "statements": {"any": {"text": "So."}}}]}
                ),
            }
        )
    ]
    plan = Plan(MOOD, scenarios_of_mood, turns=(2, 5), repetitions=20)
    design = TacticDesign.balanced(MOOD, plan.contexts())
    assert design.dimensions == ("warmth",)
    assert design.unmet == ()
    for case, _, turns in drawn(design, plan):
        if case.goal == "against":
            warmth = {tactic["warmth"] for tactic in turns}
            assert warmth == {"cold", "mild"}


def test_requirements_that_cannot_share_a_single_turn_are_refused():
    with pytest.raises(UsageError, match="no tactic is possible where the goal is 'against'"):
        TacticDesign.balanced(MOOD, {Context("against", must=(0, 1)): 1.0})


@given(
    veracity=st.lists(st.floats(0, 1), min_size=5, max_size=5).filter(lambda w: sum(w) > 0.1),
    intention=st.lists(st.floats(0, 1), min_size=4, max_size=4).filter(lambda w: sum(w) > 0.1),
)
@settings(max_examples=25, deadline=None)
def test_whatever_is_asked_for_every_context_keeps_a_distribution_over_what_it_allows(
    veracity, intention
):
    targets = [
        TargetDistribution(
            (d.id,), {(label,): w for label, w in zip(d.values, weights, strict=True)}
        )
        for d, weights in (
            (HIPO.dimension("veracity"), veracity),
            (HIPO.dimension("intention"), intention),
        )
    ]
    dimensions = [HIPO.dimension("intention"), HIPO.dimension("veracity")]
    contexts = PLAN.contexts()
    result = fit(HIPO, dimensions, contexts, targets)
    assert set(result.distributions) == set(contexts)
    for context, distribution in result.distributions.items():
        allowed = allowed_combinations(HIPO, dimensions, context)
        assert {c for c, _ in distribution} <= set(allowed)
        assert sum(p for _, p in distribution) == pytest.approx(1)
        assert all(p > 0 for _, p in distribution)
    for margin in result.margins:
        mixture = sum(
            share * p
            for context, share in contexts.items()
            for combination, p in result.distributions[context]
            if dict(zip(result.dimensions, combination, strict=True))[margin.dimensions[0]]
            == margin.labels[0]
        )
        assert margin.achieved == pytest.approx(mixture, abs=1e-9)


def test_a_scheme_of_too_many_combinations_is_refused_with_a_way_out():
    labels = [{"id": f"l{i}", "definition": "."} for i in range(30)]
    wide = HIPO.model_copy(
        update={
            "dimensions": (
                HIPO.goal,
                *(
                    type(HIPO.goal).model_validate(
                        {"id": f"d{i}", "level": "utterance", "question": "?", "labels": labels}
                    )
                    for i in range(3)
                ),
            ),
            "felicity": None,
            "contradictions": (),
            "requirements": (),
        }
    )
    with pytest.raises(UsageError, match="27000 combinations"):
        TacticDesign.balanced(wide, {Context(DECEPTION): 1.0})
