"""What fixed lines claim, held against every fact a dialogue may be about: over all cases of the library."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

import pytest

from pipeline.planning.plan import Plan
from scenarios.case import Case
from scenarios.openings import opening_lines
from scenarios.spec import Scenario
from scenarios.terms import Openings
from scenarios.variation import load_axes
from tests.factories import library, make_scheme

HIPO = make_scheme()
LIBRARY = [s for s in library().scenarios.values() if s.scheme == HIPO.id]
OPENING = {"opening": load_axes()["opening"]}


def cases(openings: Openings) -> Iterator[tuple[Case, Scenario]]:
    """Every case of the library, with its openings drawn over several repetitions."""
    for case in Plan(HIPO, LIBRARY, axes=OPENING, openings=openings, repetitions=8):
        yield case, library().scenarios[case.scenario]


@pytest.mark.parametrize("openings", ["shared", "by-goal"])
def test_no_shared_or_truthful_line_claims_what_its_fact_makes_false_or_misleading(
    openings: Openings,
) -> None:
    truthful = HIPO.truthful_goals
    seen = 0
    for case, scenario in cases(openings):
        if openings == "by-goal" and case.goal not in truthful:
            continue
        fact = scenario.fact(case.fact)
        lines = opening_lines(scenario, case.fact, case.goal, dict(case.variation))
        for line in lines:
            wrong = set(line.claims) & {*fact.makes_false, *fact.misleads}
            assert not wrong, (case.scenario, case.fact, line.text, wrong)
        seen += 1
    assert seen == len(LIBRARY_FACTS) * 3 * 8 * (2 if openings == "shared" else 1)


LIBRARY_FACTS = [
    (scenario, fact) for scenario in LIBRARY for fact in scenario.facts if fact.owner == "responder"
]


def test_no_truthful_statement_is_wrong_under_any_fact_whether_it_is_drawn_or_not() -> None:
    for scenario, fact in LIBRARY_FACTS:
        for goal, statement in scenario.opening.statements:
            if goal in HIPO.truthful_goals:
                wrong = set(statement.claims) & {*fact.makes_false, *fact.misleads}
                assert not wrong, (scenario.id, fact.id, statement.text, wrong)


def test_every_fact_makes_false_what_a_deceiver_would_have_believed() -> None:
    assert len(LIBRARY_FACTS) == 189
    for scenario, fact in LIBRARY_FACTS:
        covers = [cover.claim for cover in fact.cover]
        assert covers, (scenario.id, fact.id)
        assert set(covers) <= set(fact.makes_false), (scenario.id, fact.id)
        assert "self" in {cover.gain for cover in fact.cover}, (scenario.id, fact.id)


def test_every_claim_of_a_fixed_line_is_decided_for_every_fact_and_only_once() -> None:
    for scenario, fact in LIBRARY_FACTS:
        said = {name for _, statement in scenario.opening.statements for name in statement.claims}
        if scenario.opening.shared is not None:
            said |= {name for easy in scenario.opening.shared.exchanges for name in easy.claims}
        decided = Counter([*fact.makes_false, *fact.misleads, *fact.makes_true, *fact.leaves_open])
        assert said <= set(decided), (scenario.id, fact.id, said - set(decided))
        assert set(decided.values()) <= {1}, (scenario.id, fact.id)


def test_every_scenario_of_the_library_opens_either_way() -> None:
    for scenario in LIBRARY:
        shared = scenario.opening.shared
        assert shared is not None, scenario.id
        assert len(shared.exchanges) >= 2, scenario.id
        assert len(scenario.opening.by_goal) >= 2, scenario.id


def test_until_the_hard_question_every_text_of_the_library_stands_under_both_goals_alike() -> None:
    by_text: defaultdict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for case, scenario in cases("shared"):
        lines = opening_lines(scenario, case.fact, case.goal, dict(case.variation))
        assert [line.role for line in lines] == ["initiator", "responder", "initiator"]
        by_text[tuple(line.text for line in lines)][case.goal] += 1
    assert len(by_text) >= 2 * len(LIBRARY)
    for text, counts in by_text.items():
        assert len({counts[goal] for goal in HIPO.goal.values}) == 1, text
